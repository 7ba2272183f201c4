// The running part of a site in this process: its roles, their databases, the carriers between sites.
import { prometheusMetrics } from '../../adapters/metrics/prometheus/prometheus-metrics.ts'
import { offeredResources } from '../kernel/api/mcp-resources.ts'
import { listToolAddresses, offeredTools, offersTools } from '../kernel/api/mcp-tools.ts'
import type { AddressedOperation } from '../kernel/operation/operation.ts'
import type { RoleContext } from '../kernel/operation/role-context.ts'
import { operationsOf } from '../kernel/role/built-in-operations.ts'
import type { Role, RoleDeployment } from '../kernel/role/role.ts'
import { listSecretFields } from '../kernel/secret/secret-fields.ts'
import { SecretKeyring, secretKeyringPart } from '../kernel/secret/secret-keyring.ts'
import { SecretRenewal } from '../kernel/secret/secret-renewal.ts'
import { getSettings } from '../kernel/settings/get-settings.ts'
import { platformSettings } from '../kernel/settings/platform-settings.ts'
import type { Log } from '../kernel/telemetry/log.ts'
import { reportThrottle } from '../kernel/telemetry/report-throttle.ts'
import { roleCalls, toolAggregator } from '../role-calls.ts'
import { settings as siteRoleSettings } from '../roles/site/settings.ts'
import { roles } from '../roles.ts'
import { loadWire } from '../runtime/wires.ts'
import { dependencyHealthCheck } from './dependency-health.ts'
import { housekeepingWorkers } from './housekeeping.ts'
import { listTransportNames } from './links/network-carriers.ts'
import { openGatewayRegistration } from './registration/open-registration.ts'
import { roleCaller } from './role-caller.ts'
import { SiteRoleClients } from './role-clients.ts'
import { buildRoleEnvironment } from './role-environment.ts'
import type { RoleWire, WiredRole } from './role-wire.ts'
import { builtInMetrics, createRoleService, type RoleService } from './service.ts'
import { SiteDelegation } from './site-delegation.ts'
import { openSiteResources, type SiteResources, type StartPlan } from './site-resources.ts'
import { stop_grace_ms } from './stop-limits.ts'
import { openLeases } from './storage/leases.ts'
import { openRoleStorage, type RoleStorage } from './storage/role-storage.ts'

export type SiteRuntime = {
  readonly services: readonly RoleService[]
  readonly log: Log
  /** Listens, starts the workers and the carriers. Throws if no role is left. */
  open(): Promise<void>
  /** Stops the carriers first, so that no new message arrives, then the services, then closes their databases. */
  close(drain_ms: number): Promise<void>
}

/** Opens databases and carriers of all roles; nothing listens yet. The other roles run without a role that cannot start. */
export async function openSiteRuntime(plan: StartPlan): Promise<SiteRuntime> {
  const resources = await openSiteResources(plan)
  const log = resources.logOf('boot')
  const failures: unknown[] = []
  const attempt = async (role: string, action: () => Promise<void>) => {
    try {
      await action()
    } catch (error) {
      failures.push(error)
      log.error('platform.role.failed', { failed: role, error: error instanceof Error ? error.message : String(error) })
      await removeRole(resources, role)
    }
  }
  const requireRunningRole = () => {
    if (resources.services.length === 0) throw failures[0]
  }
  for (const role of plan.starting) {
    await attempt(role.name, async () => {
      const wire = await loadWire(role.name)
      await wire?.prepare?.(plan.folder)
      resources.services.push(await wireRole(resources, role, wire))
    })
  }
  requireRunningRole()
  return {
    services: resources.services,
    log,
    async open() {
      for (const service of [...resources.services]) await attempt(service.role.name, () => service.listen())
      requireRunningRole()
      for (const service of resources.services) service.startWorkers()
      // A role cannot work without its background work, but the others can.
      for (const [role, { start }] of [...resources.wired]) if (start) await attempt(role, start)
      requireRunningRole()
    },
    close: (drain_ms) => closeSiteRuntime(resources, drain_ms),
  }
}

/** Removes a role that could not start from this process, so that another process may run it. */
async function removeRole({ services, storages, wired, directory }: SiteResources, role: string): Promise<void> {
  directory.contexts.delete(role)
  await wired.get(role)?.stop?.(0)
  wired.get(role)?.remove?.()
  wired.delete(role)
  for (const service of removeMatching(services, (item) => item.role.name === role)) await service.stop(0)
  for (const storage of removeMatching(storages, (item) => item.role === role)) await storage.close()
}

/** Removes the matching items from the list and returns them. */
function removeMatching<T>(list: T[], matches: (item: T) => boolean): T[] {
  const removed = list.filter(matches)
  list.splice(0, list.length, ...list.filter((item) => !matches(item)))
  return removed
}

