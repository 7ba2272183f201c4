// One role as a running service: its workshop, its workers, its listeners, and its orderly end.
import { readFileSync } from 'node:fs'
import { httpInFlight, httpRequests, httpSeconds } from '../../adapters/serve/http/http-metrics.ts'
import type { Limits } from '../../adapters/serve/http/limits.ts'
import { type HttpServer, type Listen, serveHttp, type Tls } from '../../adapters/serve/http/serve-http.ts'
import manifest from '../../package.json' with { type: 'json' }
import { type DependencyHealth, operationsOf, type ServiceParts } from '../kernel/builtin.ts'
import type { Call, Log, Surroundings } from '../kernel/call.ts'
import { serviceCall, type Workshop } from '../kernel/invoke.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { openapi } from '../kernel/openapi.ts'
import type { Addressed } from '../kernel/operation.ts'
import { resourcesIn } from '../kernel/resources.ts'
import type { About, Role, Worker } from '../kernel/role.ts'
import type { Resolved } from '../kernel/settings.ts'
import { x509Settings } from '../kernel/sso-settings.ts'
import type { Surface } from '../kernel/surface.ts'
import { offeredIn, toolFacts } from '../kernel/tools.ts'
import { newTrace, type Trace } from '../kernel/trace.ts'
import { agentspaceOf } from './agentspace.ts'
import { backupShare } from './backup-share.ts'
import { divisionOf } from './division.ts'
import { valuesOf } from './profile.ts'
import { type SiteFolder, socketOf } from './site-folder.ts'
import type { Stock } from './stock.ts'
import { startWorkers, type Workers } from './workers.ts'

export const httpMetrics = [httpRequests, httpSeconds, httpInFlight]

export type Service = {
  readonly role: Role
  readonly workshop: Workshop
  readonly urls: readonly string[]
  phase(): 'starting' | 'ready' | 'stopping'
  listen(): Promise<void>
  work(): void
  wake(worker: string): void
  newCall(address: string, signal: AbortSignal): Call
  /** From now on its health says that it ends; it serves until it is stopped. */
  endSoon(): void
  /** Not ready, drain, stop the workers. The stock is closed by whoever opened it. */
  stop(drain_ms: number): Promise<void>
}

export type Making = {
  readonly role: Role
  readonly about: About
  readonly folder: SiteFolder
  readonly log: Log
  readonly metrics: Metrics
  readonly stock: Stock
  readonly workshop: Workshop
  readonly surroundings: Surroundings
  /** Filled in here, since what it says depends on the service. */
  readonly parts: Map<string, unknown>
  /** Health of what the role needs besides its own store. */
  readonly needs: (trace: Trace) => Promise<DependencyHealth[]>
  readonly chores: readonly Worker[]
  readonly front?: Front | undefined
}

/** What serves strangers on the role's TCP listener in place of its operations, which its local socket alone then has. */
export type Front = {
  listen(given: Pick<Listener, 'listen' | 'tls'> & { readonly workshop: Workshop }): Promise<HttpServer>
  health(): readonly DependencyHealth[]
  /** What is left to do when nobody is served any more, and the workers have ended. */
  readonly last: (call: Call) => Promise<void>
}

export function newService(given: Making): Service {
  const { role, about, workshop, log, metrics, parts, stock, front } = given
  const operations = operationsOf(role)
  const offered = offeredIn(about.deployment_profile, operations)
  const resources = resourcesIn(about.deployment_profile, role.resources ?? [], operations)
  let phase: 'starting' | 'ready' | 'stopping' = 'starting'
  let workers: Workers | undefined
  let document: ServiceParts['openapi'] | undefined
  const servers: HttpServer[] = []
  const newCall = (address: string, signal: AbortSignal) => {
    const trace = newTrace(workshop.surroundings.random)
    return serviceCall(workshop, role.name, address, workshop.spans?.begun(trace) ?? trace, signal)
  }
  const service: ServiceParts = {
    phase: () => phase,
    health: async ({ trace }) => [
      await timed('store', () => stock.store.health()),
      ...(front?.health() ?? []),
      ...(await Promise.all((stock.tended ?? []).map((each) => timed(each.name, each.health)))),
      ...(await given.needs(trace)),
    ],
    listens: () => servers.map(({ url }) => url).filter((url) => url.startsWith('http')),
    service_info: { ...role.serviceInfo(about), ...toolFacts(offered, resources.length) },
    // Made when it is first asked for: it takes longer than everything else that a role does to start.
    get openapi() {
      const told = operations.filter(({ operation }) => !(operation.inside && isRestricted(about)))
      document ??= openapi(`platform ${role.name}`, manifest.version, role.purpose, told)
      return document
    },
    audit: stock.audit,
    backup: backupShare(stock, given.folder, about.settings),
    async metrics(call) {
      await role.gauges?.(serviceCall(workshop, role.name, call.address, call.trace, call.signal))
      return metrics.text()
    },
  }
  parts.set('service', service)
  return {
    role,
    workshop,
    get urls() {
      return servers.map((server) => server.url)
    },
    phase: () => phase,
    newCall,
    async listen() {
      const surface = await agentspaceOf(given, offered, resources)
      for (const listener of listenersOf(given, operations, surface)) {
        servers.push(
          front && listener.name === `${role.name}:tcp`
            ? await front.listen({ ...listener, workshop })
            : await serveHttp({ ...listener, limits: limitsOf(given), workshop, log, metrics }),
        )
      }
      phase = 'ready'
    },
    work() {
      workers = startWorkers(role.name, [...role.workers, ...given.chores], about.settings, log, newCall)
    },
    wake: (name) => workers?.wake(name),
    endSoon() {
      phase = 'stopping'
    },
    async stop(drain_ms) {
      phase = 'stopping'
      await Promise.all(servers.map((server) => server.close(drain_ms)))
      await atMost(drain_ms + grace_ms, workers?.stop())
      const ending = new AbortController()
      const last = front?.last(newCall(`${role.name}.worker.last`, ending.signal))
      await atMost(grace_ms, last).finally(() => ending.abort())
    },
  }
}

