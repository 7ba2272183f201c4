// Two real sites in one process, for tests: their own folders, keys and journals, and nothing shared but what a test carries.

import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKey } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { sqliteAudit } from '../../../adapters/store/sqlite/audit/audit.ts'
import { sqliteJournal } from '../../../adapters/store/sqlite/journal/journal.ts'
import { sqliteFile } from '../../../adapters/store/sqlite/sqlite-file.ts'
import type { FiledropOptions } from '../../../adapters/transport/filedrop/filedrop-context.ts'
import { foldersOf } from '../../../adapters/transport/filedrop/files/channel-folders.ts'
import type { FiledropSettingsInput } from '../../../adapters/transport/filedrop/settings.ts'
import { filedropTransport } from '../../../adapters/transport/filedrop/transport.ts'
import type { AuditEvent } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { Peer } from '../../../daemon/kernel/identity/peer.ts'
import type { Label } from '../../../daemon/kernel/label/label.ts'
import type { CarriedMessage, HandoverRequest } from '../../../daemon/kernel/messaging/carrier.ts'
import type { Journal } from '../../../daemon/kernel/messaging/journal.ts'
import type { DeliveryVerdict, InboundMessage, OutboundMessage } from '../../../daemon/kernel/messaging/transport.ts'
import type { Trace } from '../../../daemon/kernel/telemetry/trace.ts'
import { messageKinds } from '../../../daemon/message-kinds.ts'
import { sampleTrace } from '../trace/sample-trace.ts'

export const label_policy = { policy: 'SITE', levels: ['UNCLASSIFIED', 'RESTRICTED', 'SECRET', 'TOP_SECRET'] }
export const start_ms = Date.parse('2026-03-01T12:00:00Z')

/** Messages of tests by default: releasable to the other tenant, below the ceiling. */
export function buildLabel(tenant: string, more: Partial<Label> = {}): Label {
  return {
    policy: 'SITE',
    level: 'RESTRICTED',
    categories: [],
    releasable_to: [tenant],
    originator: 'tenant-alpha',
    ...more,
  }
}

export type FiledropSite = Awaited<ReturnType<typeof createSite>>

/** A site whose transport can be stopped and started anew over the same folders and journal, as after a crash. */
async function createSite(dir: string, name: string, clock: { ms: number }) {
  const home = join(dir, name)
  await generateKey(join(home, 'keys'), { use: 'message', now: clock.ms })
  const file = sqliteFile({ file: join(home, 'site.db'), addonDir: join(home, 'native') })
  const audit = sqliteAudit(file, 'site@test')
  const journal = sqliteJournal(file, audit)
  const pinned = new Map<string, Peer>()
  const events: { event: string; fields: Readonly<Record<string, unknown>> }[] = []
  const log = (event: string, fields: Readonly<Record<string, unknown>> = {}) => void events.push({ event, fields })
  const tenant_id = `tenant-${name}`
  const root = join(home, 'filedrop')
  const signatures = joseSignatures({ dir: join(home, 'keys'), now: () => clock.ms })
  let random = 0
  const options = (settings: FiledropSettingsInput = {}, changes: Partial<FiledropOptions> = {}): FiledropOptions => ({
    site: name,
    tenant_id,
    root,
    signatures,
    journal,
    label_policy,
    kinds: messageKinds,
    peers: { list: async () => [...pinned.values()], get: async (peer) => pinned.get(peer) },
    clock: { now: () => clock.ms, monotonic: () => clock.ms },
    random: (bytes) =>
      (random++)
        .toString(16)
        .padStart(bytes * 2, '0')
        .slice(-bytes * 2),
    log: { debug: log, info: log, warn: log, error: log },
    record: (given_events: readonly AuditEvent[]) => audit.append(given_events),
    metrics: { count: () => undefined, set: () => undefined },
    settings: { rescan_ms: 0, watch: false, ...settings },
    ...changes,
  })
  return {
    name,
    tenant_id,
    root,
    file,
    audit,
    journal: journal as Journal,
    signatures,
    pinned,
    events,
    options,
    transport: filedropTransport(options()),
    received: [] as InboundMessage[],
  }
}

export type FiledropSites = Awaited<ReturnType<typeof createFiledropSites>>

export type FiledropSitesOptions = {
  readonly alpha?: FiledropSettingsInput
  readonly bravo?: FiledropSettingsInput
  readonly peer?: Partial<Peer>
  /** The folder that holds both sites; that of temporary files by default. */
  readonly base?: string
}

/** `alpha` and `bravo`, enrolled with each other. `dispose` stops everything and removes the folder. */
export async function createFiledropSites(settings: FiledropSitesOptions = {}) {
  const dir = fs.mkdtempSync(join(settings.base ?? tmpdir(), 'filedrop-'))
  const clock = { ms: start_ms }
  const alpha = await createSite(dir, 'alpha', clock)
  const bravo = await createSite(dir, 'bravo', clock)
  for (const [site, other] of [
    [alpha, bravo],
    [bravo, alpha],
  ] as const) {
    site.pinned.set(other.name, buildPeer(other, settings.peer))
    site.transport = filedropTransport(site.options(settings[site.name as 'alpha' | 'bravo']))
    await site.transport.enrol(buildPeer(other, settings.peer))
  }
  const dispose = async () => {
    for (const site of [alpha, bravo]) {
      await site.transport.stop()
      await site.file.close()
    }
    fs.rmSync(dir, { recursive: true, force: true })
  }
  return { dir, clock, alpha, bravo, dispose }
}

