// One public request in a serving thread: walks the steps of the request, answers or forwards it, and records it once.
import type { BodyResult, Exchange } from '../../../kernel/forward/exchange.ts'
import { type ForwardedExchange, forwardExchange } from '../../../kernel/forward/forward-exchange.ts'
import { cacheKey } from '../cache/cache-lifetime.ts'
import type { CachedResponse } from '../cache/response-cache.ts'
import type { ProxyConfig } from '../config.ts'
import { lookUpReason, type ProxyReason } from '../reasons.ts'
import { buildUpstreamHeaders } from '../request/headers.ts'
import type { RateCounter } from '../request/rate-counters.ts'
import { buildLocalReply, buildPreflightReply } from '../request/replies.ts'
import type { RequestDecision } from '../request/request-decision.ts'
import { decideRequest } from './decide-request.ts'
import { type ForwardEvent, reasonsByBodyFailure } from './forward-event.ts'
import type { ProxyRequestDependencies } from './proxy-request-dependencies.ts'
import { ProxyRoute, type RoutedRequest } from './proxy-route.ts'
import type { RequestSpan } from './request-span.ts'
import { readSteps, type ServingStep, writeSteps } from './request-steps.ts'
import type { WindowPosition } from './window-counter.ts'

export class ProxyRequest implements RoutedRequest {
  readonly exchange: Exchange
  readonly config: ProxyConfig
  readonly dependencies: ProxyRequestDependencies
  readonly decision: RequestDecision
  /** Undefined for all requests but those that are sampled. */
  readonly #span: RequestSpan | undefined
  #body: Buffer | undefined
  #token = ''
  #forwarded: ForwardedExchange | undefined
  #isRecorded = false

  constructor(exchange: Exchange, config: ProxyConfig, dependencies: ProxyRequestDependencies) {
    this.exchange = exchange
    this.config = config
    this.dependencies = dependencies
    const { method, target, rawHeaders, peer } = exchange
    this.#span = dependencies.spans?.begin(method, rawHeaders, config)
    this.decision = decideRequest({ method, target, headers: rawHeaders, peer }, config)
  }

  serve(): void {
    try {
      this.#start()
    } catch (error) {
      this.#failSafely(error)
    }
  }

