// Tokens of the site's own issuer without a running daemon: minted, inspected, revoked.

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { issuedClaims } from '../../../adapters/identity/offline/issued-token.ts'
import {
  type MintClaimsInput,
  type MintedToken,
  mintClaims,
  offlineIssuer,
  roleAudienceUrn,
  siteIssuerUrn,
} from '../../../adapters/identity/offline/issuer.ts'
import { fileRevocations, revocation } from '../../../adapters/identity/offline/revocations.ts'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { issueToken, type TokenPayload, verifyToken } from '../../../adapters/keys/jose/tokens.ts'
import { passphraseReader } from '../../boot/host/passphrase.ts'
import { findSigner, readListedKeys } from '../../boot/identity/token-key-list.ts'
import { revocationsFile, type SiteFolder } from '../../boot/storage/site-folder.ts'
import { parseJson } from '../../kernel/encoding/parse-json.ts'
import { formatFieldErrors, parseWithSchema } from '../../kernel/error/parsing.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { ssoSettings } from '../../kernel/settings/sso-settings.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { requireDataFolder } from '../audit/require-data-folder.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'

/** Signs with the active token key. `now` in epoch milliseconds, `ttl_s` in seconds. */
async function mintToken(
  folder: SiteFolder,
  env: EnvironmentVariables,
  claimsInput: MintClaimsInput,
  ttl_s: number,
  now: number,
): Promise<MintedToken> {
  const { platform, labels, identity } = readSiteSettings(folder, env)
  const level = claimsInput.clearance?.level
  if (level !== undefined && !labels.levels.includes(level)) {
    throw new OfflineCommandError(2, `the profile has no level "${level}"; the levels are ${labels.levels.join(', ')}`)
  }
  const key = findSigner(readKeyFiles(folder.keys), readListedKeys(folder))
  if (!key)
    throw new OfflineCommandError(
      3,
      'the site has no active token key',
      '`platform keys generate --use token` makes one',
    )
  const issuer = offlineIssuer({
    siteName: platform.name,
    sign: (payload) => issueToken(key, payload as TokenPayload, passphraseReader(identity.keys_passphrase_file)),
    verify: async () => ({ refused: 'not_requested' }),
    revocations: fileRevocations(revocationsFile(folder)),
    now: () => now,
    random: (bytes) => randomBytes(bytes).toString('hex'),
  })
  const validation = parseWithSchema(mintClaims, claimsInput)
  if (!validation.success)
    throw new OfflineCommandError(2, `the token cannot be minted: ${formatFieldErrors(validation.errors)}`)
  return await issuer.mint(validation.data, ttl_s)
}

/** Mints a token for another subject, and records it. */
export async function mintRecordedToken(
  folder: SiteFolder,
  env: EnvironmentVariables,
  claimsInput: MintClaimsInput,
  ttl_s: number,
  now: number,
): Promise<MintedToken> {
  requireDataFolder(folder)
  const minted = await mintToken(folder, env, claimsInput, ttl_s, now)
  const { sub, tenant_id, roles } = claimsInput
  const detail = { sub, tenant_id, roles: [...(roles ?? [])], exp: minted.exp }
  await recordOperatorAction(folder, env, { action: 'site.token.mint', target: minted.jti, detail })
  return minted
}

/**
 * Mints a token for a person at this machine, with the site's tenant and highest level; valid at one role if it is
 * named.
 */
export async function mintOperatorToken(
  folder: SiteFolder,
  env: EnvironmentVariables,
  subject: string,
  now: number,
  role: string | undefined,
) {
  const { platform, labels } = readSiteSettings(folder, env)
  const level = labels.levels.at(-1)
  const claimsInput: MintClaimsInput = {
    sub: subject,
    tenant_id: platform.tenant_id,
    roles: ['admin'],
    ...(role === undefined ? {} : { aud: roleAudienceUrn(platform.name, role) }),
    ...(level === undefined ? {} : { clearance: { level } }),
  }
  return await mintToken(folder, env, claimsInput, 300, now)
}

