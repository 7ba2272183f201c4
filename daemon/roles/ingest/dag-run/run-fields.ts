// Fields of requests about runs.
import * as z from 'zod'
import type { Call } from '../../../kernel/operation/call.ts'
import { dagId } from '../../../shared/assembled-dag/assembled-dag.ts'
import { workflowRunState } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'

export const runConf = z
  .record(z.string().max(128), z.json())
  .default({})
  .meta({ description: 'Values that the tasks of the run may read' })

export const runListFields = {
  state: workflowRunState.optional().meta({ description: 'Runs in this state alone' }),
  limit: z.int().min(1).max(500).default(50),
}

export const runKeyFields = { dag_id: dagId, dag_run_id: z.string().min(1).max(250) }

/** The id of a run that a person triggers: the same for the same idempotency key. */
export function newRunId(call: Call): string {
  return `manual__${call.newId('run')}`
}
