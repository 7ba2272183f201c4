// One request at the edge: its route, what its service receives, and its record in metrics and log.
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import type { Exchange } from '../../../kernel/forward/exchange.ts'
import {
  type ForwardedExchange,
  type ForwardFailure,
  type ForwardRoute,
  forwardExchange,
} from '../../../kernel/forward/forward-exchange.ts'
import { findForwardFault } from '../../../kernel/forward/forward-fault.ts'
import { removeHopHeaders } from '../../../kernel/forward/hop-headers.ts'
import type { Upstream } from '../../../kernel/forward/upstream.ts'
import type { RoleContext } from '../../../kernel/operation/role-context.ts'
import type { Log } from '../../../kernel/telemetry/log.ts'
import { traceparentOf } from '../../../kernel/telemetry/trace.ts'
import { reportTraceFault, type TracePolicy } from '../../../kernel/telemetry/trace-policy.ts'
import { buildAnswerHeaders } from '../../../shared/forwarding/answer-headers.ts'
import type { ExchangeShares } from '../../../shared/forwarding/exchange-shares.ts'
import {
  answerRefusal,
  type ForwardRefusal,
  refuseFailure,
  refuseFault,
  refuseWith,
  reportFailure,
} from '../../../shared/forwarding/forward-problem.ts'
import { buildOwnerHeaders, findSource } from '../../../shared/forwarding/owner-headers.ts'
import {
  buildTracedAnswer,
  buildTraceHeaders,
  type ForwardTrace,
  findForwardTrace,
  refuseTrace,
} from '../../../shared/forwarding/request-trace.ts'
import { type RoutedTarget, readHostHeader, routeRequest } from '../../../shared/forwarding/route-request.ts'
import type { FindRoute } from '../../../shared/routing/find-route.ts'
import { requestSeconds, requestTotal } from '../metrics.ts'
import { findRedirect } from './redirect-request.ts'

/** What the requests of a listener have in common. */
export type EdgeListener = {
  readonly scheme: 'http' | 'https'
  readonly findRoute: FindRoute
  /** The processes of each service, by its name. */
  readonly upstreams: ReadonlyMap<string, Upstream>
  readonly shares: ExchangeShares
  readonly trace_policy: TracePolicy
  readonly trusted_proxy_depth: number
  readonly max_body_bytes: number
  /** Has a line for each request. */
  readonly accessLog: Log | undefined
  /** Nothing is forwarded: requests are sent to https at this port. */
  readonly redirect_port?: number | undefined
}

/** Longer paths are cut in the log. */
const max_logged_path = 1_024

export class EdgeRequest implements ForwardRoute {
  path = ''
  headers: readonly string[] = []
  readonly max_body_bytes: number
  readonly #listener: EdgeListener
  readonly #context: RoleContext
  readonly #exchange: Exchange
  readonly #began_ms: number
  readonly #trace: ForwardTrace
  /** Holds a share of its client's address until its end. */
  #source: string | undefined
  #target: RoutedTarget | undefined
  #forwarded: ForwardedExchange | undefined
  #status = 0
  #bytes = 0

