// Counts a run that is over, and wakes the workers that record its metrics and signal its failure.
import type { Call } from '../../../kernel/operation/call.ts'
import type { WorkflowRunState } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { runTotal } from '../metrics.ts'

/** The worker that records the metrics of runs. */
export const metrics_worker = 'run-metrics'
/** The worker that raises signals for failed runs. */
export const failure_signals_worker = 'failure-signals'
/** The worker that hands tasks of another scheduler to the runs here, and gives it their ends. */
export const site_tasks_worker = 'site-tasks'

export function announceEnd(call: Pick<Call, 'count' | 'wake'>, state: WorkflowRunState): void {
  call.count(runTotal, { state })
  call.wake(metrics_worker)
  if (state === 'failed') call.wake(failure_signals_worker)
}
