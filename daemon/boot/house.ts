// Everything of a site that runs in this process: its roles, their databases, the carriers between sites.
import { prometheusMetrics } from '../../adapters/metrics/prometheus/prometheus-metrics.ts'
import type { Log } from '../kernel/call.ts'
import type { Workshop } from '../kernel/invoke.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { platformSettings } from '../kernel/platform-settings.ts'
import type { Role } from '../kernel/role.ts'
import { inSpan } from '../kernel/spans.ts'
import { settings as siteRoleSettings } from '../roles/site/settings.ts'
import { asking, epoch_ms } from './asking.ts'
import { delivery, deliveryOf } from './carriage.ts'
import { carrierMetrics, openCarriers } from './carriers.ts'
import { chores } from './chores.ts'
import { mendList } from './listed-keys.ts'
import { needsOf } from './needs.ts'
import { startFerries, transportNames } from './network-carriers.ts'
import { OtherRoles } from './other-roles.ts'
import { valuesOf } from './profile.ts'
import { atMost, grace_ms, httpMetrics, newService, type Service } from './service.ts'
import { type Plan, type Shared, share } from './shared.ts'
import { siteParts } from './site-parts.ts'
import { openStock } from './stock.ts'
import { surroundings } from './surroundings.ts'

export type House = {
  readonly services: readonly Service[]
  readonly log: Log
  /** Listens, starts the workers and the carriers. Throws when no role is left. */
  open(): Promise<void>
  /** Carriers first, so that nothing new comes in, then the services, then their databases. */
  close(drain_ms: number): Promise<void>
}

/** Opens databases and carriers of all roles; nothing listens yet. A role that cannot start leaves the others alone. */
export async function openHouse(plan: Plan): Promise<House> {
  const shared = await share(plan)
  const log = shared.logOf('boot')
  const failures: unknown[] = []
  const withoutFailing = async (role: string, act: () => Promise<void>) => {
    try {
      await act()
    } catch (error) {
      failures.push(error)
      log.error('platform.role.failed', { failed: role, error: error instanceof Error ? error.message : String(error) })
      await leaveOut(shared, role)
    }
  }
  const someoneIsLeft = () => {
    if (shared.services.length === 0) throw failures[0]
  }
  for (const role of plan.starting) {
    await withoutFailing(role.name, async () => {
      // A command that changed the keys may have been cut short: what is public then lags behind.
      if (role.name === 'site') await mendList(plan.folder)
      shared.services.push(await furnish(shared, role))
    })
  }
  someoneIsLeft()
  return {
    services: shared.services,
    log,
    async open() {
      for (const service of [...shared.services]) await withoutFailing(service.role.name, () => service.listen())
      someoneIsLeft()
      for (const service of shared.services) service.work()
      // They are the site role's: without them it cannot do its work, and the others can.
      await withoutFailing('site', () => startCarriers(shared, log))
      someoneIsLeft()
    },
    close: (drain_ms) => close(shared, drain_ms),
  }
}

async function startCarriers(shared: Shared, log: Log): Promise<void> {
  const deliver = delivery(asking(shared.office, 'site'), log)
  const { spans, recent, peers } = shared
  for (const transport of shared.transports) {
    await transport.start((message, arrived) => {
      const trace = spans?.begun(arrived) ?? arrived
      return inSpan(
        spans,
        deliveryOf(transport.name, message, trace),
        epoch_ms,
        ({ verdict }) => verdict === 'later',
        () => recent.during(message, peers, () => deliver(message, trace)),
      )
    })
  }
  // Networks come last, and bring to what runs already.
  const handover = shared.transports.find((each) => each.handover)?.handover
  const [account] = shared.accounts
  if (handover && account) await startFerries({ ...shared, ...account, log }, handover, shared)
}

