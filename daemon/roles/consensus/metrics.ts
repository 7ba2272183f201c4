// The consensus role's metrics, under the names that the interface document gives.
import { counter, gauge, histogram } from '../../kernel/telemetry/metrics.ts'

export const sessionTotal = counter('consensus_session_total', 'Sessions that entered a state', ['state'])
export const sessionActive = gauge('consensus_session_active', 'Sessions in a state now', ['state'])
export const combinerSeconds = histogram(
  'consensus_combiner_seconds',
  'Duration of one combination',
  ['method'],
  [0.000_01, 0.000_1, 0.001, 0.01, 0.1],
)
export const dissentTotal = counter('consensus_dissent_total', 'Dissent records emitted', ['lens_id'])
export const federationContributionTotal = counter(
  'federation_contribution_total',
  'Contributions taken from federation peers',
  ['transport', 'peer'],
)
export const metrics = [sessionTotal, sessionActive, combinerSeconds, dissentTotal, federationContributionTotal]
