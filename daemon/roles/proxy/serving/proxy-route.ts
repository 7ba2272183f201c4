// The route of a forwarded request: what the upstream receives, which headers reach the caller, and what is cached.
import type { Exchange } from '../../../kernel/forward/exchange.ts'
import type { ForwardFailure, ForwardRoute } from '../../../kernel/forward/forward-exchange.ts'
import { cacheKey, computeCacheLifetime } from '../cache/cache-lifetime.ts'
import type { ResponseCache } from '../cache/response-cache.ts'
import type { ProxyConfig } from '../config.ts'
import type { RequestDecision } from '../request/request-decision.ts'
import { cleanResponseHeaders } from '../response/headers.ts'
import { answeredEvent, callerLeftEvent, type ForwardEvent, failureEvent } from './forward-event.ts'

/** The request that is forwarded. */
export type RoutedRequest = {
  readonly exchange: Exchange
  readonly decision: RequestDecision
  readonly config: ProxyConfig
  readonly dependencies: { readonly cache: ResponseCache | undefined; readonly now: () => number }
  onForwardEvent(event: ForwardEvent, elapsed_ms: number): void
  /** The last call: the upstream has no more to send, or its response ended early. */
  onForwardEnd(): void
}

export class ProxyRoute implements ForwardRoute {
  readonly path: string
  readonly headers: readonly string[]
  readonly body: Buffer | undefined
  readonly max_body_bytes: number
  readonly #request: RoutedRequest
  readonly #forwarded_at: number
  #status = 0
  #headers: string[] = []
  #length: number | undefined
  /** Pieces of a response that is to be cached. */
  #copy: Buffer[] | undefined
  #copied_bytes = 0
  #lifetime_ms = 0

  constructor(request: RoutedRequest, path: string, headers: readonly string[], body: Buffer | undefined) {
    this.path = path
    this.headers = headers
    this.body = body
    this.max_body_bytes = request.config.max_body_bytes
    this.#request = request
    this.#forwarded_at = request.dependencies.now()
  }

  answerHeaders(_: number, headers: string[]): readonly string[] {
    this.#headers = cleanResponseHeaders(headers, this.#request.config.cors_origin)
    return this.#headers
  }

  onAnswer(status: number, rawHeaders: readonly string[], length: number | undefined, isFramed: boolean): void {
    const { config, decision, dependencies } = this.#request
    this.#status = status
    this.#length = length
    const mayCache = dependencies.cache && isFramed && decision.isCacheable
    this.#lifetime_ms = mayCache ? computeCacheLifetime(decision, config, status, rawHeaders, dependencies.now()) : 0
    if (this.#lifetime_ms > 0) this.#copy = []
    this.#request.onForwardEvent(answeredEvent(status), this.#elapsed_ms())
  }

  onData(bytes: Buffer): void {
    if (!this.#copy) return
    this.#copied_bytes += bytes.length
    if (this.#copied_bytes <= (this.#request.dependencies.cache?.largest_body_bytes ?? 0))
      this.#copy.push(Buffer.from(bytes))
    else this.#copy = undefined
  }

  onEnd(failure: ForwardFailure | undefined): void {
    if (failure === undefined) this.#storeInCache()
    else this.#request.onForwardEvent(this.#endEvent(failure), this.#elapsed_ms())
    this.#request.onForwardEnd()
  }

  #endEvent(failure: ForwardFailure): ForwardEvent {
    const hasHead = this.#status !== 0
    return failure === 'gone' ? callerLeftEvent(hasHead ? 0 : this.#elapsed_ms()) : failureEvent(failure, hasHead)
  }

  #elapsed_ms(): number {
    return Math.max(0, this.#request.dependencies.now() - this.#forwarded_at)
  }

  /** Called for whole responses alone. */
  #storeInCache(): void {
    const { exchange, decision, dependencies } = this.#request
    const { cache, now } = dependencies
    if (!this.#copy || !cache) return
    const isHead = exchange.method === 'HEAD' && this.#length !== undefined
    const headers = isHead ? [...this.#headers, 'content-length', String(this.#length)] : this.#headers
    const response = { status: this.#status, headers, body: Buffer.concat(this.#copy) }
    cache.put(cacheKey(exchange.method, decision), response, this.#lifetime_ms, now())
  }
}
