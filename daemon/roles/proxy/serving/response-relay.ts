// Relays the upstream's response to the caller: buffers it until it is recorded, then sends it in one write, or
// streams the rest.
import type { Exchange, ResponseProducer } from '../../../kernel/forward/exchange.ts'
import type { ActiveRequest, ResponseSink, UpstreamFailure } from '../../../kernel/forward/upstream.ts'
import { cacheKey, computeCacheLifetime } from '../cache/cache-lifetime.ts'
import type { ResponseCache } from '../cache/response-cache.ts'
import type { ProxyConfig } from '../config.ts'
import type { RequestDecision } from '../request/request-decision.ts'
import { cleanResponseHeaders } from '../response/headers.ts'
import { answeredEvent, callerLeftEvent, type ForwardEvent, failureEvent } from './forward-event.ts'

/** The request whose response is relayed. */
export type RelayedRequest = {
  readonly exchange: Exchange
  readonly decision: RequestDecision
  readonly config: ProxyConfig
  readonly dependencies: { readonly cache: ResponseCache | undefined; readonly now: () => number }
  /** After `answered` the relay waits for `release`. */
  onForwardEvent(event: ForwardEvent, relay: ResponseRelay): void
}

/** Bytes of a response that are buffered until the request is recorded. The upstream is paused beyond. */
const max_buffered_bytes = 65_536

export class ResponseRelay implements ResponseSink, ResponseProducer {
  readonly #request: RelayedRequest
  readonly #forwarded_at: number
  activeRequest: ActiveRequest | undefined
  #status = 0
  #headers: string[] = []
  #length: number | undefined
  /** Bytes that were not sent yet, one character each, so that they go in one write with the head. */
  #buffered = ''
  #state: 'waiting' | 'buffering' | 'streaming' | 'over' = 'waiting'
  #isWhole = false
  #isBroken = false
  /** Pieces of a response that is to be cached. */
  #copy: Buffer[] | undefined
  #copied_bytes = 0
  #lifetime_ms = 0

  constructor(request: RelayedRequest) {
    this.#request = request
    this.#forwarded_at = request.dependencies.now()
  }

  /** Milliseconds since the request was forwarded. */
  get elapsed_ms(): number {
    return Math.max(0, this.#request.dependencies.now() - this.#forwarded_at)
  }

  head(status: number, rawHeaders: string[], length: number | undefined, isFramed: boolean): void {
    const { config, decision, dependencies } = this.#request
    this.#status = status
    this.#headers = cleanResponseHeaders(rawHeaders, config.cors_origin)
    this.#length = length
    const mayCache = dependencies.cache && isFramed && decision.isCacheable
    this.#lifetime_ms = mayCache ? computeCacheLifetime(decision, config, status, rawHeaders, dependencies.now()) : 0
    if (this.#lifetime_ms > 0) this.#copy = []
    this.#state = 'buffering'
    this.#request.onForwardEvent(answeredEvent(status), this)
  }

  data(bytes: Buffer): boolean {
    this.#copyForCache(bytes)
    if (this.#state === 'streaming') return this.#request.exchange.write(Buffer.from(bytes))
    this.#buffered += bytes.toString('latin1')
    return this.#buffered.length < max_buffered_bytes
  }

  /** Buffered bytes go out with `release`; there is nothing else to send. */
  flush(): void {}

  end(): void {
    this.#isWhole = true
    this.#storeInCache()
    if (this.#state !== 'streaming') return
    this.#state = 'over'
    this.#request.exchange.end()
  }

  fail(failure: UpstreamFailure): void {
    const state = this.#state
    if (state === 'buffering') this.#isBroken = true
    else this.#state = 'over'
    this.#request.onForwardEvent(failureEvent(failure, state !== 'waiting'), this)
    if (state === 'streaming') this.#request.exchange.cut()
  }

  gone(): void {
    const silent_ms = this.#state === 'waiting' ? this.elapsed_ms : 0
    this.#state = 'over'
    this.activeRequest?.abort()
    this.#request.onForwardEvent(callerLeftEvent(silent_ms), this)
  }

  drained(): void {
    this.activeRequest?.resume()
  }

  /** Sends the response: its record is written. */
  release(): void {
    if (this.#state !== 'buffering') return
    const { exchange } = this.#request
    const buffered = this.#buffered
    this.#buffered = ''
    if (this.#isWhole) {
      this.#state = 'over'
      if (exchange.method === 'HEAD') {
        exchange.begin(this.#status, this.#headers, this.#length)
        exchange.end()
      } else exchange.replyText(this.#status, this.#headers, buffered)
      return
    }
    this.#state = 'streaming'
    exchange.begin(this.#status, this.#headers, this.#length)
    const isAccepted = buffered === '' || exchange.write(buffered)
    if (this.#isBroken) exchange.cut()
    else if (isAccepted) this.activeRequest?.resume()
  }

  #copyForCache(bytes: Buffer): void {
    if (!this.#copy) return
    this.#copied_bytes += bytes.length
    if (this.#copied_bytes <= (this.#request.dependencies.cache?.largest_body_bytes ?? 0))
      this.#copy.push(Buffer.from(bytes))
    else this.#copy = undefined
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
