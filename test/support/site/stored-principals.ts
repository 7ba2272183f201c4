// Principals of stored jobs: what a role stores for a caller, and grants in their place that give no right.
import { grantAudienceUrn } from '../../../adapters/identity/offline/issuer.ts'
import { max_grant_length, type StoredPrincipal, type WorkPlace } from '../../../daemon/kernel/identity/delegation.ts'
import type { Permission } from '../../../daemon/kernel/identity/identity.ts'
import type { JobDocument } from '../../../daemon/kernel/job/job.ts'
import type { Collection } from '../../../daemon/kernel/store/store.ts'
import { accept } from '../delegation/delegation-answers.ts'
import { signAsSite } from '../delegation/sign-claims.ts'
import type { TestSite, TokenHolder } from './test-site.ts'

type ChangedPrincipal = { readonly [field in keyof StoredPrincipal]?: StoredPrincipal[field] | undefined }
type GrantMaker = (work: WorkPlace) => Promise<ChangedPrincipal>
type UselessGrant = readonly [name: string, make: GrantMaker, reason: RegExp]

/** For a job of bob that is above UNCLASSIFIED; its steps require the permission. */
export function listUselessGrants(world: () => TestSite, role: string, permission: Permission): UselessGrant[] {
  const store = async (holder: TokenHolder, work: WorkPlace) => {
    const token = await world().token(holder)
    return accept(await world().delegation(role, { subject_token: token }).store(work))
  }
  const olga = { subject: 'olga', roles: ['admin'] }
  return [
    [
      'is of a person without the permission',
      (work) => store({ subject: 'bob', roles: ['auditor'] }, work),
      new RegExp(`bob has no permission ${permission} any more`),
    ],
    [
      'is of another tenant',
      (work) => store({ subject: 'bob', tenant: 'tenant-b', roles: ['admin'] }, work),
      /another tenant than its principal/,
    ],
    [
      'is of a person who may not see the job',
      (work) => store({ subject: 'bob', clearance: { level: 'UNCLASSIFIED' } }, work),
      /bob may no longer see/,
    ],
    [
      'is of other work of a stronger person',
      ({ collection, id }) => store(olga, { collection, id: `${id}0` }),
      /the grant belongs to other stored work/,
    ],
    [
      'is of work in another collection',
      ({ id }) => store(olga, { collection: 'elsewhere', id }),
      /the grant belongs to other stored work/,
    ],
    [
      'is bound to no work, as of an earlier version',
      async () => ({ grant: await signGrant(world(), role) }),
      /the grant is bound to no stored work; store the work again/,
    ],
    ['was taken away', async () => ({ grant: undefined }), /the job has no grant to act by; store the work again/],
    ['is not sealed by the site', async () => ({ grant: 'x.y.z' }), /the grant is not valid/],
    ['is as long as one may be', async () => ({ grant: 'x'.repeat(max_grant_length) }), /the grant is not valid/],
    [
      'is a token of a person instead',
      async () => ({ grant: await world().token({ subject: 'olga', roles: ['admin'] }) }),
      /the grant is not valid|another role/,
    ],
  ]
}

/** A grant of olga, an administrator, without a place. */
function signGrant(site: TestSite, role: string): Promise<string> {
  const aud = grantAudienceUrn(site.name, role)
  return signAsSite(site, { aud, sub: 'olga', roles: ['admin'], origin: { source: 'token' } })
}

/** Changes fields of the principal of a job in the store. */
export async function replacePrincipal<T extends JobDocument>(
  site: TestSite,
  role: string,
  { collection, id }: { readonly collection: Collection<T>; readonly id: string },
  changes: ChangedPrincipal,
): Promise<void> {
  await site.store(role).update(collection, id, ({ value }) => ({
    next: { ...value, job: { ...value.job, principal: { ...value.job.principal, ...changes } as StoredPrincipal } },
    answer: undefined,
  }))
}