/** Creates the service of one role with its storage, wired parts, environment and context. */
async function wireRole(resources: SiteResources, role: Role, wire: RoleWire | undefined): Promise<RoleService> {
  const { folder, resolved, site, clock, random, identity, directory } = resources
  const storage = await openRoleStorage(folder, role, site.name, resolved)
  resources.storages.push(storage)
  const log = resources.logOf(role.name)
  for (const upgrade of storage.upgrades) log.info('platform.store.migrated', upgrade)
  const declared = [...role.metrics, ...(wire?.metrics ?? []), ...builtInMetrics]
  const onUndeclared = (metric: string) => log.error(`${role.name}.metric.undeclared`, { metric })
  const metrics = prometheusMetrics(declared, { process: true, onUndeclared })
  const wired = await wire?.open({ role, resources, storage, metrics, log })
  if (wired) resources.wired.set(role.name, wired)
  const caller = roleCaller(directory, role.name)
  const parts = new Map<string, unknown>(wired?.parts)
  const keyring = openSecretKeyring(resources, role, storage)
  if (keyring) parts.set(secretKeyringPart.name, keyring)
  const renewal = keyring && new SecretRenewal(storage.store, keyring, clock.now)
  const environment = buildRoleEnvironment({
    role: role.name,
    site,
    log,
    settings: resolved,
    metrics,
    bus: resources.announcements,
    parts,
    now: clock.now,
    monotonic: clock.monotonic,
    random,
    wake: (worker) => service.wake(worker),
  })
  const operations = operationsOf(role)
  // Every site has file-drop: a channel needs only an enrolled peer.
  const deployment: RoleDeployment = {
    deployment_profile: site.deployment_profile,
    settings: resolved,
    transports: listTransportNames(resolved),
  }
  const context: RoleContext = {
    environment,
    operations,
    roles: (trace, end) => new SiteRoleClients(caller, trace, end),
    delegation: (trace, credential, end) => new SiteDelegation(caller, trace, credential, end),
    identity: identity.providerFor(role.name),
    role_table: identity.role_table,
    role_calls: roleCalls,
    delegated_calls: new Map([
      [toolAggregator, listToolAddresses(role.name, listOffered(role, deployment, operations))],
    ]),
    store: storage.store,
    record: (events) => storage.audit.append(events),
    throttle: reportThrottle(clock.now),
    spans: resources.spans,
    only_tenant: role.serves === 'site' ? site.tenant_id : undefined,
  }
  directory.contexts.set(role.name, context)
  const registration = openGatewayRegistration(role, deployment, clock.monotonic)
  const { audit_keep_days } = getSettings(resolved, siteRoleSettings)
  const service: RoleService = createRoleService({
    ...{ role, folder, log, metrics, storage, context, environment, parts, deployment },
    dependencyHealth: dependencyHealthCheck(role, directory, resources.services, resources, wired?.dependencies ?? []),
    housekeeping: [
      ...(resources.lists ? [resources.lists.worker] : []),
      ...housekeepingWorkers(storage, role.collections, audit_keep_days, renewal).filter(
        ({ name }) => name !== 'anchor' || isAnchored(resources, role),
      ),
    ],
    leases: openLeases(resources, storage, role),
    listeners: wired?.listeners ?? {},
    ...listWired(role, deployment, wired),
    registration,
  })
  return service
}

/** Absent where the role offers no tools. */
function listWired(role: Role, deployment: RoleDeployment, wired: WiredRole | undefined) {
  const isOffering = offersTools({ role, deployment })
  return {
    wiredTools: isOffering ? wired?.tools : undefined,
    wiredResources: isOffering ? wired?.resources : undefined,
  }
}

/** Tools, and the operations of resources, some of which are not tools. */
function listOffered(
  role: Role,
  deployment: RoleDeployment,
  operations: readonly AddressedOperation[],
): readonly AddressedOperation[] {
  const resources = offeredResources({ role, deployment }, role.resources ?? [], operations)
  return [...offeredTools({ role, deployment }, operations), ...resources.map(({ target }) => target)]
}

/** Undefined for a role without secret fields. */
function openSecretKeyring(
  { site, clock, random }: SiteResources,
  { collections }: Role,
  { store }: RoleStorage,
): SecretKeyring | undefined {
  if (!collections.some((each) => listSecretFields(each).length > 0)) return undefined
  return new SecretKeyring({ store, tenant_id: site.tenant_id, now: clock.now, random })
}

/** Whether another role of the site anchors the audit chain of this role; a role that runs alone has none. */
function isAnchored({ resolved, starting, directory }: SiteResources, { needs }: Role): boolean {
  const elsewhere = [...directory.urls.keys()]
  const roleNames = [
    ...elsewhere,
    ...getSettings(resolved, platformSettings).roles,
    ...starting.map(({ name }) => name),
    ...needs,
  ]
  const anchorRoles = roles.filter(({ keeps_audit_anchors }) => keeps_audit_anchors).map(({ name }) => name)
  return roleNames.some((name) => anchorRoles.includes(name))
}

async function closeSiteRuntime(resources: SiteResources, drain_ms: number): Promise<void> {
  const { wired, services, storages, keyValue, spans, remoteRoles } = resources
  // Announced before the first wait, so that load balancers stop sending requests.
  for (const service of services) service.announceStop()
  for (const { stop } of [...wired.values()].toReversed()) await stop?.(drain_ms)
  for (const service of services.toReversed()) await service.stop(drain_ms)
  for (const storage of storages.toReversed()) await storage.close()
  remoteRoles.close()
  await keyValue.close()
  await spans?.close(Math.min(drain_ms, stop_grace_ms))
}
