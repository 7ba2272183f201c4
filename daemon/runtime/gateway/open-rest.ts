// Opens the forwarding of REST requests: the owners of objects, their processes, and what the listener forwards.
import { readFileSync } from 'node:fs'
import { coarseClock } from '../../../adapters/forward/http/coarse-clock.ts'
import { defaultUpstreamLimits } from '../../../adapters/forward/http/limits.ts'
import { defaultPoolLimits } from '../../../adapters/forward/http/upstream-pool.ts'
import { anyAddress, networkRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { ServicePools } from '../../boot/forwarding/service-pools.ts'
import type { WiredListeners } from '../../boot/open-listener.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import type { Guardrails } from '../../roles/gateway/guardrail/guard-call.ts'
import { type OwnerRoutes, ownerRoutesPart } from '../../roles/gateway/rest/parts.ts'
import { RestRequest } from '../../roles/gateway/rest/rest-request.ts'
import { settings } from '../../roles/gateway/settings.ts'
import { roles } from '../../roles.ts'
import { ExchangeShares } from '../../shared/forwarding/exchange-shares.ts'
import type { FindRoute } from '../../shared/routing/find-route.ts'
import { ingressSettings } from '../../shared/routing/ingress-settings.ts'
import { LiveRouting } from '../../shared/routing/live-routing.ts'
import { isRestPath, type RoutingRule } from '../../shared/routing/routing-table.ts'
import { findBackends, readRoutingOptions, type ServiceBackends } from '../../shared/routing/site-routing.ts'

const clock_step_ms = 250
/** To one process, of all callers; each has a share far below. */
const backend_connections = 1_024

export type OpenedRest = {
  readonly part: readonly [string, OwnerRoutes]
  /** None where the gateway is not in the path of REST. */
  readonly listeners: WiredListeners
  close(): void
}

export function openRest(resolved: ResolvedSettings, guardrails: Guardrails): OpenedRest {
  const backends = findBackends(resolved, roles)
  // The owner of a path is the service that has it without the gateway; the paths of another site are not its own.
  const options = { ...readRoutingOptions(resolved, backends), isGatewayInPath: false, hosts: {} }
  const routing = new LiveRouting(options, backends)
  const isForwarding = getSettings(resolved, ingressSettings).rest_gateway_enabled
  const opened = isForwarding ? openPools(resolved, backends) : undefined
  const routes: OwnerRoutes = {
    isForwarding,
    findRoute: (host, path) => findOwner(routing.findRoute, host, path),
    findUpstream: (service) => opened?.pools.all.get(service),
    replaceRegistered(registered) {
      const all = routing.replaceRegistered(registered)
      if (all) opened?.pools.replace(all)
    },
  }
  return {
    part: [ownerRoutesPart.name, routes],
    listeners: isForwarding ? listenersOf(resolved, routes, guardrails) : {},
    close() {
      opened?.pools.close()
      opened?.clock.stop()
    },
  }
}

/** Nothing but REST is forwarded, and what is the gateway's own would have found its operation. */
function findOwner(findRoute: FindRoute, host: string, path: string): RoutingRule | undefined {
  const rule = isRestPath(path) ? findRoute(host, path) : undefined
  return rule?.service === 'gateway' ? undefined : rule
}

/** Services that register are where the profile allows them; those of the profile are where it names them. */
function openPools(resolved: ResolvedSettings, backends: ServiceBackends) {
  const { ca_file, answer_s, idle_s } = getSettings(resolved, settings)
  const clock = coarseClock(clock_step_ms)
  const registeredRule = networkRule(getSettings(resolved, ingressSettings).registered_networks)
  const pools = new ServicePools(
    {
      clock,
      limits: {
        ...defaultUpstreamLimits,
        connections: backend_connections,
        first_byte_ms: answer_s * 1_000,
        idle_ms: idle_s * 1_000,
      },
      pool: defaultPoolLimits,
      ca: ca_file === undefined ? undefined : readFileSync(ca_file, 'utf8'),
      ruleOf: (service) => (backends.has(service) ? anyAddress : registeredRule),
    },
    backends,
  )
  return { pools, clock }
}

function listenersOf(resolved: ResolvedSettings, routes: OwnerRoutes, guardrails: Guardrails): WiredListeners {
  const values = getSettings(resolved, settings)
  const { trusted_proxy_depth, max_body_bytes, exchanges_per_caller } = values
  const { trace_mode: mode, trace_header: header, tls_cert_file } = values
  const forwarding = {
    ...{ routes, guardrails, trusted_proxy_depth, max_body_bytes },
    shares: new ExchangeShares(exchanges_per_caller),
    scheme: tls_cert_file === undefined ? ('http' as const) : ('https' as const),
    trace_policy: { mode, header },
  }
  return {
    '': {
      forward: (context) => (exchange, presented) =>
        void new RestRequest(forwarding, context, exchange).serve(presented),
    },
  }
}
