// Opens the leases of a role's jobs: in Redis where the site has one, else in the document store.
import { documentLeases } from '../../../adapters/lease/document/document-leases.ts'
import { keyValueLeases } from '../../../adapters/lease/keyvalue/keyvalue-leases.ts'
import type { Leases } from '../../kernel/job/lease.ts'
import type { SiteResources } from '../site-resources.ts'
import type { RoleStorage } from './role-storage.ts'

/** The memory of one process would hold no lease against another. */
export function openLeases(
  { keyValue, site, clock, random }: Pick<SiteResources, 'keyValue' | 'site' | 'clock' | 'random'>,
  { store }: Pick<RoleStorage, 'store'>,
  role: string,
): Leases {
  if (keyValue.name === 'redis') return keyValueLeases(keyValue, role, random)
  return documentLeases({ store, tenant_id: site.tenant_id, now: clock.now, random })
}
