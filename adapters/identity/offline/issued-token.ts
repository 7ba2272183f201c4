// What a token of this site's own issuer says, and whether it still counts.
import * as z from 'zod'
import { credentialClaims } from '../../../daemon/kernel/identity/identity.ts'
import type { Revocations } from './revocations.ts'

/** The kernel's claims with what the issuer adds: when it was made, for whom, and out of which tokens. */
export const issuedClaims = credentialClaims.extend({
  iat: z.int(),
  client_id: z.string().max(256).optional(),
  /** Ids of the tokens that this one was exchanged for, nearest last: it is revoked with any of them. */
  derived_from: z.array(z.string().min(1).max(128)).max(8).optional(),
})
export type IssuedClaims = z.infer<typeof issuedClaims>

/** Handed in by boot: the signature, issuer, audience and times judged; `refused` says why, for the log. */
export type TokenVerifier = (
  token: string,
) => Promise<{ readonly payload: Readonly<Record<string, unknown>> } | { readonly refused: string }>

/** The token's claims, or why it does not count. Throws `Refusal('unavailable')` when revocations cannot be read. */
export async function verifyIssuedToken(
  token: string,
  verify: TokenVerifier,
  revocations: Revocations,
): Promise<IssuedClaims | { readonly refused: string }> {
  const verdict = await verify(token)
  if ('refused' in verdict) return verdict
  const said = issuedClaims.safeParse(verdict.payload)
  if (!said.success) return { refused: 'claims' }
  return revocations.isRevoked(said.data) ? { refused: 'revoked' } : said.data
}
