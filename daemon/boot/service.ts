// One role as a running service: its context, workers and listeners, and its orderly stop.

import { product } from '../../adapters/platform/product/product.ts'
import { httpActiveRequests, httpRequests, httpSeconds } from '../../adapters/serve/http/http-metrics.ts'
import type { ListenerLimits } from '../../adapters/serve/http/limits.ts'
import type { HttpServer } from '../../adapters/serve/http/serve-http.ts'
import { sqliteScheduleRecord } from '../../adapters/store/sqlite/schedule/schedule-record.ts'
import { offeredResources } from '../kernel/api/mcp-resources.ts'
import { offeredTools, toolServiceInfo } from '../kernel/api/mcp-tools.ts'
import { buildOpenapi } from '../kernel/api/openapi.ts'
import { jobsWorker } from '../kernel/job/jobs-worker.ts'
import type { Leases } from '../kernel/job/lease.ts'
import type { Call } from '../kernel/operation/call.ts'
import { type AddressedOperation, isInside } from '../kernel/operation/operation.ts'
import { createServiceCall } from '../kernel/operation/perform-operation.ts'
import type { RoleContext } from '../kernel/operation/role-context.ts'
import type { RoleEnvironment } from '../kernel/operation/role-environment.ts'
import { operationsOf, type ServiceParts } from '../kernel/role/built-in-operations.ts'
import { areMetricsInternal } from '../kernel/role/configured-listener.ts'
import { type DependencyHealth, findingOf } from '../kernel/role/dependency.ts'
import type { Role, RoleDeployment, Worker } from '../kernel/role/role.ts'
import type { Log } from '../kernel/telemetry/log.ts'
import { gauge, type Metrics } from '../kernel/telemetry/metrics.ts'
import { newTrace, type Trace } from '../kernel/telemetry/trace.ts'
import { openAgentspace } from './agentspace.ts'
import { roleBackup } from './backup/role-backup.ts'
import { DependencyProbes } from './dependency-health.ts'
import { listenerCertificateEnd } from './listener-certificates.ts'
import { openListener, requireDeclaredListeners, type WiredListeners } from './open-listener.ts'
import { type GatewayRegistration, registrationEnd, registrationTotal } from './registration/gateway-registration.ts'
import { buildListeners } from './role-listeners.ts'
import type { WiredRole } from './role-wire.ts'
import { stop_grace_ms, waitAtMost } from './stop-limits.ts'
import type { RoleStorage } from './storage/role-storage.ts'
import type { SiteFolder } from './storage/site-folder.ts'
import { type RunningWorkers, startWorkers } from './workers.ts'

const buildInfo = gauge<'version'>('platform_build_info', 'Always 1; the label is the version of the executable', {
  version: 'names',
})

/** Of every role, besides those that it declares. */
export const builtInMetrics = [
  ...[buildInfo, listenerCertificateEnd, httpRequests, httpSeconds, httpActiveRequests, registrationTotal],
]

export type RoleService = {
  readonly role: Role
  readonly context: RoleContext
  readonly urls: readonly string[]
  phase(): 'starting' | 'ready' | 'stopping'
  listen(): Promise<void>
  startWorkers(): void
  wake(worker: string): void
  newCall(address: string, signal: AbortSignal): Call
  /** Reports in its health that it stops; it serves until `stop`. */
  announceStop(): void
  /** Becomes not ready, drains, and stops the workers. The caller closes the storage. */
  stop(drain_ms: number): Promise<void>
}

export type RoleServiceOptions = {
  readonly role: Role
  readonly deployment: RoleDeployment
  readonly folder: SiteFolder
  readonly log: Log
  readonly metrics: Metrics
  readonly storage: RoleStorage
  readonly context: RoleContext
  readonly environment: RoleEnvironment
  /** Receives the service part, which depends on the service. */
  readonly parts: Map<string, unknown>
  /** Health of the dependencies besides the role's own store. */
  readonly dependencyHealth: (trace: Trace) => Promise<DependencyHealth[]>
  readonly housekeeping: readonly Worker[]
  readonly leases: Leases
  readonly listeners: WiredListeners
  /** Absent where the role offers no tools beyond its operations, or none at all. */
  readonly wiredTools: WiredRole['tools'] | undefined
  readonly wiredResources: WiredRole['resources'] | undefined
  /** Of a role that registers with a gateway. */
  readonly registration: GatewayRegistration | undefined
}

