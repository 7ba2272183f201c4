// The label of what a caller makes: of the site's policy, and never above the caller.
import type { Call } from './call.ts'
import { type Refused, refuse } from './errors.ts'
import { type Classification, dominates, type Label, labelOf } from './label.ts'

/** Refuses `invalid` for a policy or level that is not the site's, `label_denied` for one above the caller's clearance. */
export function labelFor(call: Call, given: Classification): Label | Refused {
  const { caller, site } = call
  const label = labelOf(given, site.labels, caller.tenant_id)
  if (!label) {
    const fault = { path: 'classification', message: 'unknown policy or level' }
    return refuse('invalid', 'the classification is not of this site’s policy', [fault])
  }
  if (dominates(caller, label, site.labels)) return label
  return refuse('label_denied', 'the classification is above the caller’s clearance')
}
