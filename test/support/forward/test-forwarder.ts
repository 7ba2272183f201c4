// A forwarder without decisions of its own, as roles use it: a listener of the data plane before an upstream or a pool.

import type { CoarseClock } from '../../../adapters/forward/http/coarse-clock.ts'
import { type DataListenerOptions, dataListener } from '../../../adapters/forward/http/data-listener.ts'
import {
  defaultInboundLimits,
  defaultUpstreamLimits,
  type InboundLimits,
} from '../../../adapters/forward/http/limits.ts'
import type { PoolLimits } from '../../../adapters/forward/http/pool-members.ts'
import { upstream } from '../../../adapters/forward/http/upstream.ts'
import { defaultPoolLimits, upstreamPool } from '../../../adapters/forward/http/upstream-pool.ts'
import { prometheusMetrics } from '../../../adapters/metrics/prometheus/prometheus-metrics.ts'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import { httpActiveRequests, httpRequests, httpSeconds } from '../../../adapters/serve/http/http-metrics.ts'
import { serveExchanges } from '../../../adapters/serve/http/serve-exchanges.ts'
import type { Exchange, ExchangeHandler } from '../../../daemon/kernel/forward/exchange.ts'
import {
  type ForwardedExchange,
  type ForwardFailure,
  forwardExchange,
} from '../../../daemon/kernel/forward/forward-exchange.ts'
import { findForwardFault } from '../../../daemon/kernel/forward/forward-fault.ts'
import { removeHopHeaders } from '../../../daemon/kernel/forward/hop-headers.ts'
import type { ForwardLimits, Upstream } from '../../../daemon/kernel/forward/upstream.ts'
import type { PresentedCredential } from '../../../daemon/kernel/identity/identity.ts'
import type { Metrics } from '../../../daemon/kernel/telemetry/metrics.ts'
import { type EchoRole, echoRole } from '../echo/echo-role.ts'

/** Statuses of replies to failures. */
const failureStatuses: Readonly<Record<ForwardFailure, number>> = {
  address: 502,
  connect: 502,
  busy: 503,
  no_member: 503,
  request: 500,
  timeout: 504,
  closed: 502,
  protocol: 502,
  too_large: 413,
  too_slow: 408,
  malformed: 400,
  gone: 499,
}

export type ForwarderOptions = {
  /** Port of the upstream on loopback. */
  readonly port: number
  readonly clock: CoarseClock
  /** Ports of further members of a pool; none for a pool of one. Absent: no pool. */
  readonly pool_ports?: readonly number[]
  readonly max_body_bytes?: number
  readonly limits?: ForwardLimits
  /** What waits for `release`: requests that a role decides about, or responses that it records. */
  readonly holds?: 'requests' | 'responses'
  readonly inbound?: Partial<InboundLimits>
  readonly listener?: Pick<DataListenerOptions, 'tls' | 'http2' | 'offersWebSocket'>
  /** The listener serves the operations of the echo role as well, and forwards the other paths. */
  readonly isShared?: boolean
}

export type TestForwarder = {
  readonly port: number
  readonly upstream: Upstream
  /** Failures in order; `undefined` for a complete response. */
  readonly ends: readonly (ForwardFailure | undefined)[]
  /** Connections that ended without a request, or whose client read too slowly. */
  readonly faults: readonly string[]
  /** Ends the exchange that began last, as a role does when a credential expires. */
  cutLast(): void
  /** Connections of clients. */
  connections(): number
  /** What the callers of forwarded requests presented; empty unless the listener is shared. */
  readonly presented: readonly PresentedCredential[]
  /** The role beside, if the listener is shared. */
  readonly echo: EchoRole
  /** How many requests or responses wait. */
  held(): number
  /** Continues with all that wait. */
  release(): void
  close(): Promise<void>
}

const default_max_body_bytes = 1 << 20
const defaultLimits: ForwardLimits = { idle_ms: 30_000, total_ms: undefined }
/** No probes: the upstream of the test receives the requests of the test alone. */
const poolLimits: PoolLimits = { ...defaultPoolLimits, probe_interval_ms: Number.POSITIVE_INFINITY }

export async function startForwarder(options: ForwarderOptions): Promise<TestForwarder> {
  const { port, clock, pool_ports, inbound } = options
  const common = { rule: addressRule(['127.0.0.0/8']), limits: defaultUpstreamLimits, clock }
  const originOf = (member_port: number) => ({ host: '127.0.0.1', port: member_port })
  const client = pool_ports
    ? upstreamPool({ ...common, origins: [port, ...pool_ports].map(originOf), pool: poolLimits })
    : upstream({ ...common, origin: originOf(port) })
  const ends: (ForwardFailure | undefined)[] = []
  const faults: string[] = []
  const held: (() => void)[] = []
  const holdOrRun = (what: ForwarderOptions['holds'], run: () => void) =>
    options.holds === what ? void held.push(run) : run()
  let last: ForwardedExchange | undefined
  const presented: PresentedCredential[] = []
  const handle = (exchange: Exchange, credential?: PresentedCredential) => {
    if (credential) presented.push(credential)
    const status = findForwardFault(exchange)
    if (status !== undefined) exchange.reply(status, [])
    else
      holdOrRun('requests', () => {
        const forwarded = forward(exchange, client, options, ends, () =>
          holdOrRun('responses', () => forwarded.release()),
        )
        last = forwarded
      })
  }
  const metrics = prometheusMetrics([httpRequests, httpSeconds, httpActiveRequests], { strict: true })
  const echo = echoRole(metrics)
  const service = options.isShared ? await serveEcho(echo, metrics, handle) : undefined
  const listener = await dataListener({
    ...options.listener,
    listen: { host: '127.0.0.1', port: 0 },
    limits: { ...defaultInboundLimits, request_ms: 0, ...inbound },
    clock,
    handle: service ? service.handle : (exchange) => handle(exchange),
    onConnectionFault: (fault) => void faults.push(fault),
  })
  const close = async () => {
    const closed = listener.close(0)
    if ('advance' in clock) (clock.advance as (ms: number) => void)(0)
    await closed
    await service?.close(0)
    client.close()
  }
  const release = () => {
    for (const run of held.splice(0)) run()
  }
  const cutLast = () => last?.cut()
  return {
    ...{ port: listener.port, upstream: client, ends, faults, presented, echo },
    ...{ cutLast, held: () => held.length, release, close },
    connections: () => listener.counts().connections,
  }
}

function serveEcho({ operations, context }: EchoRole, metrics: Metrics, forward: ExchangeHandler) {
  const { log } = context.environment
  return serveExchanges({ name: 'shared', operations, roleContext: context, restricted: false, log, metrics, forward })
}

function forward(
  exchange: Exchange,
  client: Upstream,
  { max_body_bytes = default_max_body_bytes, limits = defaultLimits }: ForwarderOptions,
  ends: (ForwardFailure | undefined)[],
  onAnswer: () => void,
): ForwardedExchange {
  let isAnswered = false
  return forwardExchange(exchange, client, {
    path: exchange.target,
    headers: ['host', 'upstream', ...removeHost(removeHopHeaders(exchange.rawHeaders))],
    max_body_bytes,
    limits,
    answerHeaders: (_, headers) => headers,
    onAnswer() {
      isAnswered = true
      onAnswer()
    },
    onEnd(failure) {
      ends.push(failure)
      if (failure && !isAnswered) exchange.reply(failureStatuses[failure], [])
    },
  })
}

const removeHost = (headers: readonly string[]) => headers.filter((_, at) => headers[at - (at % 2)] !== 'host')
