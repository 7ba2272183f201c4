// Fields of requests about runs.
import * as z from 'zod'
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { refuseOtherRequest } from '../../../kernel/operation/check-repeated-request.ts'
import { dagId } from '../../../shared/assembled-dag/assembled-dag.ts'
import {
  type DagRef,
  dagRunId,
  type RepeatedRun,
  type RunPage,
  repeatedRun,
  type WorkflowRun,
  workflowRunState,
  workflowSchedulerPart,
} from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { namedValues } from '../fields.ts'

/** Of a request for a run: its values are in every answer about it. */
export const max_run_bytes = 32_768

export const runConf = namedValues.optional().meta({
  description:
    'Values that are stored and shown with the run; no task reads them yet. Default: none, or those of the run that it repeats',
})

/** Fields of a request for a run. */
export const runInputFields = {
  conf: runConf,
  repeats: repeatedRun.optional().meta({ description: 'A former run of the DAG that is run again' }),
}

export const runListFields = {
  state: workflowRunState.optional().meta({ description: 'Runs in this state alone' }),
  limit: z.int().min(1).max(500).default(50),
}

/** A page of runs as a list without a cursor. */
export function showRunPage({ runs, isWhole }: RunPage) {
  return { items: [...runs], total: runs.length, total_is: isWhole ? ('exact' as const) : ('at_least' as const) }
}

export const runKeyFields = { dag_id: dagId, dag_run_id: dagRunId }

type RunRequest = {
  readonly conf?: z.output<typeof runConf>
  readonly logical_date?: string | undefined
  readonly repeats?: RepeatedRun | undefined
}

/**
 * Triggers a run for a person. A repeated request, by its idempotency key, finds the run of the first; one with other content is
 * refused.
 */
export async function triggerManually(
  call: Call,
  dag: DagRef,
  { conf: given, logical_date, repeats }: RunRequest,
): Promise<WorkflowRun | Refusal> {
  const dag_run_id = `manual__${call.newId('run')}`
  const scheduler = call.part(workflowSchedulerPart)
  const acting = scheduler.actFor(call)
  // A repeated request finds its run also where that which it repeats was deleted since.
  const conf = given ?? (repeats ? (await acting.findRun(dag, repeats.dag_run_id))?.conf : {})
  const run = await acting.trigger(dag, {
    ...{ dag_run_id, conf: conf ?? {} },
    ...(logical_date === undefined ? {} : { logical_date }),
    ...(repeats && { repeats }),
  })
  if (isRefusal(run)) return run
  // Airflow 2 gives a run without a date the time of its trigger.
  const isUndated = run.logical_date === null || scheduler.kind === 'airflow'
  const isSameDate =
    logical_date === undefined ? isUndated : Date.parse(run.logical_date ?? '') === Date.parse(logical_date)
  const isSame = isSameDate && isEqual(run.conf, conf ?? run.conf) && isEqual(run.repeats, repeats)
  return isSame ? run : refuseOtherRequest()
}

function isEqual(one: unknown, other: unknown): boolean {
  return canonicalJson(one ?? null) === canonicalJson(other ?? null)
}
