// Counts a run that is over, and wakes the worker that records its metrics.
import type { Call } from '../../../kernel/operation/call.ts'
import type { WorkflowRunState } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { runTotal } from '../metrics.ts'

/** The worker that records the metrics of runs. */
export const metrics_worker = 'run-metrics'

export function announceEnd(call: Pick<Call, 'count' | 'wake'>, state: WorkflowRunState): void {
  call.count(runTotal, { state })
  call.wake(metrics_worker)
}
