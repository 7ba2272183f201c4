// Connects the offline identity of a site: a provider for every role, a key for each, and the issuer of the site role.
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
import { Refusal } from '../../kernel/error/errors.ts'
import type { Principal } from '../../kernel/identity/delegation.ts'
import { builtInRoles, type IdentityProvider } from '../../kernel/identity/identity.ts'
import type { Site } from '../../kernel/role/site.ts'
import type { identitySettings } from '../../kernel/settings/platform-settings.ts'
import type { SettingValues } from '../../kernel/settings/settings.ts'
import type { Log } from '../../kernel/telemetry/log.ts'
import type { Delegations } from '../../roles/site/delegation/model.ts'
import type { Issuer } from '../../roles/site/parts.ts'
import { passphraseReader } from '../host/passphrase.ts'
import { revocationsFile, roleKeysFolder, type SiteFolder, tokenKeysFile } from '../storage/site-folder.ts'
import { type ProviderExchange, siteDelegations } from './delegations.ts'
import { findOrigin } from './find-origin.ts'
import { readOAuthClient } from './read-oauth-client.ts'
import { findSigner, roleSubject } from './token-key-list.ts'

export type SiteIdentity = {
  /** Verifies credentials that callers present to this role. */
  providerFor(role: string): IdentityProvider
  /** Permissions by role name, built-in and of the profile. */
  readonly role_table: Readonly<Record<string, readonly string[]>>
  /** A short-lived token signed with the key of the role, valid only at the role `target`. */
  serviceToken(role: string, target: string): Promise<string>
  /** Health of the identity provider; undefined without one. */
  readonly health: ForeignTokenVerifier['health'] | undefined
  /** Only for the site role: reads the site's private keys and the secrets of its clients. */
  issuer(): Issuer
  /** Only for the site role. */
  delegations(): Delegations
}

/** Verifies tokens of an issuer outside the site, whose name the profile pins. */
export type ForeignTokenVerifier = {
  readonly issuer: string
  /** Roles of the site that its tokens can give. */
  readonly roles: readonly string[]
  /** Absent: the profile names no client of the issuer. */
  readonly exchange?: ProviderExchange | undefined
  isNamedIn(token: string): boolean
  readonly verify: TokenVerifier
  /** Changes whenever an earlier verification may no longer hold. */
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
  /** Absent: only the site's own tokens are valid. */
  readonly foreignVerifier?: ForeignTokenVerifier | undefined
  /** Roles of the site that offer tools, in whichever process they run. */
  readonly tool_roles: readonly string[]
  /** Holders of certificates that the profile lists. */
  readonly certificate_holders: readonly Principal[]
  /** Adds credentials other than tokens. */
  readonly extendProvider?: ((tokens: IdentityProvider, revocations: Revocations) => IdentityProvider) | undefined
  readonly findRole?: IdentityProvider['findRole']
  /** Throws `Refusal('unavailable')` while the lists of this machine may lack revocations. Absent: it has the lists themselves. */
  readonly requireFreshLists?: (() => void) | undefined
}

/** Two disk accesses would be a tenth of the cost of a request, so a revocation may take this long. */
const recheck = { every_ms: 5, monotonic: () => performance.now() }

/** Public data with which every process verifies tokens, without a private key. */
type TokenVerificationContext = OfflineIdentityOptions & {
  readonly tokenKeys: TokenKeyList
  readonly revocations: Revocations
}

export function offlineIdentity(options: OfflineIdentityOptions): SiteIdentity {
  const { folder, settings, log, now, foreignVerifier, findRole, extendProvider = (tokens) => tokens } = options
  const tokenKeys = openTokenKeys(tokenKeysFile(folder), recheck)
  const revocations = fileRevocations(revocationsFile(folder), recheck)
  const context: TokenVerificationContext = { ...options, tokenKeys, revocations }
  const role_table = { ...settings.roles, ...builtInRoles }
  const onRefused = (reason: string) => log.info('identity.token.refused', { reason })
  const keysStamp = () => {
    options.requireFreshLists?.()
    return `${tokenKeys.stamp()} ${foreignVerifier?.stamp() ?? ''}`
  }
  const providerFor = (role: string) => {
    const verify = (token: string) => verifyTokenFor(context, token, role)
    const provider = extendProvider(offlineProvider({ verify, revocations, keysStamp, now, onRefused }), revocations)
    return findRole ? { ...provider, findRole } : provider
  }
  return {
    role_table,
    health: foreignVerifier?.health,
    providerFor,
    serviceToken: serviceTokenMinter(context),
    issuer: () => siteIssuer(context, Object.keys(role_table)),
    delegations: () => openDelegations(context, Object.keys(role_table), providerFor),
  }
}