export function createRoleService(options: RoleServiceOptions): RoleService {
  const { role, deployment, context, log, metrics, parts, storage, listeners, registration } = options
  requireDeclaredListeners(role, listeners)
  metrics.set(buildInfo, { version: product.version }, 1)
  const operations = operationsOf(role)
  const toolOperations = offeredTools(options, operations)
  const resources = offeredResources(options, role.resources ?? [], operations)
  let phase: 'starting' | 'ready' | 'stopping' = 'starting'
  let workers: RunningWorkers | undefined
  let document: ServiceParts['openapi'] | undefined
  const servers: HttpServer[] = []
  const probes = new DependencyProbes()
  const newCall = (address: string, signal: AbortSignal) => {
    const trace = newTrace(context.environment.random)
    return createServiceCall(context, role.name, address, context.spans?.start(trace) ?? trace, signal)
  }
  const leave = registrationEnd(registration, (signal) => newCall(`${role.name}.worker.last`, signal))
  const service: ServiceParts = {
    phase: () => phase,
    health: async ({ trace }) => ({
      store: await probes.find({ name: 'store', probe: async () => findingOf(await storage.store.health(), 'down') }),
      others: [...(await probeRetriedTasks(storage, probes)), ...(await options.dependencyHealth(trace))],
    }),
    listens: () => servers.map(({ url }) => url).filter((url) => url.startsWith('http')),
    get service_info() {
      return describeService(options, toolOperations, resources.length)
    },
    // Built at the first request, since it takes longer than the rest of a start.
    get openapi() {
      const documented = operations.filter((each) => isDocumented(deployment, each))
      document ??= buildOpenapi(`platform ${role.name}`, product.version, role.purpose, documented)
      return document
    },
    audit: storage.audit,
    backup: roleBackup(storage, options.folder, deployment.settings),
    async metrics(call) {
      await role.gauges?.(createServiceCall(context, role.name, call.address, call.trace, call.signal))
      return metrics.text()
    },
  }
  parts.set('service', service)
  return {
    role,
    context,
    get urls() {
      return servers.map((server) => server.url)
    },
    phase: () => phase,
    newCall,
    async listen() {
      const toolSurface = await openAgentspace(options, toolOperations, resources)
      for (const listener of buildListeners(options, operations, toolSurface)) {
        const { prefix, ...served } = listener
        const wired = prefix === undefined ? undefined : listeners[prefix]
        servers.push(
          await openListener({ ...served, limits: readLimits(options), roleContext: context, log, metrics }, wired),
        )
      }
      phase = 'ready'
    },
    startWorkers() {
      workers = startWorkers({
        role: role.name,
        workers: [...role.workers, ...buildJobsWorker(options), ...options.housekeeping, ...listWorkers(registration)],
        settings: deployment.settings,
        log,
        record: sqliteScheduleRecord(storage.file),
        now: options.environment.now,
        newCall,
      })
    },
    wake: (name) => workers?.wake(name),
    announceStop() {
      phase = 'stopping'
      void leave()
    },
    async stop(drain_ms) {
      phase = 'stopping'
      await Promise.all([...servers.map((server) => server.close(drain_ms)), leave()])
      await waitAtMost(drain_ms + stop_grace_ms, workers?.stop())
      await finishListeners(listeners, (signal) => newCall(`${role.name}.worker.last`, signal))
    },
  }
}

/** With the tools and resources that the role offers now. */
function describeService(
  { role, deployment, wiredTools, wiredResources }: RoleServiceOptions,
  ownTools: readonly AddressedOperation[],
  resources: number,
): ServiceParts['service_info'] {
  const tools = [...ownTools, ...(wiredTools?.() ?? [])]
  const count = resources + (wiredResources?.() ?? []).length
  return { ...role.serviceInfo(deployment), version: product.version, ...toolServiceInfo(tools, count) }
}

/** In profiles C and D the document is that of the listeners for other machines. */
function isDocumented({ deployment_profile }: RoleDeployment, { operation }: AddressedOperation): boolean {
  return !(isInside(operation) && areMetricsInternal(deployment_profile))
}

async function finishListeners(listeners: WiredListeners, newCall: (signal: AbortSignal) => Call): Promise<void> {
  const finishing = new AbortController()
  const call = newCall(finishing.signal)
  const finishAll = async () => {
    for (const wired of Object.values(listeners)) if ('finish' in wired) await wired.finish(call)
  }
  await waitAtMost(stop_grace_ms, finishAll()).finally(() => finishing.abort())
}

function probeRetriedTasks({ retriedTasks = [] }: RoleStorage, probes: DependencyProbes): Promise<DependencyHealth[]> {
  return Promise.all(
    retriedTasks.map((task) => {
      return probes.find({ name: task.name, probe: async () => findingOf(await task.health(), 'degraded') })
    }),
  )
}

function listWorkers(registration: GatewayRegistration | undefined): Worker[] {
  return registration ? [registration.worker] : []
}

/** The worker that runs the jobs of the role. */
function buildJobsWorker({ role: { name, jobs = [] }, context, leases }: RoleServiceOptions): Worker[] {
  return jobs.length === 0 ? [] : [jobsWorker(jobs, { role: name, leases, context })]
}

function readLimits({ role, deployment }: RoleServiceOptions): Partial<ListenerLimits> {
  const { streams_per_caller } = deployment.settings.values.get(role.name) ?? {}
  return typeof streams_per_caller === 'number' ? { streams_per_caller } : {}
}
