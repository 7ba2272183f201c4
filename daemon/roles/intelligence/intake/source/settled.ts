// A source of the profile with what the site adds to it.
import type { Call } from '../../../../kernel/call.ts'
import { type Refused, refuse } from '../../../../kernel/errors.ts'
import { labelOf } from '../../../../kernel/label.ts'
import type { Of } from '../item/rules.ts'
import type { Source } from '../settings.ts'

/** Tenant and label of what the source raises. Refuses `unavailable` for a label that the site's policy does not have. */
export function settled({ site }: Pick<Call, 'site'>, { name, kind, tenant_id, classification }: Source): Of | Refused {
  const tenant = tenant_id ?? site.tenant_id
  const label = labelOf(classification ?? site.default_level, site.labels, tenant)
  if (!label) return refuse('unavailable', 'the classification of this source is not of this site’s policy')
  return { name, tenant_id: tenant, label, type: kind === 'webhook' ? 'webhook' : 'polling' }
}
