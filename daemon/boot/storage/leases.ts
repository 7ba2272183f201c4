// Opens the leases of a role's jobs: in Redis where several processes may share a cluster, else in the document store.
import { documentLeases } from '../../../adapters/lease/document/document-leases.ts'
import { keyValueLeases } from '../../../adapters/lease/keyvalue/keyvalue-leases.ts'
import type { Leases } from '../../kernel/job/lease.ts'
import type { Role } from '../../kernel/role/role.ts'
import { keyValueSettings } from '../../kernel/settings/backing-service-settings.ts'
import type { SiteResources } from '../site-resources.ts'
import type { RoleStorage } from './role-storage.ts'

/**
 * Every process of a role must choose the same: by its settings, not by what else runs in the process. The memory of one
 * process would hold no lease against another, and a role on files runs in one process.
 */
export function openLeases(
  { keyValue, site, clock, random }: Pick<SiteResources, 'keyValue' | 'site' | 'clock' | 'random'>,
  { store }: Pick<RoleStorage, 'store'>,
  role: Pick<Role, 'name' | 'settings'>,
): Leases {
  const knowsKeyValue = role.settings.some(({ name }) => name === keyValueSettings.name)
  if (store.name === 'opensearch' && keyValue.name === 'redis' && knowsKeyValue)
    return keyValueLeases(keyValue, role.name, random)
  return documentLeases({ store, tenant_id: site.tenant_id, now: clock.now, random })
}
