// Principals of stored jobs: what a role stores for a caller, and grants in their place that give no right.
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import type { StoredPrincipal } from '../../../daemon/kernel/identity/delegation.ts'
import type { Permission } from '../../../daemon/kernel/identity/identity.ts'
import type { JobDocument } from '../../../daemon/kernel/job/job.ts'
import type { Collection } from '../../../daemon/kernel/store/store.ts'
import type { TestSite, TokenHolder } from './test-site.ts'

async function storePrincipal(site: TestSite, role: string, holder: TokenHolder): Promise<StoredPrincipal> {
  const token = await site.token(holder)
  const stored = await site.delegation(role, { subject_token: token }).store()
  if (isRefusal(stored)) throw stored
  return stored
}

type UselessGrant = readonly [name: string, make: () => Promise<Partial<StoredPrincipal>>, reason: RegExp]

/** For a job of bob that is above UNCLASSIFIED; its steps require the permission. */
export function listUselessGrants(world: () => TestSite, role: string, permission: Permission): UselessGrant[] {
  const store = (holder: TokenHolder) => storePrincipal(world(), role, holder)
  return [
    [
      'is of a person without the permission',
      () => store({ subject: 'bob', roles: ['auditor'] }),
      new RegExp(`bob has no permission ${permission} any more`),
    ],
    [
      'is of another tenant',
      () => store({ subject: 'bob', tenant: 'tenant-b', roles: ['admin'] }),
      /another tenant than its principal/,
    ],
    [
      'is of a person who may not see the job',
      () => store({ subject: 'bob', clearance: { level: 'UNCLASSIFIED' } }),
      /bob may no longer see/,
    ],
    ['is not sealed by the site', async () => ({ grant: 'x.y.z' }), /the grant is not valid/],
    [
      'is a token of a person instead',
      async () => ({ grant: await world().token({ subject: 'olga', roles: ['admin'] }) }),
      /the grant is not valid|another role/,
    ],
  ]
}

/** Changes fields of the principal of a job in the store. */
export async function replacePrincipal<T extends JobDocument>(
  site: TestSite,
  role: string,
  { collection, id }: { readonly collection: Collection<T>; readonly id: string },
  changes: Partial<StoredPrincipal>,
): Promise<void> {
  await site.store(role).update(collection, id, ({ value }) => ({
    next: { ...value, job: { ...value.job, principal: { ...value.job.principal, ...changes } as StoredPrincipal } },
    answer: undefined,
  }))
}
