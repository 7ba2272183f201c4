// Resolves a source of the profile with the defaults of the site.

import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { completeLabel } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { SourceIdentity } from '../signal-intake/item/rules.ts'
import type { IntakeSource } from '../signal-intake/settings.ts'

/** Whether the source raises signals of the caller's tenant. */
export function isOwnSource({ caller, site }: Call, { tenant_id = site.tenant_id }: IntakeSource): boolean {
  return caller.tenant_id === '*' || caller.tenant_id === tenant_id
}

/** Tenant and label of the signals of a source. Refuses `unavailable` for a classification outside the site's label policy. */
export function resolveSource(
  { site }: Pick<Call, 'site'>,
  { name, kind, tenant_id, classification }: IntakeSource,
): SourceIdentity | Refusal {
  const tenant = tenant_id ?? site.tenant_id
  const label = completeLabel(classification ?? site.default_level, site.labels, tenant)
  if (!label)
    return refuse(
      'unavailable',
      'the classification of this source is not in the label policy of this site: correct it in the profile',
    )
  return { name, tenant_id: tenant, label, type: kind === 'webhook' ? 'webhook' : 'polling' }
}
