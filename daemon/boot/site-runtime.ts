// Everything of a site that runs in this process: its roles, their databases, the carriers between sites.
import { prometheusMetrics } from '../../adapters/metrics/prometheus/prometheus-metrics.ts'
import type { Log } from '../kernel/operation/call.ts'
import type { RoleContext } from '../kernel/operation/perform-operation.ts'
import type { Role } from '../kernel/role/role.ts'
import { platformSettings } from '../kernel/settings/platform-settings.ts'
import type { Metrics } from '../kernel/telemetry/metrics.ts'
import { runInSpan } from '../kernel/telemetry/spans.ts'
import { settings as siteRoleSettings } from '../roles/site/settings.ts'
import { buildSiteParts } from '../runtime/site/wire.ts'
import { dependencyHealthCheck } from './dependency-health.ts'
import { housekeepingWorkers } from './housekeeping.ts'
import { repairKeyList } from './identity/token-key-list.ts'
import { buildDeliverySpan, inboundDelivery } from './links/inbound-delivery.ts'
import { listTransportNames, startLinkPumps } from './links/network-carriers.ts'
import { linkMetrics, openTransports } from './links/transports.ts'
import { getSettings } from './profile.ts'
import { readEpoch_ms, roleCaller } from './role-caller.ts'
import { SiteRoleClients } from './role-clients.ts'
import { buildRoleEnvironment } from './role-environment.ts'
import { createRoleService, httpMetrics, type RoleService, stop_grace_ms, waitAtMost } from './service.ts'
import { openSiteResources, type SiteResources, type StartPlan } from './site-resources.ts'
import { openRoleStorage } from './storage/role-storage.ts'

export type SiteRuntime = {
  readonly services: readonly RoleService[]
  readonly log: Log
  /** Listens, starts the workers and the carriers. Throws when no role is left. */
  open(): Promise<void>
  /** Carriers first, so that nothing new comes in, then the services, then their databases. */
  close(drain_ms: number): Promise<void>
}

/** Opens databases and carriers of all roles; nothing listens yet. A role that cannot start leaves the others alone. */
export async function openSiteRuntime(plan: StartPlan): Promise<SiteRuntime> {
  const shared = await openSiteResources(plan)
  const log = shared.logOf('boot')
  const failures: unknown[] = []
  const withoutFailing = async (role: string, act: () => Promise<void>) => {
    try {
      await act()
    } catch (error) {
      failures.push(error)
      log.error('platform.role.failed', { failed: role, error: error instanceof Error ? error.message : String(error) })
      await removeRole(shared, role)
    }
  }
  const someoneIsLeft = () => {
    if (shared.services.length === 0) throw failures[0]
  }
  for (const role of plan.starting) {
    await withoutFailing(role.name, async () => {
      // A command that changed the keys may have been cut short: what is public then lags behind.
      if (role.name === 'site') await repairKeyList(plan.folder)
      shared.services.push(await wireRole(shared, role))
    })
  }
  someoneIsLeft()
  return {
    services: shared.services,
    log,
    async open() {
      for (const service of [...shared.services]) await withoutFailing(service.role.name, () => service.listen())
      someoneIsLeft()
      for (const service of shared.services) service.startWorkers()
      // They are the site role's: without them it cannot do its work, and the others can.
      await withoutFailing('site', () => startLinks(shared, log))
      someoneIsLeft()
    },
    close: (drain_ms) => closeSiteRuntime(shared, drain_ms),
  }
}

async function startLinks(shared: SiteResources, log: Log): Promise<void> {
  const deliver = inboundDelivery(roleCaller(shared.directory, 'site'), log)
  const { spans, verifiedMessages, peers } = shared
  for (const transport of shared.transports) {
    await transport.start((message, arrived) => {
      const trace = spans?.start(arrived) ?? arrived
      return runInSpan(
        spans,
        buildDeliverySpan(transport.name, message, trace),
        readEpoch_ms,
        ({ verdict }) => verdict === 'later',
        () => verifiedMessages.retainDuring(message, peers, () => deliver(message, trace)),
      )
    })
  }
  // Networks come last, and bring to what runs already.
  const handover = shared.transports.find((each) => each.handover)?.handover
  const [account] = shared.recorders
  if (handover && account) await startLinkPumps({ ...shared, ...account, log }, handover, shared)
}

/** Takes a role that could not start out of this process, so that another process may run it. */
async function removeRole(
  { services, storages, transports, linkPumps, directory }: SiteResources,
  role: string,
): Promise<void> {
  directory.contexts.delete(role)
  if (role === 'site') for (const each of [...linkPumps.splice(0), ...transports.splice(0)]) await each.stop()
  for (const service of removeMatching(services, (each) => each.role.name === role)) await service.stop(0)
  for (const stock of removeMatching(storages, (each) => each.role === role)) await stock.close()
}

