// The site's own issuer, as far as keys are needed: it mints tokens, and reads those that it minted.
import * as z from 'zod'
import { credentialClaims } from '../../../daemon/kernel/identity/identity.ts'
import { type IssuedClaims, issuedClaims, type TokenVerifier, verifyIssuedToken } from './issued-token.ts'
import type { Revocations } from './revocations.ts'

/** What to put into a token; the issuer adds the rest. */
export const mintClaims = credentialClaims.omit({ jti: true, exp: true }).extend({
  client_id: issuedClaims.shape.client_id,
  derived_from: issuedClaims.shape.derived_from,
  /** The site itself unless said. */
  aud: z.string().min(1).max(256).optional(),
})
export type MintClaimsInput = z.input<typeof mintClaims>

/** Times are in seconds since 1970. */
export type MintedToken = { readonly token: string; readonly jti: string; readonly iat: number; readonly exp: number }

export const default_ttl_s = 3_600
export const max_ttl_s = 30 * 86_400

export type OfflineIssuerOptions = {
  readonly siteName: string
  /** Signs the claims with the active token key, as a compact token. */
  readonly sign: (payload: IssuedTokenPayload) => Promise<string>
  readonly verify: TokenVerifier
  readonly revocations: Revocations
  /** Epoch milliseconds. */
  readonly now: () => number
  /** That many random bytes as lower-case hexadecimal. */
  readonly random: (bytes: number) => string
}

export type IssuedTokenPayload = { iss: string; aud: string; sub: string; jti: string; iat: number; exp: number }

export interface OfflineIssuer {
  readonly issuer: string
  readonly audience: string
  /**
   * A token for 1 to `max_ttl_s` seconds, an hour unless said, that never outlives `latest_exp`. Throws a RangeError
   * for another lifetime, and a ZodError for claims that no provider would accept.
   */
  mint(given: MintClaimsInput, ttl_s?: number, latest_exp?: number): Promise<MintedToken>
  /** What a token of this issuer says, the whole chain of actors included; undefined when it does not count. */
  verifySubject(token: string): Promise<IssuedClaims | undefined>
}

/** Issuer and audience of a site. */
export function siteIssuerUrn(siteName: string): string {
  return `urn:platform:site:${siteName}`
}

/** Audience of one role of a site: another role that is shown such a token can do nothing with it. */
export function roleAudienceUrn(siteName: string, role: string): string {
  return `${siteIssuerUrn(siteName)}:role:${role}`
}

export function offlineIssuer(options: OfflineIssuerOptions): OfflineIssuer {
  const issuer = siteIssuerUrn(options.siteName)
  return {
    issuer,
    audience: issuer,
    async mint(given, ttl_s = default_ttl_s, latest_exp = Number.POSITIVE_INFINITY) {
      if (!Number.isInteger(ttl_s) || ttl_s < 1 || ttl_s > max_ttl_s) {
        throw new RangeError(`a token lives 1 to ${max_ttl_s} seconds`)
      }
      const iat = Math.floor(options.now() / 1000)
      const exp = Math.min(iat + ttl_s, latest_exp)
      const jti = `tok_${options.random(16)}`
      const { aud = issuer, ...said } = mintClaims.parse(given)
      const client_id = said.client_id ?? said.sub
      return {
        token: await options.sign({ ...said, iss: issuer, aud, client_id, iat, exp, jti } as IssuedTokenPayload),
        jti,
        iat,
        exp,
      }
    },
    async verifySubject(token) {
      const verdict = await verifyIssuedToken(token, options.verify, options.revocations)
      return 'refused' in verdict ? undefined : verdict
    },
  }
}
