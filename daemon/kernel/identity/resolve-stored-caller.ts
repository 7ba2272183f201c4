// The principal of stored work as a caller: with the rights of now, and the role that acts for it as actor.
import { isRefusal, type Refusal, refuse } from '../error/errors.ts'
import { serviceCaller } from './admit-caller.ts'
import type { Delegation } from './delegation.ts'
import { type Caller, type Permission, permissionsOfRoles, permits } from './identity.ts'

export type StoredWorkTerms = {
  /** The role that performs the work. */
  readonly role: string
  /** The tenant of the work, which must be that of its principal. */
  readonly tenant_id: string
  /** The permission that the principal must still have. */
  readonly allow: Permission
  readonly role_table: Readonly<Record<string, readonly string[]>>
}

/** Throws `Refusal('unavailable')` while `site` cannot be reached. */
export async function resolveStoredCaller(
  delegation: Pick<Delegation, 'principal'>,
  { role, tenant_id, allow, role_table }: StoredWorkTerms,
): Promise<Caller | Refusal> {
  const principal = await delegation.principal()
  if (isRefusal(principal)) return principal
  if (principal.tenant_id !== tenant_id)
    return refuse('forbidden', 'the work belongs to another tenant than its principal')
  const permissions = permissionsOfRoles(principal.roles, role_table)
  if (!permits(permissions, allow))
    return refuse('forbidden', `${principal.subject} has no permission ${allow} any more`)
  return { ...principal, clearance: principal.clearance, permissions, actor: serviceCaller(role).subject }
}
