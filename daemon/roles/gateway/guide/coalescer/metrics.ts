// Metrics of the coalescer.
import { counter } from '../../../../kernel/telemetry/metrics.ts'

export const coalescerProposalTotal = counter(
  'guide_coalescer_proposals_emitted_total',
  'Proposals to merge similar artifacts',
  {},
)
export const coalescerFailureTotal = counter(
  'guide_coalescer_merge_failed_total',
  'Groups of similar artifacts that could not be merged',
  {},
)
export const coalescerMetrics = [coalescerProposalTotal, coalescerFailureTotal]