  constructor(listener: EdgeListener, context: RoleContext, exchange: Exchange) {
    const { monotonic, random } = context.environment
    this.#listener = listener
    this.#context = context
    this.#exchange = exchange
    this.#began_ms = monotonic()
    this.#trace = findForwardTrace(exchange.rawHeaders, listener.trace_policy, random)
    reportTraceFault({ throttle: context.throttle, log: context.environment.log }, listener.trace_policy, this.#trace)
    this.max_body_bytes = listener.max_body_bytes
  }

  serve(): void {
    const { redirect_port } = this.#listener
    const decided = redirect_port === undefined ? this.#route() : findRedirect(this.#exchange, redirect_port)
    if (typeof decided !== 'string' && !('refusal' in decided)) {
      this.#forwarded = forwardExchange(this.#exchange, decided, this)
      return
    }
    if (typeof decided === 'string') this.#reply(308, ['location', decided])
    else this.#refuse(decided)
    this.#record(undefined)
  }

  answerHeaders(_: number, headers: string[]): readonly string[] {
    const { scheme, trace_policy } = this.#listener
    return buildTracedAnswer(buildAnswerHeaders(headers, scheme), trace_policy.header, this.#trace)
  }

  onAnswer(status: number): void {
    this.#status = status
    this.#observeTime()
    this.#forwarded?.release()
  }

  onData(bytes: Buffer): void {
    this.#bytes += bytes.length
  }

  onEnd(failure: ForwardFailure | undefined): void {
    if (failure && this.#status === 0) this.#refuse(refuseFailure(failure))
    this.#record(failure)
  }

  #route(): Upstream | ForwardRefusal {
    const { target, rawHeaders, peer } = this.#exchange
    const { findRoute, upstreams, shares, trusted_proxy_depth, trace_policy } = this.#listener
    const fault = findForwardFault(this.#exchange)
    if (fault !== undefined) return refuseFault(fault)
    const source = findSource(rawHeaders, peer, trusted_proxy_depth)
    if (!shares.take(source))
      return refuseWith(refuse('rate_limited', 'too many requests of this address are under way'))
    this.#source = source
    const host = readHostHeader(rawHeaders)
    if (host === undefined) return refuseWith(refuse('malformed', 'the request names no host'))
    const routed = routeRequest(findRoute, host, target)
    if (isRefusal(routed)) return refuseWith(routed)
    this.#target = routed
    const untraced = routed.isPublic ? undefined : refuseTrace(this.#trace, trace_policy)
    if (untraced) return refuseWith(untraced)
    const upstream = upstreams.get(routed.service)
    if (!upstream) return refuseWith(refuse('no_backend', `${routed.service} is not available at this site`))
    this.path = routed.path + routed.query
    this.headers = this.#buildHeaders(host)
    return upstream
  }

  #buildHeaders(host: string): readonly string[] {
    const { certificate, rawHeaders, peer } = this.#exchange
    const { scheme, trusted_proxy_depth, trace_policy } = this.#listener
    const verified = certificate?.fault === undefined ? certificate?.der : undefined
    const client = { peer, scheme, host, certificate: verified }
    const headers = buildOwnerHeaders(removeHopHeaders(rawHeaders), client, trusted_proxy_depth)
    return buildTraceHeaders(headers, trace_policy.header, this.#trace)
  }

  #refuse(refused: ForwardRefusal): void {
    const { headers, body } = answerRefusal(refused, this.#trace.trace.trace_id)
    this.#reply(refused.status, headers, body)
  }

  #reply(status: number, headers: readonly string[], body: Buffer = Buffer.alloc(0)): void {
    const { trace_policy, scheme } = this.#listener
    const common = ['cache-control', 'no-store', trace_policy.header, traceparentOf(this.#trace.trace)]
    this.#status = status
    this.#bytes = body.length
    this.#observeTime()
    this.#exchange.reply(status, buildAnswerHeaders([...headers, ...common], scheme), body)
  }

  #observeTime(): void {
    const { environment } = this.#context
    environment.observe(requestSeconds, { service: this.#service }, (environment.monotonic() - this.#began_ms) / 1_000)
  }

  get #service(): string {
    return this.#target?.service ?? 'none'
  }

  #record(failure: ForwardFailure | undefined): void {
    const { shares, accessLog } = this.#listener
    const { environment } = this.#context
    if (this.#source !== undefined) shares.release(this.#source)
    const isAborted = failure === 'gone'
    const status_class = isAborted ? 'aborted' : `${Math.floor(this.#status / 100)}xx`
    environment.count(requestTotal, { service: this.#service, status_class })
    const { trace_id } = this.#trace.trace
    reportFailure(this.#context, 'edge.forward.failed', { failure, service: this.#service, trace_id })
    if (!accessLog) return
    const { method, target, peer } = this.#exchange
    const path = this.#target?.path ?? target.split('?', 1)[0] ?? ''
    accessLog.info('edge.request', {
      method,
      path: path.slice(0, max_logged_path),
      status: this.#status,
      service: this.#service,
      bytes: this.#bytes,
      ms: Math.round(environment.monotonic() - this.#began_ms),
      peer,
      trace_id: this.#trace.trace.trace_id,
      ...(failure ? { failure } : {}),
    })
  }
}
