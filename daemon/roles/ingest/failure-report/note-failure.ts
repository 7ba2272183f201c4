// Notes a failed run that another scheduler keeps, for its signal: runs of the embedded one bear their mark themselves.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { type WorkflowRun, workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import type { ManagedDag } from '../managed-dag/model.ts'
import { failure_signals_worker } from '../runner/announce-end.ts'
import { runDocumentId } from '../runner/model.ts'
import { failureReports } from './model.ts'

/** Durable when it resolves. A repetition notes nothing more, or once more what raises the same signal. */
export async function noteFailure(
  call: Call,
  { id: pipeline, value }: Doc<ManagedDag>,
  { dag_run_id, state }: WorkflowRun,
): Promise<void> {
  if (state !== 'failed' || call.part(workflowSchedulerPart).kind === 'embedded') return
  const { tenant_id, label, created_by, dag_id } = value
  const at = call.nowIso()
  await call.store(failureReports).create(runDocumentId(pipeline, dag_run_id), {
    ...{ tenant_id, label, created_by, created_at: at, updated_at: at },
    ...{ pipeline, dag_id, dag_run_id },
  })
  call.wake(failure_signals_worker)
}
