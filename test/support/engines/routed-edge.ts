// The edge before named services, by any routing table: its requests, its pools and its listener, without a site.
import { coarseClock } from '../../../adapters/forward/http/coarse-clock.ts'
import { dataListener } from '../../../adapters/forward/http/data-listener.ts'
import { defaultInboundLimits, defaultUpstreamLimits } from '../../../adapters/forward/http/limits.ts'
import { defaultPoolLimits } from '../../../adapters/forward/http/upstream-pool.ts'
import { prometheusMetrics } from '../../../adapters/metrics/prometheus/prometheus-metrics.ts'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { ServicePools } from '../../../daemon/boot/forwarding/service-pools.ts'
import { defaultTracePolicy } from '../../../daemon/kernel/telemetry/trace-policy.ts'
import { metrics } from '../../../daemon/roles/edge/metrics.ts'
import { type EdgeListener, EdgeRequest } from '../../../daemon/roles/edge/serving/edge-request.ts'
import { ExchangeShares } from '../../../daemon/shared/forwarding/exchange-shares.ts'
import { indexRoutes } from '../../../daemon/shared/routing/find-route.ts'
import type { ProxyRoutes } from '../../../daemon/shared/routing/render/render-proxy.ts'
import { echoRole } from '../echo/echo-role.ts'
import type { RenderedProxy } from './rendered-proxies.ts'

const clock_step_ms = 50

export async function startRoutedEdge({ rules, backends }: Omit<ProxyRoutes, 'address'>): Promise<RenderedProxy> {
  const clock = coarseClock(clock_step_ms)
  // Of services that the table leaves out there are no processes.
  const served = new Set(rules.flatMap(({ isServed, service }) => (isServed ? [service] : [])))
  const pools = new ServicePools(
    {
      ...{ clock, limits: defaultUpstreamLimits, ca: undefined, ruleOf: () => addressRule(['127.0.0.0/8']) },
      pool: { ...defaultPoolLimits, probe_interval_ms: Number.POSITIVE_INFINITY },
    },
    new Map([...backends].filter(([service]) => served.has(service))),
  )
  const edge: EdgeListener = {
    ...{ scheme: 'http', findRoute: indexRoutes(rules), upstreams: pools.all, accessLog: undefined },
    ...{ shares: new ExchangeShares(512), trace_policy: defaultTracePolicy, trusted_proxy_depth: 0 },
    max_body_bytes: 1 << 20,
  }
  const { context } = echoRole(prometheusMetrics(metrics, { strict: false }))
  const listener = await dataListener({
    listen: { host: '127.0.0.1', port: 0 },
    limits: { ...defaultInboundLimits, request_ms: 0 },
    clock,
    offersWebSocket: true,
    handle: (exchange) => new EdgeRequest(edge, context, exchange).serve(),
    onConnectionFault: (fault) => {
      throw new Error(`a connection of the test ended: ${fault}`)
    },
  })
  const end = async () => {
    await listener.close(0)
    pools.close()
    clock.stop()
  }
  return { name: 'edge', port: listener.port, end }
}
