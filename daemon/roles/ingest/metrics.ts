// The ingest role's metrics.

import { counter } from '../../kernel/telemetry/metrics.ts'
import { workflowRunState } from '../../shared/workflow-scheduler/workflow-scheduler.ts'

export const runTotal = counter('pipeline_run_total', 'Runs that entered a state', {
  state: workflowRunState.options,
})
export const scheduledTotal = counter(
  'pipeline_schedule_total',
  'Times of schedules of pipelines and effects, by what became of them',
  {
    outcome: ['triggered', 'skipped', 'delayed', 'failed'],
  },
)
export const carriedTotal = counter('pipeline_carried_file_total', 'Files of landing zones, by what became of them', {
  outcome: ['landed', 'duplicate', 'quarantined', 'failed'],
})
export const lineageTotal = counter('pipeline_lineage_total', 'Runs whose lineage went to every sink, and failures', {
  outcome: ['sent', 'delayed'],
})
export const failureSignalTotal = counter(
  'pipeline_failure_signal_total',
  'Failed runs, by what became of their signal',
  {
    outcome: ['raised', 'off', 'refused', 'no_role', 'delayed'],
  },
)
export const metrics = [runTotal, scheduledTotal, carriedTotal, lineageTotal, failureSignalTotal]
