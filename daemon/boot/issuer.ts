// The offline identity of a site, wired: its provider for every role, a key of its own for each, its issuer for the site role.
import { readFileSync } from 'node:fs'
import type { VerifyToken } from '../../adapters/identity/offline/issued-token.ts'
import {
  audienceOf,
  issuerOf,
  maxTtl_s,
  type OfflineIssuer,
  offlineIssuer,
} from '../../adapters/identity/offline/issuer.ts'
import { offlineProvider } from '../../adapters/identity/offline/provider.ts'
import { fileRevocations, type Revocations } from '../../adapters/identity/offline/revocations.ts'
import { jwksOf } from '../../adapters/keys/jose/jwks.ts'
import type { StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { openKeyFolder } from '../../adapters/keys/jose/key-folder.ts'
import { openTokenKeys, type TokenKeyList } from '../../adapters/keys/jose/token-keys.ts'
import { issueToken, roleToken_s, type TokenPayload, verifyToken } from '../../adapters/keys/jose/tokens.ts'
import type { Log, Site } from '../kernel/call.ts'
import { sha256 } from '../kernel/canonical.ts'
import { Refused } from '../kernel/errors.ts'
import { builtInRoles, type IdentityProvider } from '../kernel/identity.ts'
import type { identitySettings } from '../kernel/platform-settings.ts'
import type { Values } from '../kernel/settings.ts'
import type { Issuer } from '../roles/site/parts.ts'
import type { Client } from '../roles/site/token/model.ts'
import { signerAmong, subjectOf } from './listed-keys.ts'
import { passphraseIn } from './passphrase.ts'
import { revocationsOf, roleKeysOf, type SiteFolder, tokenKeysOf } from './site-folder.ts'

export type Identity = {
  /** Judges what is shown to this role. */
  providerFor(role: string): IdentityProvider
  /** Role name to permissions: the built-in ones and the profile's. */
  readonly role_table: Readonly<Record<string, readonly string[]>>
  /** A short-lived token, by the role's own key, with which it asks `target` and no other of the site's processes. */
  serviceToken(role: string, target: string): Promise<string>
  /** Of the identity provider; undefined for a site without one. */
  readonly health: ForeignTokens['health'] | undefined
  /** For the site role alone: opens the site's private keys and reads the secrets of its clients. */
  issuer(): Issuer
}

/** Tokens of an issuer outside the site, which says who it is by a name that the profile pins. */
export type ForeignTokens = {
  isNamedIn(token: string): boolean
  readonly verify: VerifyToken
  /** Changes whenever what it has verified before may count no more. */
  stamp(): string
  health(): { readonly ok: boolean; readonly detail: string }
}

export type IdentityMaterials = {
  readonly folder: SiteFolder
  readonly site: Site
  readonly settings: Values<typeof identitySettings>
  readonly log: Log
  readonly now: () => number
  readonly random: (bytes: number) => string
  /** Absent: the site's own tokens alone count. */
  readonly foreign?: ForeignTokens | undefined
  /** Judges what is shown beside tokens. */
  readonly beside?: ((tokens: IdentityProvider, revocations: Revocations) => IdentityProvider) | undefined
}

/** Two looks at the disk for each request would be a tenth of its cost; a person's revocation may take this long. */
const looking = { every_ms: 5, monotonic: () => performance.now() }

/** What is public: every process judges tokens by it, and none needs a private key for that. */
type Bench = IdentityMaterials & { readonly listed: TokenKeyList; readonly revocations: Revocations }

export function offlineIdentity(given: IdentityMaterials): Identity {
  const { folder, settings, log, now, foreign, beside = (tokens) => tokens } = given
  const listed = openTokenKeys(tokenKeysOf(folder), looking)
  const revocations = fileRevocations(revocationsOf(folder), looking)
  const bench: Bench = { ...given, listed, revocations }
  const role_table = { ...settings.roles, ...builtInRoles }
  const refused = (reason: string) => log.info('identity.token.refused', { reason })
  const keysStamp = () => `${listed.stamp()} ${foreign?.stamp() ?? ''}`
  return {
    role_table,
    health: foreign?.health,
    providerFor: (role) => {
      const verify = (token: string) => verifyAt(bench, token, role)
      return beside(offlineProvider({ verify, revocations, keysStamp, now, refused }), revocations)
    },
    serviceToken: serviceTokens(bench),
    issuer: () => siteIssuer(bench, Object.keys(role_table)),
  }
}

/** Without `role`: only what is meant for the whole site. The issuer that a token names says by whose keys it is judged. */
function verifyAt({ listed, site, settings, now, foreign }: Bench, token: string, role?: string) {
  if (foreign?.isNamedIn(token)) return foreign.verify(token)
  const name = issuerOf(site.name)
  const own = role === undefined ? {} : { role_audience: audienceOf(site.name, role) }
  const expected = { issuer: name, audience: name, ...own, now: now(), skew_s: settings.clock_skew_s }
  return verifyToken(token, listed.keys(), expected)
}

function minting(bench: Bench, keyOf: () => StoredKey, passphrase?: () => string | undefined): OfflineIssuer {
  const { site, revocations, now, random } = bench
  const sign = (payload: unknown) => issueToken(keyOf(), payload as TokenPayload, passphrase)
  return offlineIssuer({
    siteName: site.name,
    verify: (token) => verifyAt(bench, token),
    revocations,
    now,
    random,
    sign,
  })
}

/** Each role's key folder is opened when that role first asks another process. */
function serviceTokens(bench: Bench): Identity['serviceToken'] {
  const issuers = new Map<string, OfflineIssuer>()
  const issuerFor = (role: string) => {
    const keys = openKeyFolder(roleKeysOf(bench.folder, role), looking)
    return minting(bench, () => {
      const key = signerAmong(keys.keys(), bench.listed.keys(), subjectOf(role))
      if (!key) throw new Refused('unavailable', `the role ${role} has no key that the site lists`)
      return key
    })
  }
  return async (role, target) => {
    const issuer = issuers.get(role) ?? issuerFor(role)
    issuers.set(role, issuer)
    const sub = subjectOf(role)
    const aud = audienceOf(bench.site.name, target)
    return (await issuer.mint({ sub, tenant_id: '*', roles: ['service'], aud }, roleToken_s)).token
  }
}

function siteIssuer(bench: Bench, role_names: string[]): Issuer {
  const { folder, site, settings, listed, revocations, now } = bench
  const keys = openKeyFolder(folder.keys, looking)
  const issuer = minting(
    bench,
    () => {
      const key = signerAmong(keys.keys(), listed.keys())
      if (!key) throw new Refused('unavailable', 'the site has no active token key')
      return key
    },
    passphraseIn(settings.keys_passphrase_file),
  )
  return {
    issuer: issuer.issuer,
    audience: issuer.audience,
    clients: settings.clients.map((given) => clientOf(given, site)),
    role_names,
    mint: async (claims, ttl_s, latest_exp) =>
      (await issuer.mint(claims, Math.min(ttl_s, settings.token_ttl_s, maxTtl_s), latest_exp)).token,
    verifySubject: issuer.verifySubject,
    async revoke(what, reason) {
      revocations.revoke({ ...what, reason, at: new Date(now()).toISOString() })
    },
    keys: () => listed.keys().filter((key) => key.only_subject === undefined && key.status !== 'revoked'),
    jwks: jwksOf,
  }
}

/** The secret is read once and only its digest kept. Throws with the client's name when its file cannot be read. */
function clientOf(given: Values<typeof identitySettings>['clients'][number], site: Site): Client {
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
    secret_sha256: sha256(secretIn(secret_file, client_id)),
    subject,
    tenant_id,
    roles: [...roles],
    ...(clearance ? { clearance } : {}),
    may_exchange,
  }
}

function secretIn(file: string, client_id: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch {
    throw new Error(`the secret file of the client ${client_id} cannot be read`)
  }
  if (text.length < 16) throw new Error(`the secret of the client ${client_id} is shorter than 16 characters`)
  return text
}
