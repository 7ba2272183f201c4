// The offline identity of a site, wired: its provider for every role, its issuer for the site role.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { issuerOf, maxTtl_s, offlineIssuer } from '../../adapters/identity/offline/issuer.ts'
import { offlineProvider } from '../../adapters/identity/offline/provider.ts'
import { fileRevocations } from '../../adapters/identity/offline/revocations.ts'
import { jwksOf } from '../../adapters/keys/jose/jwks.ts'
import { openKeyFolder } from '../../adapters/keys/jose/key-folder.ts'
import { issueToken, type TokenPayload, verifyToken } from '../../adapters/keys/jose/tokens.ts'
import type { Log, Site } from '../kernel/call.ts'
import { sha256 } from '../kernel/canonical.ts'
import { Refused } from '../kernel/errors.ts'
import { builtInRoles, type IdentityProvider } from '../kernel/identity.ts'
import type { identitySettings } from '../kernel/platform-settings.ts'
import type { Values } from '../kernel/settings.ts'
import type { Issuer } from '../roles/site/parts.ts'
import type { Client } from '../roles/site/token/model.ts'
import type { SiteFolder } from './site-folder.ts'

export type Identity = {
  readonly provider: IdentityProvider
  readonly issuer: Issuer
  /** Role name to permissions: the built-in ones and the profile's. */
  readonly role_table: Readonly<Record<string, readonly string[]>>
  /** A short-lived token with which this process asks the site's other processes. */
  serviceToken(subject: string): Promise<string>
}

type Surroundings = {
  readonly folder: SiteFolder
  readonly site: Site
  readonly settings: Values<typeof identitySettings>
  readonly log: Log
  readonly now: () => number
  readonly random: (bytes: number) => string
}

/** Two looks at the disk for each request would be a tenth of its cost; a person's revocation may take this long. */
const looking = { every_ms: 5, monotonic: () => performance.now() }

export function offlineIdentity({ folder, site, settings, log, now, random }: Surroundings): Identity {
  const keys = openKeyFolder(folder.keys, looking)
  const revocations = fileRevocations(join(folder.identity, 'revoked.jsonl'), looking)
  const name = issuerOf(site.name)
  const publicKeys = () => keys.keys().map((key) => key.public_key)
  const verify = (token: string) =>
    verifyToken(token, publicKeys(), { issuer: name, audience: name, now: now(), skew_s: settings.clock_skew_s })
  const issuer = offlineIssuer({
    siteName: site.name,
    verify,
    revocations,
    now,
    random,
    sign: (payload) => {
      const active = keys
        .keys()
        .findLast(({ public_key }) => public_key.use === 'token' && public_key.status === 'active')
      if (!active) throw new Refused('unavailable', 'the site has no active token key')
      return issueToken(active, payload as TokenPayload)
    },
  })
  const role_table = { ...settings.roles, ...builtInRoles }
  const refused = (reason: string) => log.info('identity.token.refused', { reason })
  return {
    role_table,
    provider: offlineProvider({ verify, revocations, keysStamp: keys.stamp, now, refused }),
    issuer: {
      issuer: issuer.issuer,
      audience: issuer.audience,
      clients: settings.clients.map((given) => clientOf(given, site)),
      role_names: Object.keys(role_table),
      mint: async (claims, ttl_s, latest_exp) =>
        (await issuer.mint(claims, Math.min(ttl_s, settings.token_ttl_s, maxTtl_s), latest_exp)).token,
      verifySubject: issuer.verifySubject,
      async revoke(what, reason) {
        revocations.revoke({ ...what, reason, at: new Date(now()).toISOString() })
      },
      keys: () => publicKeys().filter((key) => key.use === 'token' && key.status !== 'revoked'),
      jwks: jwksOf,
    },
    serviceToken: async (sub) => (await issuer.mint({ sub, tenant_id: '*', roles: ['service'] }, 300)).token,
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