/** What a stop leaves to work that was told to end, over the time that requests are given. */
export const grace_ms = 5_000

/** Waits for the work, but no longer than this: a stop must end, and everything durable can be taken up again. */
export async function atMost(limit_ms: number, work: Promise<void> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limit_ms)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}

/** How long a check took, whether it held; a check that throws does not hold. */
export async function timed(
  name: string,
  check: () => Promise<{ ok: boolean; detail: string }>,
): Promise<DependencyHealth> {
  const began = performance.now()
  const found = await check().catch(() => ({ ok: false, detail: 'cannot be reached' }))
  return { name, ...found, latency_ms: Math.round((performance.now() - began) * 1_000) / 1_000 }
}

/** In profiles C and D metrics stay inside. */
function isRestricted({ deployment_profile }: About): boolean {
  return deployment_profile === 'coalition_federated' || deployment_profile === 'classified_airgapped'
}

function limitsOf({ role, about }: Making): Partial<Limits> {
  const { streams_per_caller } = about.settings.values.get(role.name) ?? {}
  return typeof streams_per_caller === 'number' ? { streams_per_caller: streams_per_caller } : {}
}

type Listener = {
  name: string
  operations: readonly Addressed[]
  restricted: boolean
  listen: Listen
  tls?: Tls | undefined
  surface?: Surface | undefined
}

/** The TCP listener, the local socket, and the internal listener where the profile names one. */
function listenersOf(
  { role, about, folder }: Making,
  operations: readonly Addressed[],
  surface: Surface | undefined,
): Listener[] {
  const own = (about.settings.values.get(role.name) ?? {}) as Record<string, string | number | undefined>
  const { listen, port, metrics_listen } = own
  const restricted = isRestricted(about)
  const tls = tlsOf(own, about.settings)
  const [socket, group] = [socketOf(folder, role.name), divisionOf(about.settings)?.group]
  const internal = operations.filter(({ address }) => /\.service\.(live|info|metrics)$/.test(address))
  const [host = '', internalPort = ''] = String(metrics_listen ?? '').split(/:(?=\d+$)/)
  return [
    { name: `${role.name}:socket`, operations, restricted: false, listen: { socket, group } },
    {
      name: `${role.name}:tcp`,
      operations,
      restricted,
      listen: { host: String(listen), port: Number(port) },
      tls,
      surface,
    },
    ...(metrics_listen
      ? [
          {
            name: `${role.name}:internal`,
            operations: internal,
            restricted: false,
            listen: { host, port: Number(internalPort) },
          },
        ]
      : []),
  ]
}

/** Undefined for a listener without TLS. */
function tlsOf(own: Readonly<Record<string, string | number | undefined>>, settings: Resolved): Tls | undefined {
  const { tls_cert_file, tls_key_file, tls_client_auth } = own
  if (!tls_cert_file || !tls_key_file) return undefined
  const pair = { cert: text(tls_cert_file), key: text(tls_key_file) }
  const { ca_file } = valuesOf(settings, x509Settings)
  if (tls_client_auth === 'none' || ca_file === undefined) return pair
  return { ...pair, ca: text(ca_file), isCertificateOptional: tls_client_auth === 'request' }
}

function text(file: string | number): string {
  return readFileSync(String(file), 'utf8')
}
