// Everything of a site that runs in this process: its roles, their databases, the carriers between sites.
import { mkdirSync } from 'node:fs'
import type { Clock } from '../../adapters/host/clock/system-clock.ts'
import { pinoLog } from '../../adapters/host/log/pino-log.ts'
import { systemRandom } from '../../adapters/host/random/system-random.ts'
import { prometheusMetrics } from '../../adapters/metrics/prometheus/prometheus-metrics.ts'
import { peerFiles } from '../../adapters/peers/files/peer-files.ts'
import type { Log, Site } from '../kernel/call.ts'
import type { Workshop } from '../kernel/invoke.ts'
import type { Peers } from '../kernel/peer.ts'
import { identitySettings, labelSettings, platformSettings } from '../kernel/platform-settings.ts'
import type { Role } from '../kernel/role.ts'
import type { Resolved } from '../kernel/settings.ts'
import type { Transport } from '../kernel/transport.ts'
import { settings as siteRoleSettings } from '../roles/site/settings.ts'
import { asking, type Office } from './asking.ts'
import { type Bus, bus } from './bus.ts'
import { delivery, recentlyVerified } from './carriage.ts'
import { carrierMetrics, openCarriers } from './carriers.ts'
import { chores } from './chores.ts'
import { type Identity, offlineIdentity } from './issuer.ts'
import { needsOf } from './needs.ts'
import { valuesOf } from './profile.ts'
import { httpMetrics, newService, type Service } from './service.ts'
import type { SiteFolder } from './site-folder.ts'
import { siteParts } from './site-parts.ts'
import { openStock, type Stock } from './stock.ts'
import { surroundings } from './surroundings.ts'

export type Plan = {
  readonly folder: SiteFolder
  readonly resolved: Resolved
  /** In the order in which they start. */
  readonly starting: readonly Role[]
  readonly clock: Clock
  /** Instead of the process's own log. */
  readonly log: Log | undefined
}

export type House = {
  readonly services: readonly Service[]
  readonly log: Log
  startCarriers(): Promise<void>
  /** Carriers first, so that nothing new comes in, then the services, then their databases. */
  close(drain_ms: number): Promise<void>
}

/** What all roles of the process share. */
type Shared = Plan & {
  readonly site: Site
  readonly logOf: (role: string) => Log
  readonly random: (bytes: number) => string
  readonly identity: Identity
  readonly peers: Peers
  readonly recent: ReturnType<typeof recentlyVerified>
  readonly office: Office & { readonly workshops: Map<string, Workshop> }
  readonly announcements: Bus
  readonly stocks: Stock[]
  readonly services: Service[]
  readonly transports: Transport[]
}

/** Opens databases and carriers of all roles; nothing listens yet. What was opened is closed again when one fails. */
export async function openHouse(plan: Plan): Promise<House> {
  const shared = share(plan)
  try {
    for (const role of plan.starting) shared.services.push(furnish(shared, role))
  } catch (error) {
    await close(shared, 0)
    throw error
  }
  const log = shared.logOf('boot')
  return {
    services: shared.services,
    log,
    async startCarriers() {
      for (const transport of shared.transports) {
        const deliver = delivery(asking(shared.office, 'site'), log)
        await transport.start((message) => shared.recent.during(message, shared.peers, () => deliver(message)))
      }
    },
    close: (drain_ms) => close(shared, drain_ms),
  }
}

function share(plan: Plan): Shared {
  const { folder, resolved, clock } = plan
  const site = siteOf(resolved)
  const random = systemRandom()
  const level = valuesOf(resolved, platformSettings).log_level
  const logOf = (role: string) => plan.log ?? pinoLog({ level, to: 'stderr', base: { site: site.name, role } })
  mkdirSync(folder.run, { recursive: true, mode: 0o700 })
  const settings = valuesOf(resolved, identitySettings)
  const identity = offlineIdentity({ folder, site, settings, log: logOf('identity'), now: clock.now, random })
  return {
    ...plan,
    site,
    logOf,
    random,
    identity,
    peers: peerFiles(folder.peers),
    recent: recentlyVerified(),
    office: { folder, workshops: new Map(), serviceToken: identity.serviceToken, random },
    announcements: bus(),
    stocks: [],
    services: [],
    transports: [],
  }
}

/** Gives one role its database, its surroundings and its workshop. The site role brings the carriers. */
function furnish(shared: Shared, role: Role): Service {
  const { folder, resolved, site, clock, random, identity, office, transports } = shared
  const stock = openStock(folder, role, site.name)
  shared.stocks.push(stock)
  const log = shared.logOf(role.name)
  const carried = role.name === 'site' ? carrierMetrics : []
  const metrics = prometheusMetrics([...role.metrics, ...carried, ...httpMetrics], { process: true })
  if (role.name === 'site') transports.push(...openCarriers({ ...shared, stock, log, metrics }))
  const ask = asking(office, role.name)
  const parts = new Map<string, unknown>(siteParts({ ...shared, role, now: clock.now }))
  const around = surroundings({
    role: role.name,
    site,
    log,
    settings: resolved,
    metrics,
    bus: shared.announcements,
    ask,
    parts,
    now: clock.now,
    monotonic: clock.monotonic,
    random,
    wake: (worker) => service.wake(worker),
  })
  const workshop: Workshop = {
    surroundings: around,
    identity: identity.provider,
    role_table: identity.role_table,
    store: stock.store,
    record: (events) => stock.audit.append(events),
  }
  office.workshops.set(role.name, workshop)
  const { audit_keep_days } = valuesOf(resolved, siteRoleSettings)
  const service: Service = newService({
    role,
    folder,
    log,
    metrics,
    stock,
    workshop,
    surroundings: around,
    parts,
    // File-drop is there for every site: a channel needs only an enrolled peer.
    about: { deployment_profile: site.deployment_profile, settings: resolved, transports: ['filedrop'] },
    needs: needsOf(role, folder, shared.services, transports),
    chores: chores(stock, ask, role.collections, audit_keep_days),
  })
  return service
}

async function close({ transports, services, stocks }: Shared, drain_ms: number): Promise<void> {
  for (const transport of transports) await transport.stop()
  for (const service of services.toReversed()) await service.stop(drain_ms)
  for (const stock of stocks.toReversed()) await stock.close()
}

function siteOf(resolved: Resolved): Site {
  const { name, tenant_id, deployment_profile } = valuesOf(resolved, platformSettings)
  const { policy, levels, default_level } = valuesOf(resolved, labelSettings)
  return { name, tenant_id, deployment_profile, labels: { policy, levels }, default_level }
}
