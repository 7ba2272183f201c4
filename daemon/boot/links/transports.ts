// Opens the transports between sites: file-drop, with the journal of the site role.
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { sqliteJournal } from '../../../adapters/store/sqlite/journal/journal.ts'
import { filedropMetrics } from '../../../adapters/transport/filedrop/metrics.ts'
import { listQuarantine, listQuarantinePeers } from '../../../adapters/transport/filedrop/quarantine/quarantine-list.ts'
import { readQuarantinedItem } from '../../../adapters/transport/filedrop/quarantine/quarantined-item.ts'
import { filedropTransport } from '../../../adapters/transport/filedrop/transport.ts'
import { mtlsMetrics } from '../../../adapters/transport/mtls/metrics.ts'
import type { Peers } from '../../kernel/identity/peer.ts'
import type { Transport } from '../../kernel/messaging/transport.ts'
import type { Site } from '../../kernel/role/site.ts'
import type { Sandbox } from '../../kernel/sandbox/sandbox.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { identitySettings } from '../../kernel/settings/platform-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { Log } from '../../kernel/telemetry/log.ts'
import type { Metric, Metrics } from '../../kernel/telemetry/metrics.ts'
import { messageKinds } from '../../message-kinds.ts'
import type { Quarantines } from '../../roles/site/parts.ts'
import { filedropSettings } from '../../roles/site/settings.ts'
import { faultStop } from '../host/fault-stop.ts'
import { passphraseReader } from '../host/passphrase.ts'
import { readRootKeys } from '../identity/root-keys.ts'
import { findMessageRole } from '../loaded-roles.ts'
import type { RoleStorage } from '../storage/role-storage.ts'
import type { SiteFolder } from '../storage/site-folder.ts'
import { lockPeer } from '../storage/wait-for-lock.ts'
import { findAccreditationLapse } from './accredited-peers.ts'
import { newestCheckpoints } from './newest-checkpoints.ts'

export type TransportOptions = {
  readonly folder: SiteFolder
  readonly site: Site
  readonly resolved: ResolvedSettings
  readonly storage: RoleStorage
  readonly peers: Peers
  readonly clock: { now(): number; monotonic(): number }
  readonly random: (bytes: number) => string
  readonly log: Log
  readonly metrics: Metrics
  /** Required where the settings have a scanner. */
  readonly sandbox?: Sandbox | undefined
}

/** Metrics of the transports, declared beside those of the site role. */
export const linkMetrics: readonly Metric[] = [...filedropMetrics, ...mtlsMetrics]

export function openTransports(transportOptions: TransportOptions): Transport[] {
  const { folder, site, resolved, storage, peers, sandbox, ...options } = transportOptions
  const { skew_s, truncated_after_s, releasable_names, release_days, acknowledgements, ...settings } = getSettings(
    resolved,
    filedropSettings,
  )
  return [
    filedropTransport({
      ...options,
      site: site.name,
      tenant_id: site.tenant_id,
      releasable_names,
      root: folder.filedrop,
      peers,
      signatures: joseSignatures({
        dir: folder.keys,
        now: options.clock.now,
        passphrase: passphraseReader(getSettings(resolved, identitySettings).keys_passphrase_file),
      }),
      journal: sqliteJournal(storage.file, storage.audit),
      label_policy: site.labels,
      kinds: messageKinds,
      checkpoints: newestCheckpoints(storage.store, site),
      roots: () => readRootKeys(folder.keys, options.clock.now()),
      acknowledgements,
      receiverOf: (kind) => findMessageRole(kind)?.name ?? 'site',
      isAccredited: (peer) => findAccreditationLapse(peer, resolved, options.clock.now()) === undefined,
      record: (events) => storage.audit.append(events),
      hold: (peer) => lockPeer(folder, peer),
      ...(sandbox ? { sandbox } : {}),
      ...(faultStop ? { passFaultPoint: faultStop } : {}),
      settings: { ...settings, skew_ms: skew_s * 1_000, truncated_after_ms: truncated_after_s * 1_000 },
    }),
  ]
}

export function openQuarantines(folder: SiteFolder, resolved: ResolvedSettings): Quarantines {
  const limits = getSettings(resolved, filedropSettings)
  return {
    async list(peer, limit, after) {
      const names = peer === undefined ? listQuarantinePeers(folder.filedrop) : [peer]
      const items = names.flatMap((name) => listQuarantine(folder.filedrop, name, Number.POSITIVE_INFINITY))
      const itemsAfter = after === undefined ? items : items.filter((entry) => compareNewestFirst(after, entry) < 0)
      return { entries: itemsAfter.sort(compareNewestFirst).slice(0, limit), total: items.length }
    },
    async get(peer, id) {
      const item = readQuarantinedItem(folder.filedrop, peer, id, limits)
      if (!item) return undefined
      const { statement_digest, channel: _channel, files, ...fields } = item
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
      const digest = statement_digest === undefined ? {} : { digest: statement_digest }
      return { ...fields, id: `${peer}/${id}`, file: files[0]?.was ?? '', ...digest, bytes, files: [...files] }
    },
  }
}

function compareNewestFirst(a: { at: string; id: string }, b: { at: string; id: string }): number {
  if (a.at !== b.at) return a.at < b.at ? 1 : -1
  return a.id < b.id ? -1 : Number(a.id > b.id)
}
