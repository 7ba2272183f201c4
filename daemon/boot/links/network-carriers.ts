// Opens the networks that the profile names peers for, and runs their link pumps; the code of other networks is not
// loaded.
import type { AuditEvent } from '../../kernel/audit/audit-chain.ts'
import type { Peers } from '../../kernel/identity/peer.ts'
import type { Carrier, Handover } from '../../kernel/messaging/carrier.ts'
import type { Site } from '../../kernel/role/site.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings, SettingsBlock } from '../../kernel/settings/settings.ts'
import type { Log } from '../../kernel/telemetry/log.ts'
import type { Metrics } from '../../kernel/telemetry/metrics.ts'
import { amqpSettings, listNetworks } from '../../roles/site/carrier-settings.ts'
import { filedropSettings } from '../../roles/site/settings.ts'
import type { StatusFeed } from '../../shared/coalition/status-feed.ts'
import type { SiteFolder } from '../storage/site-folder.ts'
import { computeBackoff_ms, type LinkPump, linkPump } from './link-pump.ts'
import type { ProcessEnvironment } from './network-files.ts'

export type NetworkCarrierOptions = {
  readonly folder: SiteFolder
  readonly resolved: ResolvedSettings
  readonly site: Site
  readonly peers: Peers
  readonly log: Log
  /** A random number from 0 to 1, uniformly distributed. */
  readonly chance: () => number
  /** Metrics of the site role. */
  readonly metrics: Metrics
  readonly record: (events: readonly AuditEvent[]) => Promise<void>
  readonly random: (bytes: number) => string
  readonly clock: { now(): number }
}

/** `feed`: of a network that also publishes what concerns a whole coalition. */
type OpenedCarrier = { readonly carrier: Carrier; readonly feed?: StatusFeed }
type CarrierFactory = (given: NetworkCarrierOptions) => Promise<OpenedCarrier>

/** Running links, each added as soon as it is open. */
export type RunningLinks = {
  readonly carriers: Carrier[]
  readonly feeds: StatusFeed[]
  readonly linkPumps: LinkPump[]
}

const carrierFactories: Readonly<Partial<Record<Carrier['name'], CarrierFactory>>> = {
  mtls: async (given) => ({ carrier: (await import('./mtls-carrier.ts')).openMtlsCarrier(given) }),
  async amqp({ resolved, site, log, chance }) {
    const { amqpCarrier } = await import('../../../adapters/transport/amqp/carrier.ts')
    const { url, user, password, prefix, queue_type, peers, ...tls } = getSettings(resolved, amqpSettings)
    const { max_envelope_bytes: envelope_bytes, max_body_bytes: body_bytes } = getSettings(resolved, filedropSettings)
    const files = { ca_file: tls.tls_ca_file, cert_file: tls.tls_cert_file, key_file: tls.tls_key_file }
    const carrier = amqpCarrier({
      broker: { url, user, tls: files },
      password,
      site: site.name,
      prefix,
      queue_type,
      peers,
      limits: { envelope_bytes, body_bytes },
      log,
      wait_ms: (failures) => computeBackoff_ms(failures, chance()),
    })
    return { carrier }
  },
  async coalition(given) {
    const carrier = (await import('./coalition-carrier.ts')).openCoalitionCarrier(given)
    return { carrier, feed: carrier }
  },
}

const sectionReader = (resolved: ResolvedSettings) => (section: SettingsBlock) => getSettings(resolved, section)

/** Names of the transports of this site. A courier is always possible. */
export function listTransportNames(resolved: ResolvedSettings): string[] {
  return ['filedrop', ...listNetworks(sectionReader(resolved)).map(({ name }) => name)]
}

/** Opens and starts all networks of the profile. Throws the error of a carrier that cannot start. */
export async function startLinkPumps(
  given: NetworkCarrierOptions,
  handover: Handover,
  running: RunningLinks,
): Promise<void> {
  for (const { carrier, feed } of await openNetworkCarriers(given)) {
    running.carriers.push(carrier)
    if (feed) running.feeds.push(feed)
  }
  const { rescan_ms } = getSettings(given.resolved, filedropSettings)
  for (const carrier of running.carriers) {
    const ferrying = linkPump({ ...given, carrier, handover, poll_interval_ms: rescan_ms })
    running.linkPumps.push(ferrying)
    await ferrying.start()
  }
}

/** None is started yet. Throws the error of a carrier whose settings cannot be used. */
async function openNetworkCarriers(given: NetworkCarrierOptions): Promise<OpenedCarrier[]> {
  const opening = listNetworks(sectionReader(given.resolved)).map(({ name }) => carrierFactories[name]?.(given))
  return (await Promise.all(opening)).filter((opened) => opened !== undefined)
}

/** Problems that keep a network from being opened, found before anything starts. */
export async function findNetworkProblems(
  folder: SiteFolder,
  resolved: ResolvedSettings,
  env: ProcessEnvironment,
): Promise<ProfileProblem[]> {
  const names = listNetworks(sectionReader(resolved)).map(({ name }) => name)
  if (names.length === 0) return []
  const mtls = names.includes('mtls') ? (await import('./mtls-carrier.ts')).findMtlsProblems(folder, resolved) : []
  const { inspectNetworkFiles } = await import('./network-files.ts')
  const others = inspectNetworkFiles(resolved, env).flatMap(({ name, faults }) =>
    faults.map((message) => ({ path: name, message })),
  )
  return [...mtls, ...others]
}