/** Verifies with the keys of the issuer that the token names. Without `role`: only tokens for the whole site. */
function verifyTokenFor(
  { tokenKeys, site, settings, now, foreignVerifier }: TokenVerificationContext,
  token: string,
  role?: string,
) {
  if (foreignVerifier?.isNamedIn(token)) return foreignVerifier.verify(token)
  const issuerName = siteIssuerUrn(site.name)
  const audience = role === undefined ? {} : { role_audience: roleAudienceUrn(site.name, role) }
  const expected = { issuer: issuerName, audience: issuerName, ...audience, now: now(), skew_s: settings.clock_skew_s }
  return verifyToken(token, tokenKeys.keys(), expected)
}

function tokenMinter(
  context: TokenVerificationContext,
  keyOf: () => StoredKey,
  passphrase?: () => string | undefined,
  longest_ttl_s?: number,
): OfflineIssuer {
  const { site, revocations, now, random } = context
  const sign = (payload: unknown) => issueToken(keyOf(), payload as TokenPayload, passphrase)
  return offlineIssuer({
    siteName: site.name,
    verify: (token) => verifyTokenFor(context, token),
    revocations,
    now,
    random,
    sign,
    ...(longest_ttl_s === undefined ? {} : { longest_ttl_s }),
  })
}

/** Mints tokens of roles; opens the key folder of a role at its first token. */
function serviceTokenMinter(context: TokenVerificationContext): SiteIdentity['serviceToken'] {
  const issuers = new Map<string, OfflineIssuer>()
  const issuerFor = (role: string) => {
    const keys = openKeyFolder(roleKeysFolder(context.folder, role), recheck)
    return tokenMinter(context, () => {
      const key = findSigner(keys.keys(), context.tokenKeys.keys(), roleSubject(role))
      if (!key)
        throw new Refusal(
          'unavailable',
          `the role ${role} has no key that the site lists; platform keys generate --use token --role ${role} makes one`,
        )
      return key
    })
  }
  return async (role, target) => {
    const issuer = issuers.get(role) ?? issuerFor(role)
    issuers.set(role, issuer)
    const sub = roleSubject(role)
    const aud = roleAudienceUrn(context.site.name, target)
    return (await issuer.mint({ sub, tenant_id: '*', roles: ['service'], aud }, max_role_token_s)).token
  }
}

/** Signs with the site's own token key. */
function siteTokenMinter(context: TokenVerificationContext, longest_ttl_s = max_ttl_s): OfflineIssuer {
  const { folder, settings, tokenKeys } = context
  const keys = openKeyFolder(folder.keys, recheck)
  const findKey = () => {
    const key = findSigner(keys.keys(), tokenKeys.keys())
    if (!key) throw new Refusal('unavailable', 'the site has no active token key')
    return key
  }
  return tokenMinter(context, findKey, passphraseReader(settings.keys_passphrase_file), longest_ttl_s)
}

function openDelegations(
  context: TokenVerificationContext,
  role_names: readonly string[],
  providerFor: SiteIdentity['providerFor'],
): Delegations {
  const { site, settings, tokenKeys, tool_roles, revocations, foreignVerifier, certificate_holders, now } = context
  const grant_life_s = settings.grant_days * 86_400
  return siteDelegations({
    siteName: site.name,
    register: {
      clients: settings.clients.map((client) => readOAuthClient(client, site)),
      certificate_holders,
      provider: foreignVerifier,
      role_names,
    },
    grant_life_s,
    audiences: settings.audiences,
    tool_roles,
    providerFor,
    issuer: siteTokenMinter(context, grant_life_s),
    tokenKeys: tokenKeys.keys,
    revocations,
    isOfProvider: providerTokenTest(context),
    exchange: foreignVerifier?.exchange,
    now,
  })
}

function providerTokenTest({ foreignVerifier }: TokenVerificationContext): (token: string) => boolean {
  return (token) => foreignVerifier?.isNamedIn(token) ?? false
}

function siteIssuer(context: TokenVerificationContext, role_names: string[]): Issuer {
  const { site, settings, tokenKeys, revocations, now } = context
  const issuer = siteTokenMinter(context)
  const clients = settings.clients.map((client) => readOAuthClient(client, site))
  return {
    issuer: issuer.issuer,
    audience: issuer.audience,
    clients,
    role_names,
    lifetime_s: Math.min(settings.token_ttl_s, max_ttl_s),
    mint: async (claims, ttl_s, latest_exp) => (await issuer.mint(claims, ttl_s, latest_exp)).token,
    async verifySubject(token) {
      const verified = await issuer.verifySubject(token)
      const register = { clients, provider: context.foreignVerifier }
      const origin = verified && findOrigin({ register, isOfProvider: providerTokenTest(context) }, verified, token)
      return verified && origin && { ...verified, origin }
    },
    async revoke(target, reason) {
      revocations.revoke({ ...target, reason, at: new Date(now()).toISOString() })
    },
    keys: () => tokenKeys.keys().filter((key) => key.only_subject === undefined && key.status !== 'revoked'),
    jwks: buildJwks,
  }
}
