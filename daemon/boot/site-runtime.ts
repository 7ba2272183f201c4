// The part of a site that runs in this process: its roles, their databases, and what their wires open.
import { prometheusMetrics } from '../../adapters/metrics/prometheus/prometheus-metrics.ts'
import type { RoleContext } from '../kernel/operation/role-context.ts'
import type { Role } from '../kernel/role/role.ts'
import { getSettings } from '../kernel/settings/get-settings.ts'
import { platformSettings } from '../kernel/settings/platform-settings.ts'
import type { Log } from '../kernel/telemetry/log.ts'
import { settings as siteRoleSettings } from '../roles/site/settings.ts'
import { roles } from '../roles.ts'
import { loadWire } from '../runtime/wires.ts'
import { dependencyHealthCheck } from './dependency-health.ts'
import { housekeepingWorkers } from './housekeeping.ts'
import { stop_grace_ms } from './lifecycle.ts'
import { listTransportNames } from './links/network-carriers.ts'
import { roleCaller } from './role-caller.ts'
import { SiteRoleClients } from './role-clients.ts'
import { buildRoleEnvironment } from './role-environment.ts'
import type { RoleWire } from './role-wire.ts'
import { createRoleService, httpMetrics, type RoleService } from './service.ts'
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
      const wire = await loadWire(role.name)
      await wire?.prepare?.(plan.folder)
      shared.services.push(await wireRole(shared, role, wire))
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
      // Without what moves by itself its role cannot do its work, and the others can.
      for (const [role, { start }] of [...shared.wired]) if (start) await withoutFailing(role, start)
      someoneIsLeft()
    },
    close: (drain_ms) => closeSiteRuntime(shared, drain_ms),
  }
}

/** Takes a role that could not start out of this process, so that another process may run it. */
async function removeRole({ services, storages, wired, directory }: SiteResources, role: string): Promise<void> {
  directory.contexts.delete(role)
  await wired.get(role)?.stop?.(0)
  wired.get(role)?.remove?.()
  wired.delete(role)
  for (const service of removeMatching(services, (each) => each.role.name === role)) await service.stop(0)
  for (const storage of removeMatching(storages, (each) => each.role === role)) await storage.close()
}

/** Removes from the list what fits, and gives it back. */
function removeMatching<T>(list: T[], fits: (each: T) => boolean): T[] {
  const found = list.filter(fits)
  list.splice(0, list.length, ...list.filter((each) => !fits(each)))
  return found
}

/** Gives one role its storage, what its wire opens, its environment and its context. */
async function wireRole(shared: SiteResources, role: Role, wire: RoleWire | undefined): Promise<RoleService> {
  const { folder, resolved, site, clock, random, identity, directory } = shared
  const storage = await openRoleStorage(folder, role, site.name, resolved)
  shared.storages.push(storage)
  const log = shared.logOf(role.name)
  const declared = [...role.metrics, ...(wire?.metrics ?? []), ...httpMetrics]
  const metrics = prometheusMetrics(declared, { process: true })
  const wired = await wire?.open({ role, resources: shared, storage, metrics, log })
  if (wired) shared.wired.set(role.name, wired)
  const caller = roleCaller(directory, role.name)
  const parts = new Map<string, unknown>(wired?.parts)
  const environment = buildRoleEnvironment({
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
  const context: RoleContext = {
    environment,
    roles: (trace) => new SiteRoleClients(caller, trace),
    identity: identity.providerFor(role.name),
    role_table: identity.role_table,
    store: storage.store,
    record: (events) => storage.audit.append(events),
    spans: shared.spans,
    only_tenant: role.serves === 'site' ? site.tenant_id : undefined,
  }
  directory.contexts.set(role.name, context)
  const { audit_keep_days } = getSettings(resolved, siteRoleSettings)
  const service: RoleService = createRoleService({
    role,
    folder,
    log,
    metrics,
    storage,
    context,
    environment,
    parts,
    // File-drop is there for every site: a channel needs only an enrolled peer.
    deployment: {
      deployment_profile: site.deployment_profile,
      settings: resolved,
      transports: listTransportNames(resolved),
    },
    dependencyHealth: dependencyHealthCheck(role, folder, shared.services, shared),
    housekeeping: housekeepingWorkers(storage, role.collections, audit_keep_days).filter(
      ({ name }) => name !== 'anchor' || isAnchored(shared, role),
    ),
    publicListener: wired?.publicListener,
  })
  return service
}

/** A role that runs alone on its site has no other that keeps the head of its audit chain. */
function isAnchored({ resolved, starting }: SiteResources, { needs }: Role): boolean {
  const named = [...getSettings(resolved, platformSettings).roles, ...starting.map(({ name }) => name), ...needs]
  const keepers = roles.filter(({ keeps_audit_anchors }) => keeps_audit_anchors).map(({ name }) => name)
  return named.some((name) => keepers.includes(name))
}

async function closeSiteRuntime(shared: SiteResources, drain_ms: number): Promise<void> {
  const { wired, services, storages, keyValue, spans } = shared
  // First of all, so that a load balancer that reads the health sends no more requests here.
  for (const service of services) service.announceStop()
  for (const { stop } of [...wired.values()].toReversed()) await stop?.(drain_ms)
  for (const service of services.toReversed()) await service.stop(drain_ms)
  for (const storage of storages.toReversed()) await storage.close()
  await keyValue.close()
  await spans?.close(Math.min(drain_ms, stop_grace_ms))
}
