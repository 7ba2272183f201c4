// Opens the networks that the profile names peers for; the code of the others is never loaded.
import type { Log } from '../kernel/call.ts'
import type { Carrier } from '../kernel/carrier.ts'
import type { Peers } from '../kernel/peer.ts'
import type { Block, Resolved } from '../kernel/settings.ts'
import { networksOf } from '../roles/site/carrier-settings.ts'
import { valuesOf } from './profile.ts'
import type { SiteFolder } from './site-folder.ts'

export type NetworkMaterials = {
  readonly folder: SiteFolder
  readonly resolved: Resolved
  /** This site's name. */
  readonly site: string
  readonly peers: Peers
  readonly log: Log
}

type Maker = (given: NetworkMaterials) => Promise<Carrier>

const makers: Readonly<Partial<Record<Carrier['name'], Maker>>> = {}

/** For `networksOf` and its like. */
export const readFrom = (resolved: Resolved) => (section: Block) => valuesOf(resolved, section)

/** None is started yet. Throws what a carrier says of settings that cannot be used. */
export async function networkCarriers(given: NetworkMaterials): Promise<Carrier[]> {
  const opening = networksOf(readFrom(given.resolved)).map(({ name }) => makers[name]?.(given))
  return (await Promise.all(opening)).filter((carrier) => carrier !== undefined)
}