export type TokenInspection = {
  readonly state: 'valid' | 'expired' | 'revoked' | 'not valid'
  /** The reason why it is not valid, as given by the verifier. */
  readonly reason?: string
  /** The claims of the token; not trustworthy unless it is valid. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** Verifies a token as the site does, with the provider's keys for its tokens; undefined if the text is not a token. */
export async function inspectToken(
  folder: SiteFolder,
  env: EnvironmentVariables,
  token: string,
  now: number,
): Promise<TokenInspection | undefined> {
  const claims = decodeUnverifiedClaims(token)
  if (!claims) return undefined
  const verdict =
    (await verifyProviderToken(folder, env, token, now)) ?? (await verifySiteToken(folder, env, token, now))
  if ('refused' in verdict) {
    const state = verdict.refused === 'expired' ? 'expired' : 'not valid'
    return { state, reason: verdict.refused.replaceAll('_', ' '), claims }
  }
  const issued = issuedClaims.safeParse(verdict.payload)
  if (!issued.success) return { state: 'not valid', reason: 'claims', claims }
  const isRevoked = fileRevocations(revocationsFile(folder)).isRevoked(issued.data)
  return { state: isRevoked ? 'revoked' : 'valid', claims }
}

function verifySiteToken(folder: SiteFolder, env: EnvironmentVariables, token: string, now: number) {
  const { platform, identity } = readSiteSettings(folder, env)
  const issuer = siteIssuerUrn(platform.name)
  const expected = { issuer, audience: issuer, now, skew_s: identity.clock_skew_s }
  return verifyToken(token, readListedKeys(folder), expected)
}

/** Undefined for a token of another issuer; throws `Refusal('unavailable')` if the provider is unreachable. */
async function verifyProviderToken(folder: SiteFolder, env: EnvironmentVariables, token: string, now: number) {
  const { resolved, identity } = readSiteSettings(folder, env)
  if (identity.provider === 'offline') return undefined
  const { ssoTokenVerifier } = await import('../../boot/identity/sso-provider.ts')
  const sso = getSettings(resolved, ssoSettings)
  const ignore = () => undefined
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
  const clocks = { now: () => now, monotonic: () => now }
  const provider = ssoTokenVerifier({ sso, skew_s: identity.clock_skew_s, log, ...clocks })
  return provider.isNamedIn(token) ? provider.verify(token) : undefined
}

export type TokenRevocationTarget = { readonly jti: string } | { readonly subject: string }

/** Takes effect at once for every process of the site. `now` in epoch milliseconds. */
export async function revokeToken(
  folder: SiteFolder,
  env: EnvironmentVariables,
  revoked: TokenRevocationTarget,
  reason: string,
  now: number,
): Promise<void> {
  const file = revocationsFile(folder)
  // Created only by `init`: a new, empty list would restore every token revoked before.
  if (!existsSync(file))
    throw new OfflineCommandError(3, `${file} is missing`, 'restore it from a backup: without it no token is accepted')
  const validation = parseWithSchema(revocation, { ...revoked, reason, at: new Date(now).toISOString() })
  if (!validation.success)
    throw new OfflineCommandError(2, `the revocation is not valid: ${formatFieldErrors(validation.errors)}`)
  requireDataFolder(folder)
  fileRevocations(file).revoke(validation.data)
  const target = 'jti' in revoked ? revoked.jti : revoked.subject
  await recordOperatorAction(folder, env, { action: 'site.token.revoke', target, detail: { ...revoked, reason } })
}

/** Reads the id of a token without verifying it: revoking a forged token does no harm. */
export function readTokenId(token: string): string | undefined {
  const jti = decodeUnverifiedClaims(token)?.jti
  return typeof jti === 'string' ? jti : undefined
}

function decodeUnverifiedClaims(token: string): Record<string, unknown> | undefined {
  const [, body, , ...extra] = token.split('.')
  if (body === undefined || extra.length > 0) return undefined
  const claims = parseJson(Buffer.from(body, 'base64url'))
  return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : undefined
}
