// Determines the label of an object that a caller creates: of the site's policy, and never above the caller's
// clearance.

import { type Refusal, refuse } from '../error/errors.ts'
import type { Call } from '../operation/call.ts'
import { type Classification, completeLabel, dominates, type Label } from './label.ts'

/**
 * The label of a new object. Refuses `invalid` for a policy or level that is not the site's, and `label_denied` for a
 * label above the caller's clearance. `path`: the field of the request.
 */
export function resolveClassification(
  call: Call,
  classification: Classification,
  path = 'classification',
): Label | Refusal {
  const { caller, site } = call
  const label = completeLabel(classification, site.labels, caller.tenant_id)
  if (!label) {
    const fault = { path, message: 'unknown policy or level' }
    return refuse('invalid', 'the classification names a policy or level that is not this site’s', [fault])
  }
  if (dominates(caller, label, site.labels)) return label
  return refuse('label_denied', 'the classification is above the caller’s clearance')
}
