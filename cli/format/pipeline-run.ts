// Formats a run of a pipeline with its tasks, and waits for one to end.
import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import type { ServiceClient } from '../client/client.ts'
import { CommandFailure } from '../program/command.ts'
import { formatFields, formatTable, line_break, printResult } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

const shownTask = z.looseObject({
  task_id: z.string(),
  state: z.string().nullable(),
  try_number: z.int(),
  lineage: z
    .looseObject({ rows_out: z.int(), rejects: z.int(), dataset: z.string().optional(), file: z.string().optional() })
    .optional(),
  requested: z.looseObject({ object: z.string(), uid: z.string() }).optional(),
})

const shownRun = z.looseObject({
  ...{ dag_id: z.string(), dag_run_id: z.string(), state: z.string() },
  ...{ start_date: z.string().nullable(), end_date: z.string().nullable(), reason: z.string().optional() },
  tasks: z.array(shownTask),
})
export type PipelineRun = z.output<typeof shownRun>
type PipelineTask = PipelineRun['tasks'][number]

export type RunKey = { readonly dag_id: string; readonly dag_run_id: string }

export async function fetchPipelineRun(api: ServiceClient, key: RunKey): Promise<PipelineRun> {
  return shownRun.parse(await api.call('ingest.dag-run.status', key))
}

const failedTasks = z.looseObject({ items: z.array(z.looseObject({ task_id: z.string(), log: z.string() })) })

/** The run, its tasks, and the logs of those that have failed. */
export async function describePipelineRun(api: ServiceClient, terminal: Terminal, run: PipelineRun): Promise<string> {
  const { dag_id, dag_run_id, state, start_date, end_date, reason } = run
  const fields = formatFields(terminal, {
    ...{ pipeline: dag_id, run: dag_run_id, state },
    ...(start_date !== null && { started: start_date }),
    ...(end_date !== null && { ended: end_date }),
    ...(reason !== undefined && { reason }),
  })
  const columns = ['task', 'state', 'try', 'rows', 'rejects', 'made'] as const
  const tasks = formatTable(terminal, run.tasks.map(describeTask), columns, 'no tasks')
  const hasFailed = run.tasks.some((task) => task.state === 'failed' || task.state === 'up_for_retry')
  const { items } = hasFailed
    ? failedTasks.parse(await api.call('ingest.dag-run.errors', { dag_id, dag_run_id }))
    : { items: [] }
  const logs = items.map(({ task_id, log }) => [`${task_id}:`, ...indentLines(log)].join(line_break))
  return [fields, tasks, ...logs].join(`${line_break}${line_break}`)
}

/** So that no line of a log looks like one of this command. */
function indentLines(log: string): string[] {
  return log
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`)
}

function describeTask({ task_id, state, try_number, lineage, requested }: PipelineTask) {
  return {
    ...{ task: task_id, state: state ?? 'waits', try: try_number },
    ...{ rows: lineage?.rows_out, rejects: lineage?.rejects },
    made: lineage?.dataset ?? lineage?.file ?? (requested && `${requested.object} ${requested.uid}`),
  }
}

const poll_interval_ms = 200

const triggeredRun = z.looseObject({ dag_id: z.string(), dag_run_id: z.string() })

type TriggerOptions = {
  readonly wait: boolean
  readonly json: boolean
  /** The command that stops it. */
  readonly stop: string
}

/** Prints a run that was just triggered, once it is over with `wait`. Returns the exit code, and throws the failure of a run that it waited for. */
export async function showTriggeredRun(
  api: ServiceClient,
  triggered: unknown,
  { wait, json, stop }: TriggerOptions,
  terminal: Terminal,
): Promise<0> {
  const { dag_id, dag_run_id } = triggeredRun.parse(triggered)
  const key = { dag_id, dag_run_id }
  const run = wait ? await waitForPipelineRun(api, key, stop, terminal) : await fetchPipelineRun(api, key)
  const shown = await describePipelineRun(api, terminal, run)
  printResult(terminal, json, run, () => shown)
  const failure = wait ? findRunFailure(run) : undefined
  if (failure) throw failure
  return 0
}

/** Polls until the run is over. It goes on in the service if this command is interrupted. */
async function waitForPipelineRun(
  api: ServiceClient,
  key: RunKey,
  stop: string,
  terminal: Terminal,
): Promise<PipelineRun> {
  try {
    for (;;) {
      const run = await fetchPipelineRun(api, key)
      if (isOver(run)) return run
      terminal.progress(`${describeProgress(run)}; ${stop}`)
      await pause(poll_interval_ms)
    }
  } finally {
    terminal.progress('')
  }
}

function isOver({ state }: PipelineRun): boolean {
  return state === 'success' || state === 'failed'
}

function describeProgress({ tasks, state }: PipelineRun): string {
  const ended = tasks.filter((task) => task.state === 'success').length
  const active = tasks.filter((task) => task.state === 'running').map(({ task_id }) => task_id)
  return `${ended} of ${tasks.length} tasks${active.length > 0 ? `, ${active.join(', ')}` : `, ${state}`}`
}

/** The failure of a command that waited for the run, if the run has failed. */
function findRunFailure({ dag_id, dag_run_id, state, tasks, reason }: PipelineRun): CommandFailure | undefined {
  if (state !== 'failed') return undefined
  const failed = tasks.filter((task) => task.state === 'failed').map(({ task_id }) => task_id)
  const cause = reason ?? (failed.length === 0 ? 'it has no reason' : `of ${failed.join(', ')}`)
  return new CommandFailure(1, `the run ${dag_run_id} of ${dag_id} has failed: ${cause}`)
}
