// Access tokens (RFC 9068): issued with the site's token key, and judged by pinned keys alone.
import { CompactSign, compactVerify } from 'jose'
import * as z from 'zod'
import { dropRevokedKeys, hasKeyEnded } from '../../../daemon/kernel/cryptography/counting-signers.ts'
import { isCanonicalBase64url } from '../../../daemon/kernel/cryptography/public-jwk.ts'
import type { PublicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import { importSigningKey, importVerifyingKey } from './crypto-keys.ts'
import { parseCompactJson } from './encoded-json.ts'
import type { StoredKey } from './key-files.ts'
import { parseStrictHeader } from './strict-header.ts'
import type { TokenKey } from './token-keys.ts'

/** An ML-DSA-87 token is just above 6 KiB; no honest one needs more than this. */
export const max_token_bytes = 8_192

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
  | 'not_its_own'
  | 'wrong_issuer'
  | 'wrong_audience'
  | 'expired'
  | 'not_yet_valid'

export type TokenVerdict = { readonly payload: TokenPayload } | { readonly refused: TokenRefusal }

/** Undefined `only_subject`: the site's own key, which speaks for anybody. */
type PinnedTokenKey = PublicKey & Pick<TokenKey, 'only_subject'>

export type TokenPolicy = {
  readonly issuer: string
  readonly audience: string
  /** Audience of the verifying role; absent: a token for one role is not accepted. */
  readonly role_audience?: string
  /** Epoch milliseconds. */
  readonly now: number
  /** Seconds by which clocks may differ (default: 60). */
  readonly skew_s?: number
}

/**
 * The token in compact form. Throws for a key that is not an active token key, when it would be over 8 KiB, and
 * `KeyLockedError`.
 */
export async function issueToken(
  key: StoredKey,
  claims: TokenPayload,
  passphrase?: () => string | undefined,
): Promise<string> {
  const { algorithm, kid, use, status } = key.public_key
  if (use !== 'token' || status !== 'active') throw new Error(`${kid} is not an active token key`)
  const bytes = Buffer.from(JSON.stringify(payload.parse(claims)))
  const token = await new CompactSign(bytes)
    .setProtectedHeader({ alg: algorithm, kid, typ: 'at+jwt' })
    .sign(await importSigningKey(key, passphrase))
  if (token.length > max_token_bytes)
    throw new Error(`the token has ${token.length} bytes; at most ${max_token_bytes} are accepted`)
  return token
}

/** The longest life of a token that a role makes for itself. */
export const max_role_token_s = 300

/** All that a role's own key may say: that this is the role, the site's service in every tenant, for a few minutes. */
const roleTokenPayload = z.strictObject({
  iss: z.string(),
  aud: z.string(),
  sub: z.string(),
  client_id: z.string(),
  tenant_id: z.literal('*'),
  roles: z.tuple([z.literal('service')]),
  jti: z.string(),
  iat: z.int(),
  exp: z.int(),
})

function isRolesOwnToken(claims: TokenPayload, subject: string): boolean {
  const { success, data } = roleTokenPayload.safeParse(claims)
  return success && data.sub === subject && data.client_id === subject && data.exp - data.iat <= max_role_token_s
}

/**
 * Judges a token. The algorithm is that of the pinned key, so a header can select neither `none` nor HS* with a public
 * key. Retired keys still verify what they signed. A role's key counts for that role's own token
 * alone, and only at the one role that it is meant for. Never throws for a bad token.
 */
export async function verifyToken(
  token: string,
  keys: readonly PinnedTokenKey[],
  expected: TokenPolicy,
): Promise<TokenVerdict> {
  if (token.length > max_token_bytes) return { refused: 'too_large' }
  const [head = '', body = '', signature = '', ...more] = token.split('.')
  const header = parseStrictHeader(head)
  const wellFormed = header?.typ === 'at+jwt' && more.length === 0 && isCanonicalBase64url(signature)
  if (!header || !wellFormed) return { refused: 'malformed' }
  const key = findPinnedKey(header.kid, keys, expected)
  if (typeof key === 'string') return { refused: key }
  if (key.algorithm !== header.alg || !(await isSignatureValid(token, key))) return { refused: 'bad_signature' }
  const claims = payload.safeParse(parseCompactJson(body)).data
  if (!claims) return { refused: 'malformed' }
  if (key.only_subject !== undefined && !isRolesOwnToken(claims, key.only_subject)) return { refused: 'not_its_own' }
  const refused = findClaimFault(claims, key, expected)
  return refused ? { refused } : { payload: claims }
}

function findPinnedKey(
  kid: string,
  keys: readonly PinnedTokenKey[],
  { now, skew_s = 60 }: TokenPolicy,
): PinnedTokenKey | TokenRefusal {
  const named = keys.filter((each) => each.kid === kid && each.use === 'token')
  if (named.length === 0) return 'unknown_key'
  const unrevoked = dropRevokedKeys(keys).filter((each) => named.includes(each))
  if (unrevoked.length === 0) return 'key_revoked'
  // By the clock, not by the time that the token states: whoever finds an ended key can choose that time.
  return unrevoked.find((each) => !hasKeyEnded(each, now - skew_s * 1000)) ?? 'key_expired'
}

async function isSignatureValid(token: string, record: PublicKey): Promise<boolean> {
  const key = await importVerifyingKey(record)
  if (!key) return false
  try {
    await compactVerify(token, key, { algorithms: [record.algorithm] })
    return true
  } catch {
    return false
  }
}

function findClaimFault(
  claims: TokenPayload,
  { only_subject }: PinnedTokenKey,
  expected: TokenPolicy,
): TokenRefusal | undefined {
  const { issuer, audience, role_audience, now, skew_s = 60 } = expected
  const now_s = now / 1000
  if (claims.iss !== issuer) return 'wrong_issuer'
  const accepted = only_subject === undefined ? [audience, role_audience] : [role_audience]
  if (![claims.aud].flat().some((meant) => accepted.includes(meant))) return 'wrong_audience'
  if (now_s >= claims.exp + skew_s) return 'expired'
  if (Math.max(claims.iat, claims.nbf ?? claims.iat) > now_s + skew_s) return 'not_yet_valid'
  return undefined
}
