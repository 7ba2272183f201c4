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
import { AnsweredExchange, type AnswerPolicy } from '../../../shared/forwarding/answered-exchange.ts'
import type { ExchangeShares } from '../../../shared/forwarding/exchange-shares.ts'
import {
  type ForwardRefusal,
  refuseFailure,
  refuseFault,
  refuseWith,
  reportFailure,
} from '../../../shared/forwarding/forward-problem.ts'
import { buildOwnerHeaders, findSource } from '../../../shared/forwarding/owner-headers.ts'
import { refuseTrace } from '../../../shared/forwarding/request-trace.ts'
import { readHostHeader, routeRequest } from '../../../shared/forwarding/route-request.ts'
import type { FindRoute } from '../../../shared/routing/find-route.ts'
import { requestSeconds, requestTotal } from '../metrics.ts'
import { findRedirect } from './redirect-request.ts'

/** What the requests of a listener have in common. */
export type EdgeListener = AnswerPolicy & {
  readonly findRoute: FindRoute
  /** The processes of each service, by its name. */
  readonly upstreams: ReadonlyMap<string, Upstream>
  readonly shares: ExchangeShares
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
  readonly #answered: AnsweredExchange
  /** Holds a share of its client's address until its end. */
  #source: string | undefined
  #forwarded: ForwardedExchange | undefined
  #bytes = 0

  constructor(listener: EdgeListener, context: RoleContext, exchange: Exchange) {
    this.#listener = listener
    this.#context = context
    this.#exchange = exchange
    this.#answered = new AnsweredExchange(listener, context, exchange, requestSeconds)
    this.max_body_bytes = listener.max_body_bytes
  }

  serve(): void {
    const { redirect_port } = this.#listener
    const decided = redirect_port === undefined ? this.#route() : findRedirect(this.#exchange, redirect_port)
    if (typeof decided !== 'string' && !('refusal' in decided)) {
      this.#forwarded = forwardExchange(this.#exchange, decided, this)
      return
    }
    if (typeof decided === 'string') this.#answered.reply(308, ['location', decided])
    else this.#refuse(decided)
    this.#record(undefined)
  }

  answerHeaders(_: number, headers: string[]): readonly string[] {
    return this.#answered.traceAnswer(headers)
  }

  onAnswer(status: number): void {
    this.#answered.begin(status)
    this.#forwarded?.release()
  }

  onData(bytes: Buffer): void {
    this.#bytes += bytes.length
  }

  onEnd(failure: ForwardFailure | undefined): void {
    if (failure && this.#answered.status === 0) this.#refuse(refuseFailure(failure))
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
    this.#answered.target = routed
    const untraced = routed.isPublic ? undefined : refuseTrace(this.#answered.trace, trace_policy)
    if (untraced) return refuseWith(untraced)
    const upstream = upstreams.get(routed.service)
    if (!upstream) return refuseWith(refuse('no_backend', `${routed.service} is not available at this site`))
    this.path = routed.path + routed.query
    this.headers = this.#buildHeaders(host)
    return upstream
  }

  #buildHeaders(host: string): readonly string[] {
    const { certificate, rawHeaders, peer } = this.#exchange
    const { scheme, trusted_proxy_depth } = this.#listener
    const verified = certificate?.fault === undefined ? certificate?.der : undefined
    const client = { peer, scheme, host, certificate: verified }
    return this.#answered.traceRequest(buildOwnerHeaders(removeHopHeaders(rawHeaders), client, trusted_proxy_depth))
  }

  #refuse(refused: ForwardRefusal): void {
    this.#bytes = this.#answered.refuse(refused)
  }

  #record(failure: ForwardFailure | undefined): void {
    const { shares, accessLog } = this.#listener
    const { service, trace_id, status, elapsed_ms } = this.#answered
    if (this.#source !== undefined) shares.release(this.#source)
    this.#context.environment.count(requestTotal, { service, status_class: this.#answered.statusClass(failure) })
    reportFailure(this.#context, 'edge.forward.failed', { failure, service, trace_id })
    if (!accessLog) return
    const { method, target, peer } = this.#exchange
    const path = this.#answered.target?.path ?? target.split('?', 1)[0] ?? ''
    accessLog.info('edge.request', {
      method,
      path: path.slice(0, max_logged_path),
      status,
      service,
      bytes: this.#bytes,
      ms: Math.round(elapsed_ms),
      peer,
      trace_id,
      ...(failure ? { failure } : {}),
    })
  }
}
