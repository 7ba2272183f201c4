// A real site in this process, on free ports of loopback: real keys, real databases, real HTTP; only its folder is temporary.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SystemClock } from '../../../adapters/host/clock/system-clock.ts'
import { type MintClaimsInput, siteIssuerUrn } from '../../../adapters/identity/offline/issuer.ts'
import { readKeyFiles, type StoredKey } from '../../../adapters/keys/jose/key-files.ts'
import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { issueToken } from '../../../adapters/keys/jose/tokens.ts'
import { type RunningSite, serve } from '../../../daemon/boot/serve.ts'
import { roleSocketFile, type SiteFolder, siteFolder } from '../../../daemon/boot/storage/site-folder.ts'
import type { Signatures } from '../../../daemon/kernel/cryptography/signatures.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import { addPeer } from '../../../daemon/offline/peers/site-peers.ts'
import { makeSite } from '../../../daemon/offline/site/make-site.ts'
import { roles } from '../../../daemon/roles.ts'
import { type ExactRequest, type ExactResponse, sendExactRequest } from '../http/send-exact-request.ts'
import { isRoleToken } from '../http/send-http-request.ts'

export const siteClientSecret = 'a-secret-of-more-than-sixteen-characters'
const labelLevels = ['UNCLASSIFIED', 'RESTRICTED', 'CONFIDENTIAL', 'SECRET', 'TOP_SECRET']

/** Raises nothing by itself while a test reads stored documents. */
const disabledSource = { enabled: false }
const quietIntake = {
  ...{
    conflict: disabledSource,
    quarantine: disabledSource,
    stale_channel: disabledSource,
    failed_pipeline: disabledSource,
  },
  sources: [
    {
      ...{ kind: 'webhook', name: 'sample', secret_files: ['/nonexistent/secret'] },
      mapping: {
        ...{ signal_type: { value: 'sample' }, severity: '/severity', title: '/title' },
        subject: { type: { value: 'asset' }, id: '/host' },
      },
    },
  ],
}

/** Roles of a test's site unless its profile names others: a start with two is shorter. */
export const usualRoles: readonly string[] = ['site', 'consensus']

/** Sections for a site that runs every role. */
export const everyRoleSections = {
  platform: { roles: roles.map(({ name }) => name) },
  hub: { port: 0 },
  gateway: { port: 0 },
  resolution: { port: 0 },
  intelligence: { port: 0 },
  ingest: { port: 0 },
  edge: { port: 0, http_port: 0 },
  intake: quietIntake,
  proxy: { port: 0, workers: 1, trusted_proxy_depth: 1, platform_api_url: 'https://platform.invalid' },
  sso: { token_url: 'https://identity.invalid/token' },
}

export type SingleClusterSite = {
  readonly dir: string
  readonly folder: SiteFolder
  readonly running: RunningSite
  /** Signs as the peer `bravo`, whose keys this site has pinned. */
  readonly bravo: Signatures
  /** Every line of the log before redaction, as JSON: what never came here cannot leak. */
  readonly logged: readonly string[]
  /** An hour's token of tenant `alpha`, without clearance by default. */
  token(claims?: Partial<MintClaimsInput>, change?: TokenClaimChanges): Promise<string>
  /** The active token key. */
  tokenKey(): StoredKey
  request(role: string, sent: Omit<ExactRequest, 'port'>): Promise<ExactResponse>
  port(role: string): number
  close(): Promise<void>
}

/**
 * `sections` are merged over a profile of `single_cluster` named alpha, with clients, contributors and the peer bravo.
 * `clock`: the machine's by default.
 */
