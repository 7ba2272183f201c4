// Metrics of attached guidance, under the names of document 002.
import { counter, histogram } from '../../../../kernel/telemetry/metrics.ts'
import { attachableTypes } from './rules.ts'

export const nullReasons = ['disabled', 'unavailable', 'empty', 'timeout', 'error'] as const

export const attachNullTotal = counter(
  'guide_guidance_attach_null_total',
  'Responses and calls that went without guidance, by reason',
  { scope: 'names', reason: nullReasons },
)
export const attachSuccessTotal = counter(
  'guide_guidance_attach_success_total',
  'Responses and calls that guidance was attached to',
  { scope: 'names' },
)
export const attachPayloadBytes = histogram(
  'guide_guidance_attach_payload_bytes',
  'Size of attached guidance',
  { scope: 'names' },
  [256, 1_024, 4_096, 16_384, 65_536, 262_144],
)
export const attachArtifactCount = histogram(
  'guide_guidance_attach_artifact_count',
  'Number of artifacts that were attached at once',
  { scope: 'names' },
  [1, 2, 5, 10, 20, 50],
)
export const attachCappedTotal = counter(
  'guide_guidance_attach_capped_total',
  'Artifacts that a cap or the bound of bytes held back',
  { scope: 'names', artifact_type: attachableTypes },
)
export const lineageDroppedTotal = counter(
  'guide_lineage_dropped_total',
  'Lineage events that were not stored: their queue was full, or the store has failed',
  { reason: ['queue_full', 'store'] },
)

export const guidanceMetrics = [
  attachNullTotal,
  attachSuccessTotal,
  attachPayloadBytes,
  attachArtifactCount,
  attachCappedTotal,
  lineageDroppedTotal,
]
