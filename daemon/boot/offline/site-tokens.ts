// Tokens of the site's own issuer without a running daemon: minted, read, revoked.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { issuedClaims } from '../../../adapters/identity/offline/issued-token.ts'
import {
  audienceOf,
  issuerOf,
  type MintClaims,
  type Minted,
  mintClaims,
  offlineIssuer,
} from '../../../adapters/identity/offline/issuer.ts'
import { fileRevocations, revocation } from '../../../adapters/identity/offline/revocations.ts'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { issueToken, type TokenPayload, verifyToken } from '../../../adapters/keys/jose/tokens.ts'
import { inOneLine, parseBy } from '../../kernel/parsing.ts'
import { ssoSettings } from '../../kernel/sso-settings.ts'
import { listedKeys, signerAmong } from '../listed-keys.ts'
import { passphraseIn } from '../passphrase.ts'
import { valuesOf } from '../profile.ts'
import { revocationsOf, type SiteFolder } from '../site-folder.ts'
import { record } from './deed.ts'
import { Objection } from './objection.ts'
import { type Environment, siteSettings } from './site-profile.ts'

/** Signs with the active token key. `now` in epoch milliseconds, `ttl_s` in seconds. */
async function mint(
  folder: SiteFolder,
  env: Environment,
  given: MintClaims,
  ttl_s: number,
  now: number,
): Promise<Minted> {
  const { platform, labels, identity } = siteSettings(folder, env)
  const level = given.clearance?.level
  if (level !== undefined && !labels.levels.includes(level)) {
    throw new Objection(2, `there is no level "${level}"; the profile has ${labels.levels.join(', ')}`)
  }
  const key = signerAmong(readKeyFiles(folder.keys), listedKeys(folder))
  if (!key) throw new Objection(3, 'the site has no active token key', '`platform keys generate --use token` makes one')
  const issuer = offlineIssuer({
    siteName: platform.name,
    sign: (payload) => issueToken(key, payload as TokenPayload, passphraseIn(identity.keys_passphrase_file)),
    verify: async () => ({ refused: 'not asked' }),
    revocations: fileRevocations(revocationsOf(folder)),
    now: () => now,
    random: (bytes) => randomBytes(bytes).toString('hex'),
  })
  const checked = parseBy(mintClaims, given)
  if (!checked.success) throw new Objection(2, `the token cannot be minted: ${inOneLine(checked.errors)}`)
  return await issuer.mint(checked.data, ttl_s)
}

/** The same for somebody else, which is worth a record. */
export async function issue(
  folder: SiteFolder,
  env: Environment,
  given: MintClaims,
  ttl_s: number,
  now: number,
): Promise<Minted> {
  const minted = await mint(folder, env, given, ttl_s, now)
  const { sub, tenant_id, roles } = given
  const detail = { sub, tenant_id, roles: [...(roles ?? [])], exp: minted.exp }
  await record(folder, env, { action: 'site.token.mint', target: minted.jti, detail })
  return minted
}

/** A token for a person at this machine: the site's tenant and all that its policy has, at one role where it is named. */
export async function mintForOperator(
  folder: SiteFolder,
  env: Environment,
  subject: string,
  now: number,
  role: string | undefined,
) {
  const { platform, labels } = siteSettings(folder, env)
  const level = labels.levels.at(-1)
  const given: MintClaims = {
    sub: subject,
    tenant_id: platform.tenant_id,
    roles: ['admin'],
    ...(role === undefined ? {} : { aud: audienceOf(platform.name, role) }),
    ...(level === undefined ? {} : { clearance: { level } }),
  }
  return await mint(folder, env, given, 300, now)
}

export type Inspection = {
  readonly state: 'valid' | 'expired' | 'revoked' | 'not valid'
  /** Why it is not valid, in the words of the verifier. */
  readonly reason?: string
  /** What the token says; not to be believed when it is not valid. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** Judges a token as the site does, one of its identity provider by a look at it; undefined when the text is no token at all. */
export async function inspect(
  folder: SiteFolder,
  env: Environment,
  token: string,
  now: number,
): Promise<Inspection | undefined> {
  const claims = unverifiedClaims(token)
  if (!claims) return undefined
  const verdict = (await ofProvider(folder, env, token, now)) ?? (await ofSite(folder, env, token, now))
  if ('refused' in verdict) {
    const state = verdict.refused === 'expired' ? 'expired' : 'not valid'
    return { state, reason: verdict.refused.replaceAll('_', ' '), claims }
  }
  const said = issuedClaims.safeParse(verdict.payload)
  if (!said.success) return { state: 'not valid', reason: 'claims', claims }
  const isRevoked = fileRevocations(revocationsOf(folder)).isRevoked(said.data)
  return { state: isRevoked ? 'revoked' : 'valid', claims }
}

function ofSite(folder: SiteFolder, env: Environment, token: string, now: number) {
  const { platform, identity } = siteSettings(folder, env)
  const issuer = issuerOf(platform.name)
  const expected = { issuer, audience: issuer, now, skew_s: identity.clock_skew_s }
  return verifyToken(token, listedKeys(folder), expected)
}

/** Undefined for a token that is not the identity provider's; throws `Refused('unavailable')` when that is not there. */
async function ofProvider(folder: SiteFolder, env: Environment, token: string, now: number) {
  const { resolved, identity } = siteSettings(folder, env)
  if (identity.provider === 'offline') return undefined
  const { foreignTokens } = await import('../sso.ts')
  const sso = valuesOf(resolved, ssoSettings)
  const silent = () => undefined
  const log = { debug: silent, info: silent, warn: silent, error: silent }
  const clocks = { now: () => now, monotonic: () => now }
  const provider = foreignTokens({ sso, skew_s: identity.clock_skew_s, log, ...clocks })
  return provider.isNamedIn(token) ? provider.verify(token) : undefined
}

export type Revoked = { readonly jti: string } | { readonly subject: string }

/** In force at once for every process of the site. `now` in epoch milliseconds. */
export async function revoke(
  folder: SiteFolder,
  env: Environment,
  what: Revoked,
  reason: string,
  now: number,
): Promise<void> {
  const file = revocationsOf(folder)
  // Made by `init` alone: a new, empty list would bring back every token revoked before.
  if (!existsSync(file))
    throw new Objection(3, `${file} is missing`, 'restore it from a backup: without it no token is accepted')
  const checked = parseBy(revocation, { ...what, reason, at: new Date(now).toISOString() })
  if (!checked.success) throw new Objection(2, `it cannot be revoked: ${inOneLine(checked.errors)}`)
  fileRevocations(file).revoke(checked.data)
  const target = 'jti' in what ? what.jti : what.subject
  await record(folder, env, { action: 'site.token.revoke', target, detail: { ...what, reason } })
}

/** The id inside a token, verified or not: revoking a forged one harms nobody. */
export function jtiOf(token: string): string | undefined {
  const jti = unverifiedClaims(token)?.jti
  return typeof jti === 'string' ? jti : undefined
}

function unverifiedClaims(token: string): Record<string, unknown> | undefined {
  const [, body, , ...more] = token.split('.')
  if (body === undefined || more.length > 0) return undefined
  try {
    const claims: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'))
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
