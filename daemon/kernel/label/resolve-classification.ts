// The label of what a caller makes: of the site's policy, and never above the caller.

import { type Refusal, refuse } from '../error/errors.ts'
import type { Call } from '../operation/call.ts'
import { type Classification, completeLabel, dominates, type Label } from './label.ts'

/** Refuses `invalid` for a policy or level that is not the site's, `label_denied` for one above the caller's clearance. */
export function resolveClassification(call: Call, given: Classification): Label | Refusal {
  const { caller, site } = call
  const label = completeLabel(given, site.labels, caller.tenant_id)
  if (!label) {
    const fault = { path: 'classification', message: 'unknown policy or level' }
    return refuse('invalid', 'the classification is not of this site’s policy', [fault])
  }
  if (dominates(caller, label, site.labels)) return label
  return refuse('label_denied', 'the classification is above the caller’s clearance')
}
