// The site's own issuer: mints tokens, and reads the tokens that it minted.
import * as z from 'zod'
import { credentialClaims } from '../../../daemon/kernel/identity/identity.ts'
import { type IssuedClaims, issuedClaims, type TokenVerifier, verifyIssuedToken } from './issued-token.ts'
import type { Revocations } from './revocations.ts'

/** Claims to put into a token; the issuer adds the rest. */
export const mintClaims = credentialClaims.omit({ jti: true, exp: true }).extend({
  client_id: issuedClaims.shape.client_id,
  derived_from: issuedClaims.shape.derived_from,
  origin: issuedClaims.shape.origin,
  work: issuedClaims.shape.work,
  grant_exp: issuedClaims.shape.grant_exp,
  /** Default: the site itself. */
  aud: z.string().min(1).max(256).optional(),
})
export type MintClaimsInput = z.input<typeof mintClaims>

/** Times are in seconds since 1970. */
export type MintedToken = { readonly token: string; readonly jti: string; readonly iat: number; readonly exp: number }

const default_ttl_s = 3_600
export const max_ttl_s = 30 * 86_400

export type OfflineIssuerOptions = {
  readonly siteName: string
  /** Signs the claims with the active token key, as a compact token. */
  readonly sign: (payload: IssuedTokenPayload) => Promise<string>
  readonly verify: TokenVerifier
  readonly revocations: Revocations
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Random bytes as lower-case hexadecimal. */
  readonly random: (bytes: number) => string
  /** Longest life of a token in seconds (default: 30 days). */
  readonly longest_ttl_s?: number
}

export type IssuedTokenPayload = { iss: string; aud: string; sub: string; jti: string; iat: number; exp: number }

export interface OfflineIssuer {
  readonly issuer: string
  readonly audience: string
  /**
   * A token for 1 to `longest_ttl_s` seconds (default: an hour) that never outlives `latest_exp`. Throws a RangeError for
   * another lifetime, and a ZodError for invalid claims.
   */
  mint(given: MintClaimsInput, ttl_s?: number, latest_exp?: number): Promise<MintedToken>
  /** The claims of a token of this issuer, with the whole chain of actors; undefined when it is not valid. */
  verifySubject(token: string): Promise<IssuedClaims | undefined>
}

/** Issuer and audience of a site. */
export function siteIssuerUrn(siteName: string): string {
  return `urn:platform:site:${siteName}`
}

/** Audience of one role of a site: other roles refuse such a token. */
export function roleAudienceUrn(siteName: string, role: string): string {
  return `${siteIssuerUrn(siteName)}:role:${role}`
}

/** Audience of the grants of one role: no role accepts such a token, and the site role accepts it from this role alone. */
export function grantAudienceUrn(siteName: string, role: string): string {
  return `${siteIssuerUrn(siteName)}:grant:${role}`
}

export function offlineIssuer(options: OfflineIssuerOptions): OfflineIssuer {
  const { longest_ttl_s = max_ttl_s } = options
  const issuer = siteIssuerUrn(options.siteName)
  return {
    issuer,
    audience: issuer,
    async mint(given, ttl_s = default_ttl_s, latest_exp = Number.POSITIVE_INFINITY) {
      if (!Number.isInteger(ttl_s) || ttl_s < 1 || ttl_s > longest_ttl_s) {
        throw new RangeError(`the lifetime of a token must be 1 to ${longest_ttl_s} seconds`)
      }
      const iat = Math.floor(options.now() / 1000)
      const exp = Math.min(iat + ttl_s, latest_exp)
      const jti = `tok_${options.random(16)}`
      const { aud = issuer, ...claims } = mintClaims.parse(given)
      const client_id = claims.client_id ?? claims.sub
      return {
        token: await options.sign({ ...claims, iss: issuer, aud, client_id, iat, exp, jti } as IssuedTokenPayload),
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
