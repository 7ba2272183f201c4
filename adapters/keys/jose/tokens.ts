// Access tokens (RFC 9068): issued with the site's token key, and judged by pinned keys alone.
import { CompactSign, compactVerify } from 'jose'
import * as z from 'zod'
import type { PublicKey } from '../../../daemon/kernel/keys.ts'
import { signingKey, verifyingKey } from './crypto-keys.ts'
import type { StoredKey } from './key-files.ts'
import { isCanonicalBase64url } from './public-jwk.ts'
import { strictHeader, strictJson } from './strict-header.ts'

/** An ML-DSA-87 token is just above 6 KiB; no honest one needs more than this. */
export const maxTokenBytes = 8_192

const payload = z.looseObject({
  iss: z.string(),
  aud: z.union([z.string(), z.array(z.string()).min(1).max(8)]),
  sub: z.string().min(1),
  jti: z.string().min(1),
  iat: z.int(),
  exp: z.int(),
  nbf: z.int().optional(),
})
/** Times are in seconds since 1970. */
export type TokenPayload = z.infer<typeof payload>

/** Why a token is not accepted: for the log, never for the caller. */
export type TokenRefusal =
  | 'too_large'
  | 'malformed'
  | 'unknown_key'
  | 'key_revoked'
  | 'key_expired'
  | 'bad_signature'
  | 'wrong_issuer'
  | 'wrong_audience'
  | 'expired'
  | 'not_yet_valid'

export type TokenVerdict = { readonly payload: TokenPayload } | { readonly refused: TokenRefusal }

export type Expected = {
  readonly issuer: string
  readonly audience: string
  /** Epoch milliseconds. */
  readonly now: number
  /** Seconds by which clocks may differ; 60 unless said. */
  readonly skew_s?: number
}

/** The token in compact form. Throws for a key that is not an active token key, and when it would be over 8 KiB. */
export async function issueToken(key: StoredKey, claims: TokenPayload): Promise<string> {
  const { algorithm, kid, use, status } = key.public_key
  if (use !== 'token' || status !== 'active') throw new Error(`${kid} is no active token key`)
  const bytes = Buffer.from(JSON.stringify(payload.parse(claims)))
  const token = await new CompactSign(bytes)
    .setProtectedHeader({ alg: algorithm, kid, typ: 'at+jwt' })
    .sign(await signingKey(key))
  if (token.length > maxTokenBytes) throw new Error(`a token of ${token.length} bytes would never be accepted`)
  return token
}

/**
 * Judges a token. The algorithm is that of the pinned key, so neither `none` nor HS* with a public key can be
 * asked for by a header. Retired keys still verify what they signed. Never throws for a bad token.
 */
export async function verifyToken(
  token: string,
  keys: readonly PublicKey[],
  expected: Expected,
): Promise<TokenVerdict> {
  if (token.length > maxTokenBytes) return { refused: 'too_large' }
  const [head = '', body = '', signature = '', ...more] = token.split('.')
  const header = strictHeader(head)
  const wellFormed = header?.typ === 'at+jwt' && more.length === 0 && isCanonicalBase64url(signature)
  if (!header || !wellFormed) return { refused: 'malformed' }
  const key = pinnedKey(header.kid, keys, expected)
  if (typeof key === 'string') return { refused: key }
  if (key.algorithm !== header.alg || !(await holds(token, key))) return { refused: 'bad_signature' }
  const claims = payload.safeParse(strictJson(body)).data
  if (!claims) return { refused: 'malformed' }
  const refused = objection(claims, expected)
  return refused ? { refused } : { payload: claims }
}

function pinnedKey(kid: string, keys: readonly PublicKey[], { now, skew_s = 60 }: Expected): PublicKey | TokenRefusal {
  const key = keys.find((each) => each.kid === kid && each.use === 'token')
  if (!key) return 'unknown_key'
  if (keys.some((each) => each.fingerprint === key.fingerprint && each.status === 'revoked')) return 'key_revoked'
  if (key.not_after !== undefined && now >= Date.parse(key.not_after) + skew_s * 1000) return 'key_expired'
  return key
}

async function holds(token: string, record: PublicKey): Promise<boolean> {
  const key = await verifyingKey(record)
  if (!key) return false
  try {
    await compactVerify(token, key, { algorithms: [record.algorithm] })
    return true
  } catch {
    return false
  }
}

function objection(claims: TokenPayload, { issuer, audience, now, skew_s = 60 }: Expected): TokenRefusal | undefined {
  const now_s = now / 1000
  if (claims.iss !== issuer) return 'wrong_issuer'
  if (![claims.aud].flat().includes(audience)) return 'wrong_audience'
  if (now_s >= claims.exp + skew_s) return 'expired'
  if (Math.max(claims.iat, claims.nbf ?? claims.iat) > now_s + skew_s) return 'not_yet_valid'
  return undefined
}