/** Takes a role that could not start out of this process, so that another process may run it. */
async function leaveOut({ services, stocks, transports, ferries, office }: Shared, role: string): Promise<void> {
  office.workshops.delete(role)
  if (role === 'site') for (const each of [...ferries.splice(0), ...transports.splice(0)]) await each.stop()
  for (const service of taken(services, (each) => each.role.name === role)) await service.stop(0)
  for (const stock of taken(stocks, (each) => each.role === role)) await stock.close()
}

/** Removes from the list what fits, and gives it back. */
function taken<T>(list: T[], fits: (each: T) => boolean): T[] {
  const found = list.filter(fits)
  list.splice(0, list.length, ...list.filter((each) => !fits(each)))
  return found
}

/** Gives one role its database, its surroundings and its workshop. The site role brings the carriers. */
async function furnish(shared: Shared, role: Role): Promise<Service> {
  const { folder, resolved, site, clock, random, identity, office, transports } = shared
  const stock = await openStock(folder, role, site.name, resolved)
  shared.stocks.push(stock)
  const log = shared.logOf(role.name)
  const carried = role.name === 'site' ? carrierMetrics : []
  const metrics = prometheusMetrics([...role.metrics, ...carried, ...httpMetrics], { process: true })
  if (role.name === 'site') {
    transports.push(...openCarriers({ ...shared, stock, log, metrics }))
    shared.accounts.push({ metrics, record: (events) => stock.audit.append(events) })
  }
  const ask = asking(office, role.name)
  const parts = new Map<string, unknown>(siteParts({ ...shared, role, now: clock.now, audit: stock.audit }))
  if (role.name === 'resolution') {
    const { resolutionParts } = await import('./resolution/parts.ts')
    for (const [name, part] of resolutionParts(folder, resolved, clock.monotonic)) parts.set(name, part)
  }
  if (role.name === 'intelligence') {
    const { intakeParts } = await import('./intake/parts.ts')
    for (const [name, part] of await intakeParts(resolved)) parts.set(name, part)
  }
  const front = await frontOf(shared, role, metrics, log)
  for (const [name, part] of front?.parts ?? []) parts.set(name, part)
  const around = surroundings({
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
  const workshop: Workshop = {
    surroundings: around,
    others: (trace) => new OtherRoles(ask, trace),
    identity: identity.providerFor(role.name),
    role_table: identity.role_table,
    store: stock.store,
    record: (events) => stock.audit.append(events),
    spans: shared.spans,
    only_tenant: role.serves === 'site' ? site.tenant_id : undefined,
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
    about: { deployment_profile: site.deployment_profile, settings: resolved, transports: transportNames(resolved) },
    needs: needsOf(role, folder, shared.services, shared),
    chores: chores(stock, role.collections, audit_keep_days).filter(
      ({ name }) => name !== 'anchor' || isAnchored(shared, role),
    ),
    front,
  })
  return service
}

/** A role that stands alone, as the proxy may, has no site role to keep the head of its audit chain. */
function isAnchored({ resolved, starting }: Shared, { needs }: Role): boolean {
  const named = [...valuesOf(resolved, platformSettings).roles, ...starting.map(({ name }) => name), ...needs]
  return named.includes('site')
}

/** The one role that strangers speak to by something other than its operations. */
async function frontOf(shared: Shared, role: Role, metrics: Metrics, log: Log) {
  if (role.name !== 'proxy') return undefined
  const { publicFront } = await import('./proxy/front.ts')
  return publicFront({ ...shared, metrics, log })
}

async function close(shared: Shared, drain_ms: number): Promise<void> {
  const { transports, ferries, services, stocks, keyValue, spans } = shared
  // Before anything is waited for, so that whoever asks for health sends nobody here any more.
  for (const service of services) service.endSoon()
  for (const each of [...ferries, ...transports]) await atMost(drain_ms + grace_ms, each.stop())
  for (const service of services.toReversed()) await service.stop(drain_ms)
  for (const stock of stocks.toReversed()) await stock.close()
  await keyValue.close()
  await spans?.close(Math.min(drain_ms, grace_ms))
}
