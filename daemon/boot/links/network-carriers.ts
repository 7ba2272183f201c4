// Opens the networks for which the profile names peers, and runs their link pumps; does not load the code of others.
import type { AuditEvent } from '../../kernel/audit/audit-chain.ts'
import type { Peers } from '../../kernel/identity/peer.ts'
import type { Carrier, Handover } from '../../kernel/messaging/carrier.ts'
import { computeBackoff_ms } from '../../kernel/network/backoff.ts'
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
import { type LinkPump, linkPump } from './link-pump.ts'

export type NetworkCarrierOptions = {
  readonly folder: SiteFolder
  readonly resolved: ResolvedSettings
  readonly site: Site
  readonly peers: Peers
  readonly log: Log
  /** A uniform random number from 0 to 1. */
  readonly chance: () => number
  /** Metrics of the site role. */
  readonly metrics: Metrics
  readonly record: (events: readonly AuditEvent[]) => Promise<void>
  readonly random: (bytes: number) => string
  readonly clock: { now(): number }
}

/** `feed`: of a network that also publishes what concerns a whole coalition. */
type OpenedCarrier = { readonly carrier: Carrier; readonly feed?: StatusFeed }
type CarrierFactory = (options: NetworkCarrierOptions) => Promise<OpenedCarrier>

/** Running links, each added as soon as it is open. */
export type RunningLinks = {
  readonly carriers: Carrier[]
  readonly feeds: StatusFeed[]
  readonly linkPumps: LinkPump[]
}

const carrierFactories: Readonly<Partial<Record<Carrier['name'], CarrierFactory>>> = {
  mtls: async (options) => ({ carrier: (await import('./mtls-carrier.ts')).openMtlsCarrier(options) }),
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
  async coalition(options) {
    const carrier = (await import('./coalition-carrier.ts')).openCoalitionCarrier(options)
    return { carrier, feed: carrier }
  },
}

const sectionReader = (resolved: ResolvedSettings) => (section: SettingsBlock) => getSettings(resolved, section)

/** Transports of this site; file-drop is always available. */
export function listTransportNames(resolved: ResolvedSettings): string[] {
  return ['filedrop', ...listNetworks(sectionReader(resolved)).map(({ name }) => name)]
}

/** Opens and starts all carriers; adds each to `running` at once. Throws the error of a carrier that cannot start. */
export async function startLinkPumps(
  options: NetworkCarrierOptions,
  handover: Handover,
  running: RunningLinks,
): Promise<void> {
  for (const { carrier, feed } of await openNetworkCarriers(options)) {
    running.carriers.push(carrier)
    if (feed) running.feeds.push(feed)
  }
  const { rescan_ms } = getSettings(options.resolved, filedropSettings)
  for (const carrier of running.carriers) {
    const pump = linkPump({ ...options, carrier, handover, poll_interval_ms: rescan_ms })
    running.linkPumps.push(pump)
    await pump.start()
  }
}

/** Opens the carriers without starting them. Throws for unusable settings. */
async function openNetworkCarriers(options: NetworkCarrierOptions): Promise<OpenedCarrier[]> {
  const openings = listNetworks(sectionReader(options.resolved)).map(({ name }) => carrierFactories[name]?.(options))
  return (await Promise.all(openings)).filter((opened) => opened !== undefined)
}

/** Problems that prevent a network from being opened, found before anything starts. */
export async function findNetworkProblems(folder: SiteFolder, resolved: ResolvedSettings): Promise<ProfileProblem[]> {
  const names = listNetworks(sectionReader(resolved)).map(({ name }) => name)
  if (names.length === 0) return []
  const mtls = names.includes('mtls') ? (await import('./mtls-carrier.ts')).findMtlsProblems(folder, resolved) : []
  const { inspectNetworkFiles } = await import('./network-files.ts')
  const otherProblems = inspectNetworkFiles(resolved).flatMap(({ name, faults }) =>
    faults.map((message) => ({ path: name, message })),
  )
  return [...mtls, ...otherProblems]
}
