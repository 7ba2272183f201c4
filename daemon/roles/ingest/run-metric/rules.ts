// The metrics of a run that is over: from its document, or as another scheduler shows it.
import type { TaskLineage, WorkflowRun, WorkflowTask } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import type { RunTask, StoredDagRun } from '../runner/model.ts'
import type { RunMetric } from './model.ts'

/** What a run is called by the part of this role that triggers it: see the ids of triggers. */
const typeOfPrefix = { schedule: 'scheduled', deploy: 'deployment' } as const

/** Undefined for a run that is not over. */
export function measureRun(run: StoredDagRun): RunMetric | undefined {
  const { created_at, started_at = null, ended_at = null, dag } = run
  const tasks = run.tasks.map(({ name, state, tries, dataset: landed }) => ({ name, state, tries, landed }))
  return measure({ ...run, queued_at: created_at, start_date: started_at, end_date: ended_at }, tasks, (name) => {
    return dag.tasks.find((task) => task.name === name)?.after ?? []
  })
}

/** The same for a run of another scheduler, by its results: a dataset that a task took in is known by its digest. */
export function measureWatched(
  run: WorkflowRun,
  tasks: readonly WorkflowTask[],
  { queued_at, now }: { readonly queued_at: string; readonly now: string },
): RunMetric | undefined {
  const made = new Map(tasks.flatMap(({ task_id, lineage }) => (lineage?.dataset ? [[lineage.digest, task_id]] : [])))
  const inputsOf = new Map(tasks.map(({ task_id, lineage }) => [task_id, lineage?.inputs ?? []]))
  const shown = tasks.map(({ task_id: name, state, try_number: tries, lineage }) => {
    return { name, state, tries, landed: showLanded(lineage) }
  })
  const times = { start_date: toUtc(run.start_date), end_date: toUtc(run.end_date ?? now) }
  return measure({ ...run, queued_at, ...times }, shown, (name) => {
    return (inputsOf.get(name) ?? []).flatMap(({ digest }) => made.get(digest) ?? [])
  })
}

function showLanded(lineage: TaskLineage | undefined): LandedData | undefined {
  if (lineage?.dataset === undefined) return undefined
  const { rows_out: rows, bytes, rejects, inputs } = lineage
  return { rows, bytes, rejects, inputs }
}

function toUtc(instant: string): string
function toUtc(instant: string | null): string | null
function toUtc(instant: string | null): string | null {
  return instant === null ? null : new Date(instant).toISOString()
}

type LandedData = Pick<RunMetric, 'rows' | 'bytes' | 'rejects'> & {
  readonly inputs: readonly { readonly bytes: number }[]
}
type MeasuredRun = Pick<RunMetric, 'dag_id' | 'dag_run_id' | 'queued_at' | 'start_date'> & {
  readonly state: WorkflowRun['state']
  readonly end_date: string | null
}
type MeasuredTask = Pick<RunTask, 'name' | 'tries'> & {
  readonly state?: WorkflowTask['state'] | undefined
  readonly landed?: LandedData | undefined
}

function measure(
  { dag_id, dag_run_id, state, queued_at, start_date, end_date }: MeasuredRun,
  tasks: readonly MeasuredTask[],
  listBefore: (task: string) => readonly string[],
): RunMetric | undefined {
  if ((state !== 'success' && state !== 'failed') || end_date === null) return undefined
  const [prefix = ''] = dag_run_id.split('__', 1)
  const run_type = Object.hasOwn(typeOfPrefix, prefix) ? typeOfPrefix[prefix as keyof typeof typeOfPrefix] : 'manual'
  return {
    ...{ dag_id, dag_run_id, run_type, state, queued_at, start_date, end_date },
    wait_s: secondsBetween(queued_at, start_date ?? end_date),
    duration_s: start_date === null ? 0 : secondsBetween(start_date, end_date),
    tasks: countTasks(tasks),
    tries: sum(tasks, ({ tries }) => tries),
    ...measureData(tasks, listBefore),
  }
}

/** A clock that was put back gives no negative times. */
function secondsBetween(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from)) / 1_000
}

function countTasks(tasks: readonly MeasuredTask[]): RunMetric['tasks'] {
  const countOf = (...states: MeasuredTask['state'][]) => tasks.filter(({ state }) => states.includes(state)).length
  const [success, failed] = [countOf('success'), countOf('failed', 'upstream_failed')]
  return { total: tasks.length, success, failed, skipped: tasks.length - success - failed }
}

/** Rows that a later task took in and landed anew are counted there alone. */
function measureData(
  tasks: readonly MeasuredTask[],
  listBefore: (task: string) => readonly string[],
): Pick<RunMetric, 'input_bytes' | 'rows' | 'bytes' | 'rejects'> {
  const landed = new Map(tasks.flatMap((task) => (task.landed ? [[task.name, task.landed] as const] : [])))
  const takenIn = new Set([...landed.keys()].flatMap((name) => listBefore(name)))
  const sources = [...landed].filter(([name]) => !listBefore(name).some((before) => landed.has(before)))
  const [all, results] = [[...landed.values()], [...landed].filter(([name]) => !takenIn.has(name))]
  return {
    input_bytes: sum(sources, ([, { inputs }]) => sum(inputs, ({ bytes }) => bytes)),
    rows: sum(results, ([, { rows }]) => rows),
    bytes: sum(results, ([, { bytes }]) => bytes),
    rejects: sum(all, ({ rejects }) => rejects),
  }
}

function sum<T>(items: readonly T[], measure: (item: T) => number): number {
  return items.reduce((total, item) => total + measure(item), 0)
}
