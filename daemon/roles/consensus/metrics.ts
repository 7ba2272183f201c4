// The consensus role's metrics, under the names that the interface document gives.
import { counter, gauge, histogram } from '../../kernel/telemetry/metrics.ts'
import { combinationMethod } from '../../shared/quorum-policy/quorum-policy.ts'
import { sessionState } from './session/model.ts'

export const sessionTotal = counter('consensus_session_total', 'Sessions that entered a state', {
  state: sessionState.options,
})
export const sessionActive = gauge('consensus_session_active', 'Sessions in a state now', {
  state: sessionState.options,
})
export const combinerSeconds = histogram(
  'consensus_combiner_seconds',
  'Duration of one combination',
  { method: combinationMethod.options },
  [0.000_01, 0.000_1, 0.001, 0.01, 0.1],
)
/** The label is part of the interface; its value is constant, since ids of lenses are text of their tenants. */
export const dissentTotal = counter('consensus_dissent_total', 'Dissent records emitted, of all lenses', {
  lens_id: ['all'],
})
export const federationContributionTotal = counter(
  'federation_contribution_total',
  'Contributions taken from federation peers',
  { transport: 'names', peer: 'names' },
)
export const invalidResultTotal = counter(
  'federation_invalid_result_total',
  'Results of federation peers that failed the checks of this site',
  { peer: 'names' },
)
export const metrics = [
  sessionTotal,
  sessionActive,
  combinerSeconds,
  dissentTotal,
  federationContributionTotal,
  invalidResultTotal,
]
