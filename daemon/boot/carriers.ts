// Opens the carriers between sites: today file-drop, over the site role's journal.
import { joseSignatures } from '../../adapters/keys/jose/signatures.ts'
import { sqliteJournal } from '../../adapters/store/sqlite/journal.ts'
import { filedropMetrics } from '../../adapters/transport/filedrop/metrics.ts'
import { listQuarantine } from '../../adapters/transport/filedrop/quarantine/quarantine.ts'
import { quarantinedItem } from '../../adapters/transport/filedrop/quarantine/quarantined-item.ts'
import { filedropTransport } from '../../adapters/transport/filedrop/transport.ts'
import { mtlsMetrics } from '../../adapters/transport/mtls/metrics.ts'
import type { Log, Site } from '../kernel/call.ts'
import type { Metric, Metrics } from '../kernel/metrics.ts'
import type { Peers } from '../kernel/peer.ts'
import { identitySettings } from '../kernel/platform-settings.ts'
import type { Resolved } from '../kernel/settings.ts'
import type { Transport } from '../kernel/transport.ts'
import type { Quarantines } from '../roles/site/parts.ts'
import { filedropSettings } from '../roles/site/settings.ts'
import { accreditationLapse } from './accredited-peers.ts'
import { faultStop } from './fault-stop.ts'
import { newestCheckpoints } from './newest-checkpoints.ts'
import { passphraseIn } from './passphrase.ts'
import { holdPeer } from './patient-lock.ts'
import { valuesOf } from './profile.ts'
import { rootKeys } from './root-keys.ts'
import type { SiteFolder } from './site-folder.ts'
import type { Stock } from './stock.ts'

export type CarrierMaterials = {
  readonly folder: SiteFolder
  readonly site: Site
  readonly resolved: Resolved
  readonly stock: Stock
  readonly peers: Peers
  readonly clock: { now(): number; monotonic(): number }
  readonly random: (bytes: number) => string
  readonly log: Log
  readonly metrics: Metrics
}

/** What the carriers count; declared beside the metrics of the role that owns them. */
export const carrierMetrics: readonly Metric[] = [...filedropMetrics, ...mtlsMetrics]

export function openCarriers({ folder, site, resolved, stock, peers, ...around }: CarrierMaterials): Transport[] {
  const { skew_s, truncated_after_s, releasable_names, release_days, acknowledgements, ...settings } = valuesOf(
    resolved,
    filedropSettings,
  )
  return [
    filedropTransport({
      ...around,
      site: site.name,
      tenant_id: site.tenant_id,
      releasable_names,
      root: folder.filedrop,
      peers,
      signatures: joseSignatures({
        dir: folder.keys,
        now: around.clock.now,
        passphrase: passphraseIn(valuesOf(resolved, identitySettings).keys_passphrase_file),
      }),
      journal: sqliteJournal(stock.file, stock.audit),
      label_policy: site.labels,
      checkpoints: newestCheckpoints(stock.store, site),
      roots: () => rootKeys(folder.keys, around.clock.now()),
      acknowledgements,
      isAccredited: (peer) => accreditationLapse(peer, resolved, around.clock.now()) === undefined,
      record: (events) => stock.audit.append(events),
      hold: (peer) => holdPeer(folder, peer),
      ...(faultStop ? { reached: faultStop } : {}),
      settings: { ...settings, skew_ms: skew_s * 1_000, truncated_after_ms: truncated_after_s * 1_000 },
    }),
  ]
}

export function quarantinesOf(folder: SiteFolder, resolved: Resolved, peers: Peers): Quarantines {
  const limits = valuesOf(resolved, filedropSettings)
  return {
    async list(peer, limit, after) {
      const names = peer === undefined ? (await peers.list()).map(({ name }) => name) : [peer]
      const all = names.flatMap((name) => listQuarantine(folder.filedrop, name, Number.POSITIVE_INFINITY))
      const later = after === undefined ? all : all.filter((entry) => newestFirst(after, entry) < 0)
      return later.sort(newestFirst).slice(0, limit)
    },
    async get(peer, id) {
      const found = quarantinedItem(folder.filedrop, peer, id, limits)
      if (!found) return undefined
      const { statement_digest, channel: _channel, files, ...about } = found
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
      const digest = statement_digest === undefined ? {} : { digest: statement_digest }
      return { ...about, id: `${peer}/${id}`, file: files[0]?.was ?? '', ...digest, bytes, files: [...files] }
    },
  }
}

function newestFirst(a: { at: string; id: string }, b: { at: string; id: string }): number {
  if (a.at !== b.at) return a.at < b.at ? 1 : -1
  return a.id < b.id ? -1 : Number(a.id > b.id)
}
