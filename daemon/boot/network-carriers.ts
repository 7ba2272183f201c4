// Opens the networks that the profile names peers for; the code of the others is never loaded.
import type { AuditEvent } from '../kernel/audit.ts'
import type { Log, Site } from '../kernel/call.ts'
import type { Carrier, Handover } from '../kernel/carrier.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Peers } from '../kernel/peer.ts'
import type { Block, Resolved } from '../kernel/settings.ts'
import { networksOf } from '../roles/site/carrier-settings.ts'
import { filedropSettings } from '../roles/site/settings.ts'
import { type Ferry, ferry } from './ferry.ts'
import { type ProfileProblem, valuesOf } from './profile.ts'
import type { SiteFolder } from './site-folder.ts'

export type NetworkMaterials = {
  readonly folder: SiteFolder
  readonly resolved: Resolved
  readonly site: Site
  readonly peers: Peers
  readonly log: Log
  /** Those of the site role. */
  readonly metrics: Metrics
  readonly record: (events: readonly AuditEvent[]) => Promise<void>
  readonly random: (bytes: number) => string
  readonly clock: { now(): number }
}

type Maker = (given: NetworkMaterials) => Promise<Carrier>

const makers: Readonly<Partial<Record<Carrier['name'], Maker>>> = {
  mtls: async (given) => (await import('./mtls.ts')).openMtls(given),
}

/** For `networksOf` and its like. */
export const readFrom = (resolved: Resolved) => (section: Block) => valuesOf(resolved, section)

/** Opens and starts all; what runs is in `running` as soon as it does. Throws as a carrier does that cannot start. */
export async function startFerries(
  given: NetworkMaterials,
  handover: Handover,
  running: { readonly carriers: Carrier[]; readonly ferries: Ferry[] },
): Promise<void> {
  const { log, random, resolved } = given
  running.carriers.push(...(await networkCarriers(given)))
  const { rescan_ms } = valuesOf(resolved, filedropSettings)
  const chance = () => Number.parseInt(random(6), 16) / 2 ** 48
  for (const carrier of running.carriers) {
    const ferrying = ferry({ carrier, handover, log, chance, look_every_ms: rescan_ms })
    running.ferries.push(ferrying)
    await ferrying.start()
  }
}

/** None is started yet. Throws what a carrier says of settings that cannot be used. */
async function networkCarriers(given: NetworkMaterials): Promise<Carrier[]> {
  const opening = networksOf(readFrom(given.resolved)).map(({ name }) => makers[name]?.(given))
  return (await Promise.all(opening)).filter((carrier) => carrier !== undefined)
}

/** What keeps a network from being opened, told before anything starts. */
export async function networkProblems(folder: SiteFolder, resolved: Resolved): Promise<ProfileProblem[]> {
  const isWanted = networksOf(readFrom(resolved)).some(({ name }) => name === 'mtls')
  return isWanted ? (await import('./mtls.ts')).mtlsProblems(folder, resolved) : []
}
