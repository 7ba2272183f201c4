// Starts the echo role on a real listener, and closes whatever a test left open.
import { afterEach } from 'vitest'
import { prometheusMetrics } from '../../adapters/metrics/prometheus/prometheus-metrics.ts'
import { httpInFlight, httpRequests, httpSeconds } from '../../adapters/serve/http/http-metrics.ts'
import { type HttpServer, type ServeOptions, serveHttp } from '../../adapters/serve/http/serve-http.ts'
import type { Metrics } from '../../daemon/kernel/metrics.ts'
import type { Addressed } from '../../daemon/kernel/operation.ts'
import type { Surface } from '../../daemon/kernel/surface.ts'
import { type EchoRole, echoRole } from './echo-role.ts'
import { type RawAnswer, rawHttp, request } from './raw-http.ts'

export type Served = {
  readonly server: HttpServer
  readonly url: string
  readonly echo: EchoRole
  readonly metrics: Metrics
  /** One raw request; see `request`. */
  ask(line: string, headers?: Record<string, string>, body?: string): Promise<RawAnswer>
}

const open = new Set<HttpServer>()
afterEach(async () => {
  for (const server of open) await server.close(0)
  open.clear()
})

type SurfaceOf = (operations: readonly Addressed[]) => Surface

/** On a free port of loopback unless told otherwise. */
export async function served(options: Partial<ServeOptions> = {}, surfaceOf?: SurfaceOf): Promise<Served> {
  const metrics = prometheusMetrics([httpRequests, httpSeconds, httpInFlight], { strict: true })
  const echo = echoRole(metrics)
  const { operations, workshop } = echo
  const server = await serveHttp({
    name: 'test',
    operations,
    workshop,
    restricted: false,
    listen: { host: '127.0.0.1', port: 0 },
    log: workshop.surroundings.log,
    metrics,
    surface: surfaceOf?.(operations),
    ...options,
  })
  open.add(server)
  return {
    server,
    url: server.url,
    echo,
    metrics,
    ask: (line, headers, body) => rawHttp({ port: server.port }, request(line, headers, body)),
  }
}

/** Headers of a caller who may do everything, and of one who may do nothing in particular. */
export const admin = { authorization: 'Bearer alice.admin' }
export const nobody = { authorization: 'Bearer bob.none' }
export const json = { 'content-type': 'application/json' }
