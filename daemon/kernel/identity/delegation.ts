// Delegation: a role of the site acts for a caller, or later for the principal that stored work, by short-lived tokens.
import * as z from 'zod'
import type { Refusal } from '../error/errors.ts'
import { clearance } from '../label/label.ts'
import type { RoleClients } from '../operation/operation-contract.ts'

/** A party with its rights at one moment. */
export const principal = z.strictObject({
  subject: z.string().min(1).max(256),
  tenant_id: z.string().min(1).max(128),
  roles: z.array(z.string().min(1).max(64)).max(32),
  clearance: clearance.optional(),
})
export type Principal = z.infer<typeof principal>

/** Bytes of a token that carries a delegation: as many as any token of the site may have. */
export const max_grant_length = 8_192

/** The place of stored work, for which alone its grant counts: copied into other work it is refused. */
export const workPlace = z.strictObject({ collection: z.string().min(1).max(64), id: z.string().min(1).max(512) })
export type WorkPlace = z.infer<typeof workPlace>

/**
 * The principal of stored work: what it had when the work was stored. `grant` is sealed by `site` for the role that
 * stored it and for the place of the work, and decides alone; the other fields are for lists and people. Keep it out of
 * answers, exports and logs.
 */
export const storedPrincipal = principal.extend({ grant: z.string().min(1).max(max_grant_length) })
export type StoredPrincipal = z.infer<typeof storedPrincipal>

/** For whom a token is: a role of this site, or a service outside that `identity.audiences` lists. */
export const delegationAudience = z.union([
  z.strictObject({ role: z.string().min(1).max(64) }),
  z.strictObject({ service: z.string().min(1).max(256) }),
])
export type DelegationAudience = z.infer<typeof delegationAudience>

/** `expires_ts` in epoch milliseconds. Never log or store the token. */
export const delegatedToken = z.strictObject({ token: z.string().min(1), expires_ts: z.int() })
export type DelegatedToken = z.infer<typeof delegatedToken>

const client_id = z.string().max(256)
/** Clients of the site that exchanged the credential, the last one last. */
const exchangeFields = { exchanged_by: z.array(client_id).max(8).optional() }

/**
 * Where the rights of a principal came from, and so where to look for what it has now. `token`: minted by a command, and
 * listed nowhere. An exchange keeps the origin of its subject.
 */
export const credentialOrigin = z.discriminatedUnion('source', [
  z.strictObject({ source: z.literal('token'), ...exchangeFields }),
  z.strictObject({ source: z.literal('client'), client_id, ...exchangeFields }),
  z.strictObject({ source: z.literal('certificate') }),
  z.strictObject({ source: z.literal('provider'), issuer: z.string().max(2_048), ...exchangeFields }),
])
export type CredentialOrigin = z.infer<typeof credentialOrigin>

/** How a principal was identified, so that `site` can identify it again. Only boot reads it; operations never see it. */
export type DelegatingCredential =
  | { readonly subject_token: string }
  /** DER of a client certificate. */
  | { readonly certificate: Uint8Array }
  /** `work`: the place where the grant is stored, as the store names it. */
  | { readonly grant: string; readonly work: WorkPlace }

/**
 * Acts in the name of one principal. Each method returns `forbidden` with the reason when the principal is revoked,
 * removed, or left without the rights; and throws `Refusal('unavailable')` when `site` cannot be reached.
 */
export interface Delegation {
  /** The principal as work at this place keeps it. A role itself has none: its work needs no delegation. */
  store(work: WorkPlace): Promise<StoredPrincipal | Refusal>
  /** The principal as it is now: never more than was stored, and never more than it has now. */
  principal(): Promise<Principal | Refusal>
  /**
   * A token of at most five minutes for this audience alone. `max_level`: of its clearance, where that of the principal is
   * higher.
   */
  token(audience: DelegationAudience, max_level?: string): Promise<DelegatedToken | Refusal>
  /** Operations of other roles, requested in the name of the principal. */
  readonly roles: RoleClients
}
