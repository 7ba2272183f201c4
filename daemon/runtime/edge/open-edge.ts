// Opens the edge: the routing table of the site, a pool of processes for each service, and what its listeners forward.
import { readFileSync } from 'node:fs'
import { type CoarseClock, coarseClock } from '../../../adapters/forward/http/coarse-clock.ts'
import { defaultUpstreamLimits } from '../../../adapters/forward/http/limits.ts'
import { defaultPoolLimits, type UpstreamPool } from '../../../adapters/forward/http/upstream-pool.ts'
import { anyAddress, networkRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { ServicePools } from '../../boot/forwarding/service-pools.ts'
import type { ForwardingListener } from '../../boot/open-listener.ts'
import type { WiredRole } from '../../boot/role-wire.ts'
import { listListeners } from '../../kernel/role/configured-listener.ts'
import type { Dependency } from '../../kernel/role/dependency.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { Log } from '../../kernel/telemetry/log.ts'
import { outline } from '../../roles/edge/outline.ts'
import {
  type Backend,
  type EdgeBackends,
  type EdgeRoutes,
  edgeBackendsPart,
  edgeRoutesPart,
} from '../../roles/edge/parts.ts'
import { type EdgeListener, EdgeRequest } from '../../roles/edge/serving/edge-request.ts'
import { settings } from '../../roles/edge/settings.ts'
import { roles } from '../../roles.ts'
import { ExchangeShares } from '../../shared/forwarding/exchange-shares.ts'
import { ingressSettings } from '../../shared/routing/ingress-settings.ts'
import { LiveRouting } from '../../shared/routing/live-routing.ts'
import { findBackends, readRoutingOptions, type ServiceBackends } from '../../shared/routing/site-routing.ts'

const clock_step_ms = 250

export function openEdge(resolved: ResolvedSettings, accessLog: Log): WiredRole {
  const clock = coarseClock(clock_step_ms)
  const backends = findBackends(resolved, roles)
  const pools = openPools(resolved, backends, clock)
  const routing = new LiveRouting(readRoutingOptions(resolved, backends), backends)
  /** With those that are gone: their gauges go to zero. */
  const known = new Set<string>()
  const part: EdgeBackends = {
    list() {
      for (const service of pools.all.keys()) known.add(service)
      return new Map([...known].map((service) => [service, pools.all.get(service)?.members() ?? []]))
    },
  }
  const routes: EdgeRoutes = {
    registered: [],
    replaceRegistered(registered) {
      const all = routing.replaceRegistered(registered)
      if (all) pools.replace(all)
    },
  }
  return {
    parts: [
      [edgeBackendsPart.name, part],
      [edgeRoutesPart.name, routes],
    ],
    dependencies: [...pools.all].map(([service, pool]) => backendDependency(service, pool)),
    listeners: listenersOf(resolved, { upstreams: pools.all, findRoute: routing.findRoute, accessLog }),
    remove() {
      pools.close()
      clock.stop()
    },
  }
}

/** Services that register are where the profile allows them; those of the profile are where it names them. */
function openPools(resolved: ResolvedSettings, backends: ServiceBackends, clock: CoarseClock): ServicePools {
  const { backend_ca_file, backend_connections, idle_s, answer_s, probe_interval_s } = getSettings(resolved, settings)
  const registeredRule = networkRule(getSettings(resolved, ingressSettings).registered_networks)
  const limits = {
    ...defaultUpstreamLimits,
    connections: backend_connections,
    first_byte_ms: answer_s * 1_000,
    idle_ms: idle_s * 1_000,
  }
  return new ServicePools(
    {
      ...{ clock, limits },
      pool: { ...defaultPoolLimits, probe_interval_ms: probe_interval_s * 1_000 },
      ca: backend_ca_file === undefined ? undefined : readFileSync(backend_ca_file, 'utf8'),
      ruleOf: (service) => (backends.has(service) ? anyAddress : registeredRule),
    },
    backends,
  )
}

function listenersOf(
  resolved: ResolvedSettings,
  routes: Pick<EdgeListener, 'findRoute' | 'upstreams' | 'accessLog'>,
): Readonly<Record<string, ForwardingListener>> {
  const { exchanges_per_peer, trace_mode, trace_header, http_redirect, https_port, ...values } = getSettings(
    resolved,
    settings,
  )
  const { trusted_proxy_depth, max_body_bytes, access_log, port, connections, max_header_bytes, idle_s } = values
  const { reuse_port, tls_min_version, certificates, tls_reload_s } = values
  const common = {
    ...{ ...routes, trusted_proxy_depth, max_body_bytes, accessLog: access_log ? routes.accessLog : undefined },
    shares: new ExchangeShares(exchanges_per_peer),
    trace_policy: { mode: trace_mode, header: trace_header },
  }
  const options = {
    limits: { connections, header_bytes: max_header_bytes, idle_ms: idle_s * 1_000 },
    reusePort: reuse_port,
    tls: { min_version: tls_min_version, certificates, reload_ms: tls_reload_s * 1_000 },
  }
  const [first, ...further] = listListeners(outline, resolved).filter(({ prefix }) => prefix !== undefined)
  const isSecured = first?.tls?.cert_file !== undefined
  const open = (cert_file: string | undefined, redirect_port: number | undefined): ForwardingListener => {
    const listener: EdgeListener = { ...common, scheme: cert_file === undefined ? 'http' : 'https', redirect_port }
    return { ...options, forward: (context) => (exchange) => new EdgeRequest(listener, context, exchange).serve() }
  }
  const entries = further.map(({ prefix = '', tls }) => {
    const isRedirected = isSecured && http_redirect && tls?.cert_file === undefined
    return [prefix, open(tls?.cert_file, isRedirected ? (https_port ?? port) : undefined)] as const
  })
  return { '': open(first?.tls?.cert_file, undefined), ...Object.fromEntries(entries) }
}

/** Never a reason for the edge not to be ready: it serves the other services. */
function backendDependency(service: string, pool: UpstreamPool): Dependency {
  return {
    name: service,
    async probe() {
      const members = pool.members()
      const isUp = members.map(({ state }) => state === 'up')
      const state = isUp.every(Boolean) ? 'ok' : isUp.some(Boolean) ? 'degraded' : 'down'
      return { state, detail: members.map(formatMember).join(', ') }
    },
  }
}

const formatMember = ({ host, port, state }: Backend) => `${host.includes(':') ? `[${host}]` : host}:${port} ${state}`
