// The principal of stored work: what it had when the work was stored, and the contract that finds what it has now.
import * as z from 'zod'
import type { Refusal } from '../error/errors.ts'
import { clearance } from '../label/label.ts'
import type { Caller } from './identity.ts'

/** Rights of a caller at the moment at which it stored work. Keep it out of answers, exports and logs. */
export const storedPrincipal = z.strictObject({
  subject: z.string().min(1).max(256),
  tenant_id: z.string().min(1).max(128),
  roles: z.array(z.string().min(1).max(64)).max(32),
  clearance: clearance.optional(),
  /** Epoch milliseconds. A later revocation of the subject ends its stored work. */
  stored_ts: z.number(),
})
export type StoredPrincipal = z.infer<typeof storedPrincipal>

/** Principals of stored work as they are now. */
export interface CurrentPrincipals {
  /**
   * The caller with never more than was stored, and never more than the principal has now. Returns `forbidden` with the
   * reason for a principal that was revoked or has no rights left; throws `Refusal('unavailable')` without a verdict.
   */
  load(stored: StoredPrincipal): Promise<Caller | Refusal>
}

/** The principal of work that the caller stores now; undefined for a service of the site, which acts for no one else. */
export function storedPrincipalOf(
  { subject, tenant_id, roles, clearance: cleared }: Caller,
  stored_ts: number,
): StoredPrincipal | undefined {
  if (tenant_id === '*') return undefined
  const cleared_fields = cleared === undefined ? {} : { clearance: cleared }
  return { subject, tenant_id, roles: [...roles], ...cleared_fields, stored_ts }
}
