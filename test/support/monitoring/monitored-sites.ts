// Sites to be monitored: alpha runs every role in profile C, charlie is of profile A behind TLS with client certificates.
import * as fs from 'node:fs'
import path from 'node:path'
import { foldersOf } from '../../../adapters/transport/filedrop/files/channel-folders.ts'
import { certificatesFolder } from '../../../daemon/boot/storage/site-folder.ts'
import { roles } from '../../../daemon/roles.ts'
import { type SimulatedClock, simulatedClock } from '../clock/simulated-clock.ts'
import { createScratchFolder } from '../command/run-command.ts'
import { readCertificateHolders } from '../documents/scrape-examples.ts'
import {
  issueServerCertificates,
  type ServerCertificateFiles,
  type ServerCertificateSet,
} from '../engines/server-certificates.ts'
import { createAuthority, issueCertificate } from '../keys/site-certificates.ts'
import { type ScriptedServer, startScriptedServer } from '../proxy/packaged-proxy.ts'
import { pinPeerKeys } from '../site/pinned-site-pair.ts'
import { createTestSite, type TestSite } from '../site/test-site.ts'
import { findFreePortPairs } from './free-port-pairs.ts'

export type MonitoredSites = {
  readonly clock: SimulatedClock
  readonly alpha: TestSite
  /** Exchanges files with alpha. */
  readonly bravo: TestSite
  readonly charlie: TestSite
  /** Role of alpha to the port of its operations; its metrics are a thousand above. */
  readonly ports: Readonly<Record<string, number>>
  /** Of alpha's listener for peers on a network. */
  readonly peer_port: number
  /** Destination of alpha's public proxy. */
  readonly upstream: ScriptedServer
  /** Charlie's, and those of its clients. */
  readonly certificates: ServerCertificateSet
  /** Takes all ready messages from one to the other, but those to lose on the way. */
  carry(from: TestSite, to: TestSite, isLost?: (stem: string) => boolean): void
  end(): Promise<void>
}

const inventory_interval_ms = 300_000

/** How long before the machine's time the sites begin: what takes hours passes until then, and tokens hold at both times. */
export const story_ms = 5 * 3_600_000

/** A source of signals whose secret is missing, so that it takes nothing. */
export const failing_source = 'siem'

/** All run, at a time `story_ms` ago. Needs openssl. */
export async function startMonitoredSites(): Promise<MonitoredSites> {
  const clock = createWholeClock(Date.now() - story_ms)
  const { dir, remove } = createScratchFolder('monitored')
  const certificates = issueServerCertificates('site', 'prometheus')
  const upstream = await startScriptedServer((_, response) => response.end('{"ok":1}\n'))
  const provider = await startScriptedServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ access_token: 'of-the-proxy', token_type: 'Bearer', expires_in: 600 }))
  })
  const [peer_port = 0, ...found] = await findFreePortPairs(roles.length + 1)
  const ports = Object.fromEntries(roles.map(({ name }, at) => [name, found[at] ?? 0]))
  const charlieAuthority = await createAuthority(dir, 'charlie')
  const alpha = await createTestSite({
    ...{ clock, name: 'alpha', tenant: 'tenant-a', template: 'coalition-federated' },
    profile: buildAlphaProfile({ ports, peer_port, upstream, provider, dir, charlie_ca_file: charlieAuthority.file }),
  })
  const bravo = await createTestSite({
    ...{ clock, name: 'bravo', tenant: 'tenant-b' },
    profile: { labels: { policy: 'COALITION', levels: ['UNCLASSIFIED', 'RESTRICTED', 'CONFIDENTIAL', 'SECRET'] } },
  })
  const charlie = await createTestSite({
    ...{ clock, name: 'charlie', tenant: 'tenant-c' },
    profile: buildTlsProfile(certificates.of('site')),
  })
  const own = await issueCertificate(dir, await createAuthority(dir, 'alpha'), 'alpha')
  fs.mkdirSync(certificatesFolder(alpha.folder), { mode: 0o700 })
  fs.copyFileSync(own.file, path.join(certificatesFolder(alpha.folder), 'site.pem'))
  await pinPeerKeys(alpha, bravo)
  await pinPeerKeys(bravo, alpha)
  await pinPeerKeys(alpha, charlie)
  // Since the enrolment: inventories are due.
  clock.advance(inventory_interval_ms)
  await Promise.all([alpha.start(), bravo.start(), charlie.start()])
  return {
    ...{ clock, alpha, bravo, charlie, ports, peer_port, upstream, certificates, carry },
    async end() {
      await Promise.all([alpha.end(), bravo.end(), charlie.end()])
      await Promise.all([upstream.close(), provider.close()])
      certificates.dispose()
      remove()
    },
  }
}

