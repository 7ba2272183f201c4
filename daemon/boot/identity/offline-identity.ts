// The offline identity of a site, wired: its provider for every role, a key of its own for each, its issuer for the
// site role.
import { readFileSync } from 'node:fs'
import type { TokenVerifier } from '../../../adapters/identity/offline/issued-token.ts'
import {
  max_ttl_s,
  type OfflineIssuer,
  offlineIssuer,
  roleAudienceUrn,
  siteIssuerUrn,
} from '../../../adapters/identity/offline/issuer.ts'
import { offlineProvider } from '../../../adapters/identity/offline/provider.ts'
import { fileRevocations, type Revocations } from '../../../adapters/identity/offline/revocations.ts'
import { buildJwks } from '../../../adapters/keys/jose/jwks.ts'
import type { StoredKey } from '../../../adapters/keys/jose/key-files.ts'
import { openKeyFolder } from '../../../adapters/keys/jose/key-folder.ts'
import { openTokenKeys, type TokenKeyList } from '../../../adapters/keys/jose/token-keys.ts'
import { issueToken, max_role_token_s, type TokenPayload, verifyToken } from '../../../adapters/keys/jose/tokens.ts'
import { sha256 } from '../../kernel/encoding/canonical-json.ts'
import { Refusal } from '../../kernel/error/errors.ts'
import { builtInRoles, type IdentityProvider } from '../../kernel/identity/identity.ts'
import type { Site } from '../../kernel/role/site.ts'
import type { identitySettings } from '../../kernel/settings/platform-settings.ts'
import type { SettingValues } from '../../kernel/settings/settings.ts'
import type { Log } from '../../kernel/telemetry/log.ts'
import type { Issuer } from '../../roles/site/parts.ts'
import type { OAuthClient } from '../../roles/site/token/model.ts'
import { passphraseReader } from '../host/passphrase.ts'
import { revocationsFile, roleKeysFolder, type SiteFolder, tokenKeysFile } from '../storage/site-folder.ts'
import { findSigner, roleSubject } from './token-key-list.ts'

export type SiteIdentity = {
  /** Judges what is shown to this role. */
  providerFor(role: string): IdentityProvider
  /** Role name to permissions: the built-in ones and the profile's. */
  readonly role_table: Readonly<Record<string, readonly string[]>>
  /** A short-lived token, signed with the key of the role, for requests to `target` alone. */
  serviceToken(role: string, target: string): Promise<string>
  /** Of the identity provider; undefined for a site without one. */
  readonly health: ForeignTokenVerifier['health'] | undefined
  /** For the site role alone: opens the site's private keys and reads the secrets of its clients. */
  issuer(): Issuer
}

/** Tokens of an issuer outside the site, which says who it is by a name that the profile pins. */
export type ForeignTokenVerifier = {
  isNamedIn(token: string): boolean
  readonly verify: TokenVerifier
  /** Changes whenever what it has verified before may count no more. */
  stamp(): string
  health(): { readonly ok: boolean; readonly detail: string }
}

export type OfflineIdentityOptions = {
  readonly folder: SiteFolder
  readonly site: Site
  readonly settings: SettingValues<typeof identitySettings>
  readonly log: Log
  readonly now: () => number
  readonly random: (bytes: number) => string
  /** Absent: the site's own tokens alone count. */
  readonly foreignVerifier?: ForeignTokenVerifier | undefined
  /** Judges what is shown beside tokens. */
  readonly extendProvider?: ((tokens: IdentityProvider, revocations: Revocations) => IdentityProvider) | undefined
}

/** Two looks at the disk for each request would be a tenth of its cost; a person's revocation may take this long. */
const recheck = { every_ms: 5, monotonic: () => performance.now() }

/** The public part: every process verifies tokens by it, without a private key. */
type TokenVerificationContext = OfflineIdentityOptions & {
  readonly listed: TokenKeyList
  readonly revocations: Revocations
}

export function offlineIdentity(given: OfflineIdentityOptions): SiteIdentity {
  const { folder, settings, log, now, foreignVerifier, extendProvider = (tokens) => tokens } = given
  const listed = openTokenKeys(tokenKeysFile(folder), recheck)
  const revocations = fileRevocations(revocationsFile(folder), recheck)
  const bench: TokenVerificationContext = { ...given, listed, revocations }
  const role_table = { ...settings.roles, ...builtInRoles }
  const refused = (reason: string) => log.info('identity.token.refused', { reason })
  const keysStamp = () => `${listed.stamp()} ${foreignVerifier?.stamp() ?? ''}`
  return {
    role_table,
    health: foreignVerifier?.health,
    providerFor: (role) => {
      const verify = (token: string) => verifyTokenFor(bench, token, role)
      return extendProvider(offlineProvider({ verify, revocations, keysStamp, now, onRefused: refused }), revocations)
    },
    serviceToken: serviceTokenMinter(bench),
    issuer: () => siteIssuer(bench, Object.keys(role_table)),
  }
}

