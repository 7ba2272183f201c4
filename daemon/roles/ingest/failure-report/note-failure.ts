// Notes a failed run that another scheduler keeps, for its signal: runs of the embedded one bear their mark themselves.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { WorkflowRun, WorkflowTask } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import type { ManagedDag } from '../managed-dag/model.ts'
import { failure_signals_worker } from '../runner/announce-end.ts'
import { failureReports } from './model.ts'

const reported_tasks = 100

type ReportedRun = {
  /** Of this run, and of none after it that has its name. */
  readonly id: string
  readonly run: WorkflowRun
  readonly tasks: readonly WorkflowTask[]
}

/** Durable when it resolves. A repetition notes nothing more, or once more what raises the same signal. */
export async function noteFailure(
  call: Call,
  { id: pipeline, value }: Doc<ManagedDag>,
  { id, run: { dag_run_id, state }, tasks }: ReportedRun,
): Promise<void> {
  if (state !== 'failed') return
  const { tenant_id, label, created_by, dag_id } = value
  const at = call.nowIso()
  const failed = tasks.filter((task) => task.state === 'failed')
  await call.store(failureReports).create(id, {
    ...{ tenant_id, label, created_by, created_at: at, updated_at: at },
    ...{ pipeline, dag_id, dag_run_id },
    failed: failed.slice(0, reported_tasks).map(({ task_id: name, try_number: tries }) => ({ name, tries })),
  })
  call.wake(failure_signals_worker)
}
