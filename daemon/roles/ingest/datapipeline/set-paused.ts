// Pauses or resumes the DAG of a pipeline at the scheduler.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { pipelines, type StoredPipeline } from './model.ts'
import { openPipeline } from './open-pipeline.ts'

export async function setPaused(call: Call, uid: string, isPaused: boolean): Promise<Doc<StoredPipeline> | Refusal> {
  const { value } = await openPipeline(call, uid)
  if (!value.dag) return refuse('wrong_state', `the pipeline is ${value.status}: its DAG is not live`)
  const dag = await call
    .part(workflowSchedulerPart)
    .actFor(call)
    .setPaused({ dag_id: value.dag_id, pipeline: uid }, isPaused)
  return isRefusal(dag) ? dag : await call.store(pipelines).get(uid)
}
