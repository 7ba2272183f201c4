// Principals of stored work, by the revocations and the role table of this site.
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import { permissionsOfRoles } from '../../../daemon/kernel/identity/identity.ts'
import type { CurrentPrincipals } from '../../../daemon/kernel/identity/stored-principal.ts'
import type { Revocations } from './revocations.ts'

/** `role_table`: permissions of each role as the profile grants them now. */
export function currentPrincipals(
  revocations: Pick<Revocations, 'isRevoked'>,
  role_table: Readonly<Record<string, readonly string[]>>,
): CurrentPrincipals {
  return {
    async load({ subject, tenant_id, roles, clearance, stored_ts }) {
      // A service of the site stores no principal: one that claims to be a service was not stored by a role.
      if (tenant_id === '*') return refuse('forbidden', 'stored work has no rights over every tenant')
      if (revocations.isRevoked({ jti: '', sub: subject, iat: Math.floor(stored_ts / 1_000) }))
        return refuse('forbidden', `${subject} was revoked after this work was requested`)
      return { subject, tenant_id, roles, permissions: permissionsOfRoles(roles, role_table), clearance }
    },
  }
}
