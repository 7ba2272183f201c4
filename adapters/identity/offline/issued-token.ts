// Claims of a token of this site's own issuer, and whether it is still valid.
import * as z from 'zod'
import { credentialOrigin, workPlace } from '../../../daemon/kernel/identity/delegation.ts'
import { credentialClaims } from '../../../daemon/kernel/identity/identity.ts'
import type { Revocations } from './revocations.ts'

/** Tokens that one token may be derived from: more would outgrow what a header carries. */
const max_derivations = 8

/** The kernel's claims and those that the issuer adds: times, audience, and the tokens that it was derived from. */
export const issuedClaims = credentialClaims.extend({
  iat: z.int(),
  client_id: z.string().max(256).optional(),
  /** Ids of the tokens that this one was exchanged for, nearest last: it is revoked with any of them. */
  derived_from: z.array(z.string().min(1).max(128)).max(max_derivations).optional(),
  /** Of a grant or a delegated token: where the rights of its subject came from. */
  origin: credentialOrigin.optional(),
  /** Of a grant: the stored work that it is for. */
  work: workPlace.optional(),
  /** Of a token made from a grant: the end of the grant. */
  grant_exp: z.int().optional(),
})
export type IssuedClaims = z.infer<typeof issuedClaims>

/** Passed in by boot: verifies signature, issuer, audience and times. `refused` is the reason, for the log. */
export type TokenVerifier = (
  token: string,
) => Promise<{ readonly payload: Readonly<Record<string, unknown>> } | { readonly refused: string }>

/** The token's claims, or why it is refused. Throws `Refusal('unavailable')` when revocations cannot be read. */
export async function verifyIssuedToken(
  token: string,
  verify: TokenVerifier,
  revocations: Revocations,
): Promise<IssuedClaims | { readonly refused: string }> {
  const verdict = await verify(token)
  if ('refused' in verdict) return verdict
  const claims = issuedClaims.safeParse(verdict.payload)
  if (!claims.success) return { refused: 'claims' }
  return revocations.isRevoked(claims.data) ? { refused: 'revoked' } : claims.data
}
