// Access tokens of an identity provider: judged by the pinned issuer, audience and algorithms, and by the provider's keys.
import { compactVerify } from 'jose'
import * as z from 'zod'
import { isCanonicalBase64url } from '../../../daemon/kernel/cryptography/public-jwk.ts'
import type { ProviderAlgorithm } from '../../../daemon/kernel/settings/sso-settings.ts'
import { parseUniqueJson } from './encoded-json.ts'
import type { ProviderKey } from './provider-keys.ts'
import { max_token_bytes } from './tokens.ts'

/** Members that bring a key, name one elsewhere, or change what is signed, are not among these. */
const header = z.strictObject({
  alg: z.string().max(32),
  kid: z.string().min(1).max(256),
  typ: z.string().max(64).optional(),
  x5t: z.string().max(64).optional(),
  'x5t#S256': z.string().max(64).optional(),
})

const payload = z.looseObject({
  iss: z.string(),
  aud: z.union([z.string(), z.array(z.string()).max(64)]),
  sub: z.string().min(1),
  /** RFC 9068 requires it; without one a single token could not be revoked. */
  jti: z.string().min(1),
  iat: z.number(),
  exp: z.number(),
  nbf: z.number().optional(),
  typ: z.unknown().optional(),
  azp: z.string().optional(),
  client_id: z.string().optional(),
  cnf: z.unknown().optional(),
})
/** Times are in seconds since 1970. */
export type ProviderTokenPayload = z.infer<typeof payload>

/** Why a token is not accepted: for the log, never for the caller. */
export type ProviderTokenRefusal =
  | 'too_large'
  | 'malformed'
  | 'algorithm_not_allowed'
  | 'not_an_access_token'
  | 'bound_to_a_key'
  | 'wrong_issuer'
  | 'wrong_audience'
  | 'wrong_client'
  | 'expired'
  | 'not_yet_valid'
  | 'unknown_key'
  | 'bad_signature'

export type ProviderTokenVerdict =
  | { readonly payload: ProviderTokenPayload }
  | { readonly refused: ProviderTokenRefusal }

export type ProviderTokenPolicy = {
  readonly issuer: string
  readonly audience: string
  readonly algorithms: readonly ProviderAlgorithm[]
  /** Clients that tokens may have been issued to; empty: any. */
  readonly clients: readonly string[]
  /** Epoch milliseconds. */
  readonly now: number
  /** Seconds by which clocks may differ. */
  readonly skew_s: number
}

/**
 * Judges a token. `keyOf` is called last, for a token that is valid in everything else: it may have to request the keys.
 * Never throws for a bad token; what `keyOf` throws is given on.
 */
export async function verifyProviderToken(
  token: string,
  keyOf: (kid: string) => Promise<ProviderKey | undefined>,
  expected: ProviderTokenPolicy,
): Promise<ProviderTokenVerdict> {
  if (token.length > max_token_bytes) return { refused: 'too_large' }
  const [head = '', body = '', signature = '', ...more] = token.split('.')
  const parsedHeader = header.safeParse(parseUniqueJson(head)).data
  const claims = payload.safeParse(parseUniqueJson(body)).data
  if (!parsedHeader || !claims || more.length > 0 || !isCanonicalBase64url(signature)) return { refused: 'malformed' }
  const algorithm = expected.algorithms.find((each) => each === parsedHeader.alg)
  if (!algorithm) return { refused: 'algorithm_not_allowed' }
  const refused = findClaimFault(parsedHeader.typ, claims, expected)
  if (refused) return { refused }
  const key = await keyOf(parsedHeader.kid)
  if (!key) return { refused: 'unknown_key' }
  return key.algorithms.includes(algorithm) && (await isSignatureValid(token, key, algorithm))
    ? { payload: claims }
    : { refused: 'bad_signature' }
}

/** Reads the issuer of an unverified token, to select the provider that verifies it. */
export function readIssuer(token: string): string | undefined {
  if (token.length > max_token_bytes) return undefined
  return z.looseObject({ iss: z.string() }).safeParse(parseUniqueJson(token.split('.')[1] ?? '')).data?.iss
}

async function isSignatureValid(token: string, { key }: ProviderKey, algorithm: ProviderAlgorithm): Promise<boolean> {
  try {
    await compactVerify(token, key, { algorithms: [algorithm] })
    return true
  } catch {
    return false
  }
}

function findClaimFault(
  typ: string | undefined,
  claims: ProviderTokenPayload,
  expected: ProviderTokenPolicy,
): ProviderTokenRefusal | undefined {
  const { issuer, audience, clients, now, skew_s } = expected
  const now_s = now / 1000
  if (!isAccessToken(typ, claims.typ)) return 'not_an_access_token'
  if (claims.cnf !== undefined) return 'bound_to_a_key'
  if (claims.iss !== issuer) return 'wrong_issuer'
  if (![claims.aud].flat().includes(audience)) return 'wrong_audience'
  if (clients.length > 0 && !clients.includes(claims.azp ?? claims.client_id ?? '')) return 'wrong_client'
  if (now_s >= claims.exp + skew_s) return 'expired'
  if (Math.max(claims.iat, claims.nbf ?? claims.iat) > now_s + skew_s) return 'not_yet_valid'
  return undefined
}

/**
 * RFC 9068 says it in the header, Keycloak by a claim `typ` of "Bearer". ID, refresh and logout tokens say something
 * else there, or nothing: what does not say that it is an access token is none.
 */
function isAccessToken(typ: string | undefined, claimed: unknown): boolean {
  const isMarked = typ !== undefined && /^(application\/)?at\+jwt$/i.test(typ)
  if (!isMarked && typ !== undefined && typ.toUpperCase() !== 'JWT') return false
  return claimed === undefined ? isMarked : claimed === 'Bearer'
}
