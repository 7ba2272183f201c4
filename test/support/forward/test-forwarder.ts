// A forwarder without decisions of its own, as the coming roles use it: a listener of the data plane before a client of an upstream.
import { addressRule } from '../../../adapters/forward/http/address-rule.ts'
import { type CoarseClock, coarseClock } from '../../../adapters/forward/http/coarse-clock.ts'
import { type DataListenerOptions, dataListener } from '../../../adapters/forward/http/data-listener.ts'
import {
  defaultInboundLimits,
  defaultUpstreamLimits,
  type InboundLimits,
} from '../../../adapters/forward/http/limits.ts'
import { upstream } from '../../../adapters/forward/http/upstream.ts'
import type { Exchange } from '../../../daemon/kernel/forward/exchange.ts'
import {
  type ForwardFailure,
  failureStatuses,
  findForwardFault,
  forwardExchange,
} from '../../../daemon/kernel/forward/forward-exchange.ts'
import { removeHopHeaders } from '../../../daemon/kernel/forward/hop-headers.ts'
import type { ForwardLimits, Upstream } from '../../../daemon/kernel/forward/upstream.ts'

export type ForwarderOptions = {
  /** Ports of the upstream on loopback. */
  readonly port: number
  readonly clock?: CoarseClock
  readonly max_body_bytes?: number
  readonly limits?: ForwardLimits
  readonly inbound?: Partial<InboundLimits>
  readonly listener?: Pick<DataListenerOptions, 'tls' | 'offersWebSocket'>
}

export type TestForwarder = {
  readonly port: number
  readonly upstream: Upstream
  /** Failures in order; `undefined` for a complete response. */
  readonly ends: readonly (ForwardFailure | undefined)[]
  /** Ends the exchange that began last, as a role does when a credential expires. */
  cutLast(): void
  close(): Promise<void>
}

const default_max_body_bytes = 1 << 20
const defaultLimits: ForwardLimits = { idle_ms: 30_000, total_ms: undefined }

export async function startForwarder(options: ForwarderOptions): Promise<TestForwarder> {
  const ownClock = options.clock ? undefined : coarseClock(20)
  const clock = options.clock ?? (ownClock as CoarseClock)
  const client = upstream({
    origin: { host: '127.0.0.1', port: options.port },
    rule: addressRule(['127.0.0.0/8']),
    limits: defaultUpstreamLimits,
    clock,
  })
  const ends: (ForwardFailure | undefined)[] = []
  let cutLast = () => undefined as void
  const handle = (exchange: Exchange) => {
    const fault = findForwardFault(exchange)
    if (fault !== undefined) return exchange.reply(fault, [])
    let isAnswered = false
    cutLast = forwardExchange(exchange, client, {
      path: exchange.target,
      headers: ['host', 'upstream', ...removeHost(removeHopHeaders(exchange.rawHeaders))],
      max_body_bytes: options.max_body_bytes ?? default_max_body_bytes,
      limits: options.limits ?? defaultLimits,
      answerHeaders: (_, headers) => headers,
      onAnswer: () => {
        isAnswered = true
      },
      onEnd(failure) {
        ends.push(failure)
        if (failure && !isAnswered) exchange.reply(failureStatuses[failure], [])
      },
    })
  }
  const listener = await dataListener({
    ...options.listener,
    listen: { host: '127.0.0.1', port: 0 },
    limits: { ...defaultInboundLimits, request_ms: 0, ...options.inbound },
    clock,
    handle,
    onConnectionFault: () => undefined,
  })
  const close = async () => {
    const closed = listener.close(0)
    if (options.clock && 'advance' in options.clock) (options.clock.advance as (ms: number) => void)(0)
    await closed
    client.close()
    ownClock?.stop()
  }
  return { port: listener.port, upstream: client, ends, cutLast: () => cutLast(), close }
}

const removeHost = (headers: readonly string[]) => headers.filter((_, at) => headers[at - (at % 2)] !== 'host')