export function buildPeer(site: FiledropSite, more: Partial<Peer> = {}): Peer {
  return {
    name: site.name,
    tenant_id: site.tenant_id,
    keys: [...site.signatures.publicKeys()],
    threshold: 1,
    ceiling: { policy: 'SITE', level: 'SECRET', categories: ['NOVA'], originator: site.tenant_id },
    releasable_names: [],
    max_v: 1,
    not_after_days: 7,
    keep_days: 30,
    inventory_interval_s: 300,
    enrolled: new Date(start_ms).toISOString(),
    ...more,
  }
}

type MessageHandler = (message: InboundMessage, trace: Trace) => Promise<DeliveryVerdict> | DeliveryVerdict

/** Starts the transport and waits for its first scan. Takes everything that arrives, unless the test gives an answer. */
export async function startReceiving(site: FiledropSite, answer: MessageHandler = applyMessage) {
  await site.transport.start(async (message, trace) => {
    const verdict = await answer(message, trace)
    if (verdict.verdict === 'applied') site.received.push(message)
    return verdict
  })
  // The start triggers a scan: files that a test places meanwhile would be seen half written.
  await site.transport.rescan()
}

function applyMessage(): DeliveryVerdict {
  return { verdict: 'applied' }
}

/** The process dies and comes back: another transport over the same disk. */
export async function restartSite(
  site: FiledropSite,
  answer?: MessageHandler,
  settings: FiledropSettingsInput = {},
  changes: Partial<FiledropOptions> = {},
) {
  await site.transport.stop()
  site.transport = filedropTransport(site.options(settings, changes))
  await startReceiving(site, answer)
}

let messageCount = 0
export function buildMessage(sites: FiledropSites, more: Partial<OutboundMessage> = {}): OutboundMessage {
  messageCount += 1
  return {
    peer: 'bravo',
    event_id: `event-${messageCount}`,
    kind: 'contribution',
    schema: 'consensus.contribution.v1',
    body: { number: messageCount },
    label: buildLabel(sites.bravo.tenant_id),
    parent_block_ids: [],
    ...more,
  }
}

/** Of all that has come, rising: contributions commute, and are taken in whichever order they lie there. */
export function listNumbers(received: readonly InboundMessage[]): number[] {
  return received.map(({ statement }) => statement.seq).sort((a, b) => a - b)
}

/** Sends and publishes; the files are in alpha's `out/ready` then. */
export async function sendFromAlpha(sites: FiledropSites, count_of: number, more: Partial<OutboundMessage> = {}) {
  const sent = []
  for (let i = 0; i < count_of; i++) sent.push(await sites.alpha.transport.send(buildMessage(sites, more), sampleTrace))
  await sites.alpha.transport.rescan()
  return sent
}

/** The messages that a network would get for the peer; it takes none. */
export async function listHandedParcels(
  { transport }: FiledropSite,
  peer: string,
  limit = 64,
): Promise<CarriedMessage[]> {
  const found: CarriedMessage[] = []
  const carry: HandoverRequest['carry'] = async (parcels) => {
    found.push(...parcels)
    return parcels.map(() => 'full')
  }
  await transport.handover.offer(peer, { limit, carry })
  return found
}

export const formatReadyPath = (site: FiledropSite, peer: string) => foldersOf(site.root, peer).ready
export const listChannelFolders = (site: FiledropSite, peer: string) => foldersOf(site.root, peer)

/** A one-way carrier that copies whole files in the order of their names, and empties `ready` by default. */
export function carryFiles(
  from: FiledropSite,
  to: FiledropSite,
  options: { only?: (file: string) => boolean; keep?: boolean } = {},
): string[] {
  const ready = formatReadyPath(from, to.name)
  const target = listChannelFolders(to, from.name).fresh
  const files = fs.readdirSync(ready).filter((file) => options.only?.(file) ?? true)
  for (const file of files.sort()) {
    fs.copyFileSync(join(ready, file), join(target, `.${file}`))
    fs.renameSync(join(target, `.${file}`), join(target, file))
    if (!options.keep) fs.rmSync(join(ready, file))
  }
  return files
}

/** Reasons that lie in the quarantine of bravo's channel from alpha, in the order of their files' names. */
export function listQuarantineReasons(
  site: FiledropSite,
  peer: string,
): { reason: string; code?: string; detail: string; name: string; files: { name: string; bytes: number }[] }[] {
  const folder = listChannelFolders(site, peer).quarantine
  return fs
    .readdirSync(folder)
    .filter((file) => file.endsWith('.reason.json'))
    .sort()
    .map((name) => ({ ...JSON.parse(fs.readFileSync(join(folder, name), 'utf8')), name }))
}