  /** Any unexpected exception ends in an answer, and nothing is forwarded. */
  #failSafely(error: unknown): void {
    this.dependencies.onFault(error)
    this.#deny('malformed')
  }

  /** A malformed request is denied before any step; an unknown expectation only once the head steps have admitted the request. */
  #start(): void {
    const { fault } = this.exchange
    const { next, reason } = this.decision
    if (fault && fault.reason !== 'unknown_expectation') this.#deny('malformed', fault.status)
    else if (next === 'deny') this.#deny(reason ?? 'malformed')
    else if (fault) this.#deny('expectation')
    else if (next === 'preflight') this.#replyPreflight()
    else this.#walk(0)
  }

  /** Takes the serving steps from `at` on, up to one that ends the request or continues the walk later. */
  #walk(at: number): void {
    const steps = this.decision.next === 'write' ? writeSteps : readSteps
    let next = at
    while (next < steps.length && this.#take(steps[next] as ServingStep, next + 1)) next++
  }

  /** True: continue with the next step at once. False: the request is answered, or continues at `next` by itself. */
  #take(step: ServingStep, next: number): boolean {
    switch (step.action) {
      case 'count':
      case 'count_and_read_body':
        this.#count(step, step.counters?.(this.decision, this.config) ?? [], 0, next)
        return false
      case 'check_body_length':
        return this.#checkBodyLength()
      case 'find_cached':
        return !this.#replyFromCache()
      case 'obtain_token':
        return this.#obtainToken(next)
      case 'forward':
        this.#forward()
        return false
    }
  }

  /** Each counter is incremented only after the one before has admitted the request. */
  #count(step: ServingStep, counters: readonly RateCounter[], at: number, next: number): void {
    const counter = counters[at]
    if (counter) {
      this.dependencies.counter.count(counter.key, (position) => this.#onCounted(position, step, counters, at, next))
    } else if (step.action === 'count_and_read_body') {
      this.exchange.readBody(this.config.max_body_bytes, (body) => this.#onBody(body, next))
    } else this.#walk(next)
  }

  #onCounted(
    position: WindowPosition | undefined,
    step: ServingStep,
    counters: readonly RateCounter[],
    at: number,
    next: number,
  ): void {
    const { limit, reason } = counters[at] as RateCounter
    try {
      if (!position) this.#deny('counter_unavailable')
      else if (position.position > limit)
        this.#deny(reason, undefined, Math.max(1, Math.ceil(position.left_ms / 1_000)))
      else this.#count(step, counters, at + 1, next)
    } catch (error) {
      this.#failSafely(error)
    }
  }

  #onBody(body: BodyResult, next: number): void {
    try {
      if (typeof body === 'string') this.#deny(reasonsByBodyFailure[body])
      else {
        this.#body = body
        this.#walk(next)
      }
    } catch (error) {
      this.#failSafely(error)
    }
  }

  #checkBodyLength(): boolean {
    const { framing } = this.exchange
    if (framing === 'chunked' || framing <= this.config.max_body_bytes) return true
    this.#deny('body_too_large')
    return false
  }

  #replyFromCache(): boolean {
    const { cache, now } = this.dependencies
    if (!cache || !this.decision.isCacheable) return false
    const cached = cache.get(cacheKey(this.exchange.method, this.decision), now())
    if (!cached) this.#span?.missCache()
    if (!cached) return false
    this.#record('cache_hit', cached.status, null, () => this.#sendCached(cached))
    return true
  }

  #sendCached({ status, headers, body }: CachedResponse): void {
    if (this.exchange.method === 'HEAD') {
      // The length that HEAD announces is among the cached headers.
      this.exchange.begin(status, headers, undefined)
      this.exchange.end()
    } else this.exchange.reply(status, headers, Buffer.from(body.buffer, body.byteOffset, body.byteLength))
  }

  #obtainToken(next: number): boolean {
    const token = this.dependencies.tokens.token()
    if (typeof token !== 'object') return this.#takeToken(token)
    void token.then(
      (minted) => this.#onToken(minted, next),
      (error: unknown) => this.#failSafely(error),
    )
    return false
  }

  #onToken(token: string | undefined, next: number): void {
    try {
      if (this.#takeToken(token)) this.#walk(next)
    } catch (error) {
      this.#failSafely(error)
    }
  }

  #takeToken(token: string | undefined): boolean {
    if (token === undefined) this.#deny('token_unavailable')
    else if (this.exchange.isOver) this.#deny('client_left')
    else {
      this.#token = token
      return true
    }
    return false
  }

  #forward(): void {
    const { origin, upstream } = this.dependencies
    const { source, path, query, headers } = this.decision
    const upstreamHeaders = buildUpstreamHeaders(headers, origin.authority, source, this.#token)
    const route = new ProxyRoute(this, origin.base + path + query, upstreamHeaders, this.#body)
    this.#body = undefined
    this.#span?.forward()
    this.#forwarded = forwardExchange(this.exchange, upstream, route)
  }

  /** A response that breaks off was recorded when it began. */
  onForwardEvent({ type, reason, status, health }: ForwardEvent, elapsed_ms: number): void {
    if (health) {
      const { ok, detail } = health
      this.dependencies.recorder.observe('upstream', {
        ok,
        detail,
        latency_ms: elapsed_ms,
        at: this.dependencies.now(),
      })
    }
    if (type === 'answered') this.#record(reason, status, status, () => this.#forwarded?.release())
    else if (type === 'failed') this.#deny(reason)
    else if (type === 'caller_left') this.#record(reason, 0, null, () => undefined)
    if (type === 'broken_off') this.#span?.endForwarding(reason)
  }

  onForwardEnd(): void {
    this.#span?.endForwarding(undefined)
  }

  #replyPreflight(): void {
    const { cors_origin, hasPost } = this.config
    const { status, headers } = buildPreflightReply(this.exchange.rawHeaders, cors_origin, hasPost)
    this.#record('preflight', status, null, () => this.exchange.replyText(status, headers, ''))
  }

  /** Answers with the status of the reason, where no other is given. */
  #deny(reason: ProxyReason, own_status = lookUpReason(reason).status ?? 503, retry_after_s?: number): void {
    const { status, headers, body } = buildLocalReply(own_status, this.config.cors_origin, retry_after_s)
    this.#record(reason, status, null, () => this.exchange.replyText(status, headers, body))
  }

  /** Records the request once, also where the caller has left by then. `send` follows when the record is written. */
  #record(reason: ProxyReason, status: number, upstream_status: number | null, send: () => void): void {
    if (this.#isRecorded) return
    this.#isRecorded = true
    const { source, path, rule } = this.decision
    const answered = this.exchange.isOver ? 0 : status
    this.#span?.answer({ reason, status: answered, upstream_status, rule, prefix: this.config.prefix })
    this.dependencies.recorder.record(
      {
        at: this.dependencies.now(),
        source: source.address,
        method: this.exchange.method,
        path,
        rule: rule?.name,
        reason,
        status: answered,
        upstream_status,
      },
      send,
    )
  }
}
