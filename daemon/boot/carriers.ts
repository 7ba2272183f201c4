// Opens the carriers between sites.
import type { Log, Site } from '../kernel/call.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Peers } from '../kernel/peer.ts'
import type { Resolved } from '../kernel/settings.ts'
import type { Transport } from '../kernel/transport.ts'
import type { Quarantines } from '../roles/site/parts.ts'
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

export async function openCarriers(_given: CarrierMaterials): Promise<readonly Transport[]> {
  return []
}

export function quarantinesOf(_folder: SiteFolder, _peers: Peers): Quarantines {
  return { list: async () => [], find: async () => undefined }
}