/**
 * Without `role`: only what is meant for the whole site. The issuer that a token names says by whose keys it is judged.
 */
function verifyTokenFor(
  { listed, site, settings, now, foreignVerifier }: TokenVerificationContext,
  token: string,
  role?: string,
) {
  if (foreignVerifier?.isNamedIn(token)) return foreignVerifier.verify(token)
  const name = siteIssuerUrn(site.name)
  const own = role === undefined ? {} : { role_audience: roleAudienceUrn(site.name, role) }
  const expected = { issuer: name, audience: name, ...own, now: now(), skew_s: settings.clock_skew_s }
  return verifyToken(token, listed.keys(), expected)
}

function tokenMinter(
  bench: TokenVerificationContext,
  keyOf: () => StoredKey,
  passphrase?: () => string | undefined,
): OfflineIssuer {
  const { site, revocations, now, random } = bench
  const sign = (payload: unknown) => issueToken(keyOf(), payload as TokenPayload, passphrase)
  return offlineIssuer({
    siteName: site.name,
    verify: (token) => verifyTokenFor(bench, token),
    revocations,
    now,
    random,
    sign,
  })
}

/** The key folder of a role is opened with its first request to another process. */
function serviceTokenMinter(bench: TokenVerificationContext): SiteIdentity['serviceToken'] {
  const issuers = new Map<string, OfflineIssuer>()
  const issuerFor = (role: string) => {
    const keys = openKeyFolder(roleKeysFolder(bench.folder, role), recheck)
    return tokenMinter(bench, () => {
      const key = findSigner(keys.keys(), bench.listed.keys(), roleSubject(role))
      if (!key) throw new Refusal('unavailable', `the role ${role} has no key that the site lists`)
      return key
    })
  }
  return async (role, target) => {
    const issuer = issuers.get(role) ?? issuerFor(role)
    issuers.set(role, issuer)
    const sub = roleSubject(role)
    const aud = roleAudienceUrn(bench.site.name, target)
    return (await issuer.mint({ sub, tenant_id: '*', roles: ['service'], aud }, max_role_token_s)).token
  }
}

function siteIssuer(bench: TokenVerificationContext, role_names: string[]): Issuer {
  const { folder, site, settings, listed, revocations, now } = bench
  const keys = openKeyFolder(folder.keys, recheck)
  const issuer = tokenMinter(
    bench,
    () => {
      const key = findSigner(keys.keys(), listed.keys())
      if (!key) throw new Refusal('unavailable', 'the site has no active token key')
      return key
    },
    passphraseReader(settings.keys_passphrase_file),
  )
  return {
    issuer: issuer.issuer,
    audience: issuer.audience,
    clients: settings.clients.map((given) => readClient(given, site)),
    role_names,
    mint: async (claims, ttl_s, latest_exp) =>
      (await issuer.mint(claims, Math.min(ttl_s, settings.token_ttl_s, max_ttl_s), latest_exp)).token,
    verifySubject: issuer.verifySubject,
    async revoke(what, reason) {
      revocations.revoke({ ...what, reason, at: new Date(now()).toISOString() })
    },
    keys: () => listed.keys().filter((key) => key.only_subject === undefined && key.status !== 'revoked'),
    jwks: buildJwks,
  }
}

/** The secret is read once and only its digest kept. Throws with the client's name when its file cannot be read. */
function readClient(given: SettingValues<typeof identitySettings>['clients'][number], site: Site): OAuthClient {
  const {
    client_id,
    secret_file,
    subject = client_id,
    tenant_id = site.tenant_id,
    roles,
    clearance,
    may_exchange,
  } = given
  return {
    client_id,
    secret_sha256: sha256(readClientSecret(secret_file, client_id)),
    subject,
    tenant_id,
    roles: [...roles],
    ...(clearance ? { clearance } : {}),
    may_exchange,
  }
}

function readClientSecret(file: string, client_id: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch {
    throw new Error(`the secret file of the client ${client_id} cannot be read`)
  }
  if (text.length < 16) throw new Error(`the secret of the client ${client_id} is shorter than 16 characters`)
  return text
}
