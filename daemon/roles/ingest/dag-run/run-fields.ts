// Fields of requests about runs.
import * as z from 'zod'
import { canonicalJson } from '../../../kernel/encoding/canonical-json.ts'
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { refuseOtherRequest } from '../../../kernel/operation/check-repeated-request.ts'
import { dagId } from '../../../shared/assembled-dag/assembled-dag.ts'
import {
  type DagRef,
  type RunPage,
  type RunTrigger,
  type WorkflowRun,
  workflowRunState,
  workflowSchedulerPart,
} from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { namedValues } from '../fields.ts'

/** Of a request for a run: its values are in every answer about it. */
export const max_run_bytes = 32_768

export const runConf = namedValues
  .default({})
  .meta({ description: 'Values that are stored and shown with the run; no task reads them yet' })

export const runListFields = {
  state: workflowRunState.optional().meta({ description: 'Runs in this state alone' }),
  limit: z.int().min(1).max(500).default(50),
}

/** A page of runs as a list without a cursor. */
export function showRunPage({ runs, isWhole }: RunPage) {
  return { items: [...runs], total: runs.length, total_is: isWhole ? ('exact' as const) : ('at_least' as const) }
}

export const runKeyFields = { dag_id: dagId, dag_run_id: z.string().min(1).max(250) }

/**
 * Triggers a run for a person. A repeated request, by its idempotency key, finds the run of the first; one with other content is
 * refused.
 */
export async function triggerManually(
  call: Call,
  dag: DagRef,
  content: Omit<RunTrigger, 'dag_run_id'>,
): Promise<WorkflowRun | Refusal> {
  const dag_run_id = `manual__${call.newId('run')}`
  const scheduler = call.part(workflowSchedulerPart)
  const run = await scheduler.actFor(call).trigger(dag, { dag_run_id, ...content })
  if (isRefusal(run)) return run
  // Airflow 2 gives a run without a date the time of its trigger.
  const isUndated = run.logical_date === null || scheduler.kind === 'airflow'
  const isSameDate =
    content.logical_date === undefined
      ? isUndated
      : Date.parse(run.logical_date ?? '') === Date.parse(content.logical_date)
  return isSameDate && canonicalJson(run.conf) === canonicalJson(content.conf) ? run : refuseOtherRequest()
}
