// Starts the echo role on a real listener, and closes the connections that a test left open.
import { afterEach } from 'vitest'
import { prometheusMetrics } from '../../../adapters/metrics/prometheus/prometheus-metrics.ts'
import { httpActiveRequests, httpRequests, httpSeconds } from '../../../adapters/serve/http/http-metrics.ts'
import { type HttpServer, type HttpServerOptions, serveHttp } from '../../../adapters/serve/http/serve-http.ts'
import type { Surface } from '../../../daemon/kernel/api/surface.ts'
import type { AddressedOperation } from '../../../daemon/kernel/operation/operation.ts'
import type { Metrics } from '../../../daemon/kernel/telemetry/metrics.ts'
import { formatRawRequest, type RawHttpResponse, sendRawHttp } from '../http/send-raw-http.ts'
import { type EchoRole, echoRole } from './echo-role.ts'

export type EchoServer = {
  readonly server: HttpServer
  readonly url: string
  readonly echo: EchoRole
  readonly metrics: Metrics
  /** One raw request; see `request`. */
  request(line: string, headers?: Record<string, string>, body?: string): Promise<RawHttpResponse>
}

/** How servers of this file listen: alone, or as a listener that forwards as well. */
export const echoListener: { open: (options: HttpServerOptions) => Promise<HttpServer> } = { open: serveHttp }

const openServers = new Set<HttpServer>()
afterEach(async () => {
  for (const server of openServers) await server.close(0)
  openServers.clear()
})

type SurfaceFactory = (operations: readonly AddressedOperation[]) => Surface

/** On a free port of loopback by default. */
export async function startEchoServer(
  options: Partial<HttpServerOptions> = {},
  surfaceOf?: SurfaceFactory,
): Promise<EchoServer> {
  const metrics = prometheusMetrics([httpRequests, httpSeconds, httpActiveRequests], { strict: true })
  const echo = echoRole(metrics)
  const { operations, context } = echo
  const server = await echoListener.open({
    name: 'test',
    operations,
    roleContext: context,
    restricted: false,
    listen: { host: '127.0.0.1', port: 0 },
    log: context.environment.log,
    metrics,
    surface: surfaceOf?.(operations),
    ...options,
  })
  openServers.add(server)
  return {
    server,
    url: server.url,
    echo,
    metrics,
    request: (line, headers, body) => sendRawHttp({ port: server.port }, formatRawRequest(line, headers, body)),
  }
}

/** Headers of a caller with every permission, and of one with none in particular. */
export const adminHeaders = { authorization: 'Bearer alice.admin' }
export const unprivilegedHeaders = { authorization: 'Bearer bob.none' }
export const jsonHeaders = { 'content-type': 'application/json' }
