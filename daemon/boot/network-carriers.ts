// Opens the networks that the profile names peers for, and runs their ferries; the code of the others is never loaded.
import type { AuditEvent } from '../kernel/audit.ts'
import type { Log, Site } from '../kernel/call.ts'
import type { Carrier, Handover } from '../kernel/carrier.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Peers } from '../kernel/peer.ts'
import type { Block, Resolved } from '../kernel/settings.ts'
import { amqpSettings, networksOf } from '../roles/site/carrier-settings.ts'
import { filedropSettings } from '../roles/site/settings.ts'
import { type Ferry, ferry, waitAfter } from './ferry.ts'
import type { Environment } from './network-files.ts'
import { type ProfileProblem, valuesOf } from './profile.ts'
import type { SiteFolder } from './site-folder.ts'

export type NetworkMaterials = {
  readonly folder: SiteFolder
  readonly resolved: Resolved
  readonly site: Site
  readonly peers: Peers
  readonly log: Log
  /** A number from 0 to 1, evenly. */
  readonly chance: () => number
  /** Those of the site role. */
  readonly metrics: Metrics
  readonly record: (events: readonly AuditEvent[]) => Promise<void>
  readonly random: (bytes: number) => string
  readonly clock: { now(): number }
}

type Maker = (given: NetworkMaterials) => Promise<Carrier>

const makers: Readonly<Partial<Record<Carrier['name'], Maker>>> = {
  mtls: async (given) => (await import('./mtls.ts')).openMtls(given),
  async amqp({ resolved, site, log, chance }) {
    const { amqpCarrier } = await import('../../adapters/transport/amqp/carrier.ts')
    const { url, user, password, prefix, queue_type, peers, ...tls } = valuesOf(resolved, amqpSettings)
    const { max_envelope_bytes: envelope_bytes, max_body_bytes: body_bytes } = valuesOf(resolved, filedropSettings)
    const files = { ca_file: tls.tls_ca_file, cert_file: tls.tls_cert_file, key_file: tls.tls_key_file }
    return amqpCarrier({
      broker: { url, user, tls: files },
      password,
      site: site.name,
      prefix,
      queue_type,
      peers,
      limits: { envelope_bytes, body_bytes },
      log,
      wait_ms: (failures) => waitAfter(failures, chance()),
    })
  },
  coalition: async (given) => (await import('./coalition.ts')).openCoalition(given),
}

const readFrom = (resolved: Resolved) => (section: Block) => valuesOf(resolved, section)

/** What may move a message of this site. A courier can always come. */
export function transportNames(resolved: Resolved): string[] {
  return ['filedrop', ...networksOf(readFrom(resolved)).map(({ name }) => name)]
}

/** Opens and starts all; what runs is in `running` as soon as it does. Throws as a carrier does that cannot start. */
export async function startFerries(
  given: NetworkMaterials,
  handover: Handover,
  running: { readonly carriers: Carrier[]; readonly ferries: Ferry[] },
): Promise<void> {
  running.carriers.push(...(await networkCarriers(given)))
  const { rescan_ms } = valuesOf(given.resolved, filedropSettings)
  for (const carrier of running.carriers) {
    const ferrying = ferry({ ...given, carrier, handover, look_every_ms: rescan_ms })
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
export async function networkProblems(
  folder: SiteFolder,
  resolved: Resolved,
  env: Environment,
): Promise<ProfileProblem[]> {
  const names = networksOf(readFrom(resolved)).map(({ name }) => name)
  if (names.length === 0) return []
  const mtls = names.includes('mtls') ? (await import('./mtls.ts')).mtlsProblems(folder, resolved) : []
  const { networkFiles } = await import('./network-files.ts')
  const others = networkFiles(resolved, env).flatMap(({ name, faults }) =>
    faults.map((message) => ({ path: name, message })),
  )
  return [...mtls, ...others]
}
