// Opens the networks that the profile names peers for, and runs their ferries; the code of the others is never loaded.
import type { Log } from '../kernel/call.ts'
import type { Carrier, Handover } from '../kernel/carrier.ts'
import type { Peers } from '../kernel/peer.ts'
import type { Block, Resolved } from '../kernel/settings.ts'
import { networksOf } from '../roles/site/carrier-settings.ts'
import { filedropSettings } from '../roles/site/settings.ts'
import { type Ferry, ferry } from './ferry.ts'
import { valuesOf } from './profile.ts'
import type { SiteFolder } from './site-folder.ts'

export type NetworkMaterials = {
  readonly folder: SiteFolder
  readonly resolved: Resolved
  /** This site's name. */
  readonly site: string
  readonly peers: Peers
  readonly log: Log
  /** A number from 0 to 1, evenly. */
  readonly chance: () => number
}

type Maker = (given: NetworkMaterials) => Promise<Carrier>

const makers: Readonly<Partial<Record<Carrier['name'], Maker>>> = {
  coalition: async (given) => (await import('./coalition.ts')).openCoalition(given),
}

const readFrom = (resolved: Resolved) => (section: Block) => valuesOf(resolved, section)

/** What may move a message of this site. A courier can always come. */
export function transportNames(resolved: Resolved): string[] {
  return ['filedrop', ...networksOf(readFrom(resolved)).map(({ name }) => name)]
}

export type Networks = { readonly carriers: readonly Carrier[]; readonly ferries: readonly Ferry[] }

/** All at work. Throws what a carrier says of settings that cannot be used. */
export async function startNetworks(handover: Handover, given: NetworkMaterials): Promise<Networks> {
  const opening = networksOf(readFrom(given.resolved)).map(({ name }) => makers[name]?.(given))
  const carriers = (await Promise.all(opening)).filter((carrier) => carrier !== undefined)
  const { rescan_ms } = valuesOf(given.resolved, filedropSettings)
  const ferries = carriers.map((carrier) => ferry({ ...given, carrier, handover, look_every_ms: rescan_ms }))
  for (const each of ferries) await each.start()
  return { carriers, ferries }
}