/** Durations pass with the time of day: silence is measured by them. */
function createWholeClock(start_ms: number): SimulatedClock {
  const clock = simulatedClock(start_ms)
  return { ...clock, monotonic: () => performance.now() + clock.now() - start_ms }
}

type AlphaParts = {
  readonly ports: Readonly<Record<string, number>>
  readonly peer_port: number
  readonly upstream: ScriptedServer
  readonly provider: ScriptedServer
  readonly dir: string
  readonly charlie_ca_file: string
}

/** Every role as somebody adds it by hand: its name in `platform.roles`, and no `metrics_listen`. */
function buildAlphaProfile({ ports, peer_port, upstream, provider, dir, charlie_ca_file }: AlphaParts) {
  const placed = (role: string) => ({ port: ports[role], metrics_listen: undefined })
  const speaker = (name: string) => ({ signer_keys: [`${name}-1`], spoken_for_by: ['olga'] })
  const mapping = {
    ...{ signal_type: { value: 'alert' }, severity: '/severity', title: '/title' },
    subject: { type: { value: 'asset' }, id: '/host' },
  }
  return {
    platform: { roles: roles.map(({ name }) => name), drain_ms: 1_000 },
    site: {
      ...placed('site'),
      accreditations: { bravo: { authority: 'Board', reference: 'AB-1', valid_until: '2020-01-31' } },
    },
    filedrop: { rescan_ms: 250 },
    mtls: { port: peer_port, peers: { charlie: { url: 'https://127.0.0.1:9', ca_file: charlie_ca_file } } },
    consensus: { ...placed('consensus'), contributors: { alice: speaker('alice'), bob: speaker('bob') } },
    resolution: placed('resolution'),
    intelligence: placed('intelligence'),
    intake: {
      sources: [{ kind: 'webhook', name: failing_source, secret_files: [path.join(dir, 'missing.secret')], mapping }],
    },
    ingest: placed('ingest'),
    gateway: placed('gateway'),
    edge: { ...placed('edge'), http_port: 0 },
    hub: { ...placed('hub'), nodes: { alpha: { subject: 'node:alpha' }, bravo: { subject: 'node:bravo' } } },
    proxy: {
      ...placed('proxy'),
      ...{ workers: 1, trusted_proxy_depth: 1, rate_limit_per_min: 1_000_000, allowlist: ['GET /report/{id}'] },
      ...{ platform_api_url: `http://127.0.0.1:${upstream.port}`, trusted_networks: ['127.0.0.1'] },
      ...{ public_sso_client_id: 'door', public_sso_client_secret: 'a-secret-of-the-proxy-for-its-token' },
    },
    sso: { token_url: `http://127.0.0.1:${provider.port}/token` },
  }
}

function buildTlsProfile({ ca, cert, key }: ServerCertificateFiles) {
  const tls = { port: 0, tls_cert_file: cert, tls_key_file: key, tls_client_auth: 'require' }
  const { subjects } = readCertificateHolders()
  const own = subjects.map((each) => ({ ...each, tenant_id: 'tenant-c' }))
  return { site: tls, consensus: tls, x509: { ca_file: ca, subjects: own } }
}

function carry(from: TestSite, to: TestSite, isLost: (stem: string) => boolean = () => false): void {
  const { ready } = foldersOf(from.folder.filedrop, to.name)
  const { fresh } = foldersOf(to.folder.filedrop, from.name)
  const whole = fs.readdirSync(ready).filter((name) => name.endsWith('.env.json'))
  for (const envelope of whole.sort()) {
    const stem = envelope.replace('.env.json', '')
    for (const name of [`${stem}.body.json`, envelope]) {
      if (!isLost(stem)) {
        fs.copyFileSync(path.join(ready, name), path.join(fresh, `.${name}`))
        fs.renameSync(path.join(fresh, `.${name}`), path.join(fresh, name))
      }
      fs.rmSync(path.join(ready, name))
    }
  }
}