/** Removes from the list what fits, and gives it back. */
function removeMatching<T>(list: T[], fits: (each: T) => boolean): T[] {
  const found = list.filter(fits)
  list.splice(0, list.length, ...list.filter((each) => !fits(each)))
  return found
}

/** Gives one role its database, its surroundings and its workshop. The site role brings the carriers. */
async function wireRole(shared: SiteResources, role: Role): Promise<RoleService> {
  const { folder, resolved, site, clock, random, identity, directory, transports } = shared
  const stock = await openRoleStorage(folder, role, site.name, resolved)
  shared.storages.push(stock)
  const log = shared.logOf(role.name)
  const carried = role.name === 'site' ? linkMetrics : []
  const metrics = prometheusMetrics([...role.metrics, ...carried, ...httpMetrics], { process: true })
  if (role.name === 'site') {
    transports.push(...openTransports({ ...shared, storage: stock, log, metrics }))
    shared.recorders.push({ metrics, record: (events) => stock.audit.append(events) })
  }
  const ask = roleCaller(directory, role.name)
  const parts = new Map<string, unknown>(buildSiteParts({ ...shared, role, now: clock.now, audit: stock.audit }))
  if (role.name === 'resolution') {
    const { buildResolutionParts } = await import('../runtime/resolution/wire.ts')
    for (const [name, part] of buildResolutionParts(folder, resolved, clock.monotonic)) parts.set(name, part)
  }
  if (role.name === 'intelligence') {
    const { buildIntelligenceParts } = await import('../runtime/intelligence/wire.ts')
    for (const [name, part] of await buildIntelligenceParts(resolved)) parts.set(name, part)
  }
  const front = await openRoleListener(shared, role, metrics, log)
  for (const [name, part] of front?.parts ?? []) parts.set(name, part)
  const around = buildRoleEnvironment({
    role: role.name,
    site,
    log,
    settings: resolved,
    metrics,
    bus: shared.announcements,
    parts,
    now: clock.now,
    monotonic: clock.monotonic,
    random,
    wake: (worker) => service.wake(worker),
  })
  const workshop: RoleContext = {
    environment: around,
    roles: (trace) => new SiteRoleClients(ask, trace),
    identity: identity.providerFor(role.name),
    role_table: identity.role_table,
    store: stock.store,
    record: (events) => stock.audit.append(events),
    spans: shared.spans,
    only_tenant: role.serves === 'site' ? site.tenant_id : undefined,
  }
  directory.contexts.set(role.name, workshop)
  const { audit_keep_days } = getSettings(resolved, siteRoleSettings)
  const service: RoleService = createRoleService({
    role,
    folder,
    log,
    metrics,
    storage: stock,
    context: workshop,
    environment: around,
    parts,
    // File-drop is there for every site: a channel needs only an enrolled peer.
    deployment: {
      deployment_profile: site.deployment_profile,
      settings: resolved,
      transports: listTransportNames(resolved),
    },
    dependencyHealth: dependencyHealthCheck(role, folder, shared.services, shared),
    housekeeping: housekeepingWorkers(stock, role.collections, audit_keep_days).filter(
      ({ name }) => name !== 'anchor' || isAnchored(shared, role),
    ),
    publicListener: front,
  })
  return service
}

/** A role that stands alone, as the proxy may, has no site role to keep the head of its audit chain. */
function isAnchored({ resolved, starting }: SiteResources, { needs }: Role): boolean {
  const named = [...getSettings(resolved, platformSettings).roles, ...starting.map(({ name }) => name), ...needs]
  return named.includes('site')
}

/** The one role that strangers speak to by something other than its operations. */
async function openRoleListener(shared: SiteResources, role: Role, metrics: Metrics, log: Log) {
  if (role.name !== 'proxy') return undefined
  const { openPublicListener } = await import('../runtime/proxy/public-listener.ts')
  return openPublicListener({ ...shared, metrics, log })
}

async function closeSiteRuntime(shared: SiteResources, drain_ms: number): Promise<void> {
  const { transports, linkPumps, services, storages, keyValue, spans } = shared
  // Before anything is waited for, so that whoever asks for health sends nobody here any more.
  for (const service of services) service.announceStop()
  for (const each of [...linkPumps, ...transports]) await waitAtMost(drain_ms + stop_grace_ms, each.stop())
  for (const service of services.toReversed()) await service.stop(drain_ms)
  for (const stock of storages.toReversed()) await stock.close()
  await keyValue.close()
  await spans?.close(Math.min(drain_ms, stop_grace_ms))
}