export async function startSingleClusterSite(
  sections: Readonly<Record<string, Record<string, unknown>>> = {},
  clock?: SystemClock,
): Promise<SingleClusterSite> {
  const dir = mkdtempSync(join(tmpdir(), 'platform-site-'))
  const folder = await createSiteFolder(join(dir, 'alpha'), 'alpha')
  const secret = join(dir, 'client.secret')
  writeFileSync(secret, `${siteClientSecret}\n`, { mode: 0o600 })
  writeFileSync(folder.profile, JSON.stringify(buildProfile(secret, sections)), { mode: 0o600 })
  const bravoFolder = await createPinnedPeerFolder({ dir, folder }, 'bravo')
  const logged: string[] = []
  const running = await serve({ folder, env: {}, log: createLineLog(logged), ...(clock ? { clock } : {}) })
  const port = (role: string) =>
    Number(/:(\d+)$/.exec(running.urls[role]?.find((url) => url.startsWith('http')) ?? '')?.[1])
  return {
    dir,
    folder,
    running,
    bravo: joseSignatures({ dir: bravoFolder.keys }),
    logged,
    port,
    token: (claims, change) => issueToken(readTokenKey(folder), buildTokenClaims(claims, change)),
    tokenKey: () => readTokenKey(folder),
    // Strangers alone come to the proxy's port: its operations are on its local socket, where alone roles are admitted.
    request: (role, sent) =>
      sendExactRequest({
        port: port(role),
        ...(role === 'proxy' || isRoleToken(sent.token) ? { socket: roleSocketFile(folder, role) } : {}),
        ...sent,
      }),
    async close() {
      await running.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export type TokenClaimChanges = {
  readonly now_s?: number
  readonly aud?: string
  readonly iss?: string
  readonly jti?: string
}

/** Claims as the site's issuer writes them, or with changes as it never would. */
export function buildTokenClaims(claims: Partial<MintClaimsInput> = {}, change: TokenClaimChanges = {}) {
  const { now_s = Math.floor(Date.now() / 1_000), iss = siteIssuerUrn('alpha'), aud = siteIssuerUrn('alpha') } = change
  const { sub = 'ada', tenant_id = 'alpha', roles = [], ...more } = claims
  const jti = change.jti ?? `tok_${randomBytes(16).toString('hex')}`
  return { sub, tenant_id, roles, ...more, client_id: sub, iss, aud, iat: now_s, exp: now_s + 3_600, jti }
}

function readTokenKey(folder: SiteFolder): StoredKey {
  const key = readKeyFiles(folder.keys).find(
    ({ public_key: { use, status } }) => use === 'token' && status === 'active',
  )
  if (!key) throw new Error('the site has no token key')
  return key
}

async function createSiteFolder(dir: string, name: string): Promise<SiteFolder> {
  const folder = siteFolder(dir)
  const options = { template: 'single-cluster', name, tenant_id: name, port_base: 0, algorithm: undefined }
  await makeSite(folder, { ...options, roles: usualRoles, now: Date.now() })
  return folder
}

/** The folder of another site, whose message and root keys this one has pinned from then on. */
export async function createPinnedPeerFolder(
  { dir, folder }: Pick<SingleClusterSite, 'dir' | 'folder'>,
  name: string,
): Promise<SiteFolder> {
  const peer = await createSiteFolder(join(dir, name), name)
  await addPeer(
    folder,
    {},
    {
      name,
      tenant_id: name,
      keys: listKeys(peer.keys).filter(({ use }) => use !== 'token'),
      ceiling_level: 'SECRET',
      now: Date.now(),
    },
  )
  return peer
}

function buildProfile(secret_file: string, sections: Readonly<Record<string, Record<string, unknown>>>) {
  const client = { client_id: 'gateway', secret_file, subject: 'svc:gateway', roles: ['service', 'auditor'] }
  const own: Record<string, Record<string, unknown>> = {
    platform: { deployment_profile: 'single_cluster', name: 'alpha', tenant_id: 'alpha', drain_ms: 1_000 },
    labels: { policy: 'SITE', levels: labelLevels, default_level: 'UNCLASSIFIED' },
    identity: {
      clients: [
        { ...client, may_exchange: true },
        { ...client, client_id: 'reader' },
      ],
    },
    site: { port: 0 },
    consensus: {
      port: 0,
      contributors: Object.fromEntries(
        ['alice', 'bob', 'carol'].map((name) => [name, { signer_keys: [`${name}-1`], spoken_for_by: ['ada'] }]),
      ),
    },
  }
  const names = new Set([...Object.keys(own), ...Object.keys(sections)])
  return Object.fromEntries([...names].map((name) => [name, { ...own[name], ...sections[name] }]))
}

function createLineLog(logged: string[]): Log {
  const at = (level: string) => (event: string, fields?: Readonly<Record<string, unknown>>) => {
    logged.push(JSON.stringify({ level, event, ...fields }))
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
