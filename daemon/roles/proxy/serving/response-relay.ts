// The upstream's answer on its way to the caller: held until it is noted, whole in one write where it is small, else streamed.
import type { Exchange, ResponseProducer } from '../../../kernel/forward/exchange.ts'
import type { ActiveRequest, ResponseSink, UpstreamFailure } from '../../../kernel/forward/upstream.ts'
import { cacheKey, computeCacheLifetime } from '../cache/cache-lifetime.ts'
import type { ResponseCache } from '../cache/response-cache.ts'
import type { ProxyConfig } from '../config.ts'
import type { ProxyReason } from '../reasons.ts'
import type { RequestDecision } from '../request/decide-request.ts'
import { cleanResponseHeaders } from '../response/headers.ts'

/** The request that is relayed; it is told what becomes of it. */
export type RelayedRequest = {
  readonly exchange: Exchange
  readonly judgement: RequestDecision
  readonly config: ProxyConfig
  readonly parts: { readonly cache: ResponseCache | undefined; readonly now: () => number }
  /** Notes the upstream's status, then calls back for the answer to go out. */
  answered(status: number, answer: () => void): void
  /** Nothing came of it. `wasAsked`: the upstream was, so that it says something of the upstream. */
  failed(reason: ProxyReason, wasAsked: boolean): void
  /** The upstream broke off an answer that has begun. */
  broken(reason: ProxyReason): void
  /** The client is gone. `isUnanswered`: the upstream had not said anything by then. */
  left(isUnanswered: boolean): void
}

/** What is held of an answer until its note is written; more waits at the upstream. */
const max_held_bytes = 65_536

const reasonsByFailure: Readonly<Record<UpstreamFailure, ProxyReason>> = {
  address: 'upstream_address',
  connect: 'upstream_unreachable',
  busy: 'upstream_unreachable',
  timeout: 'upstream_timeout',
  closed: 'upstream_unreachable',
  protocol: 'upstream_protocol',
}

export class ResponseRelay implements ResponseSink, ResponseProducer {
  readonly #request: RelayedRequest
  activeRequest: ActiveRequest | undefined
  #status = 0
  #headers: string[] = []
  #length: number | undefined
  /** Bytes that have not gone out, one character each, so that they go in one write with the head. */
  #held = ''
  #state: 'waiting' | 'holding' | 'streaming' | 'over' = 'waiting'
  #isWhole = false
  #isBroken = false
  /** Of an answer that is to be kept. */
  #copy: Buffer[] | undefined
  #copied = 0
  #life_ms = 0

  constructor(request: RelayedRequest) {
    this.#request = request
  }

  head(status: number, rawHeaders: string[], length: number | undefined, isFramed: boolean): void {
    const { config, judgement, parts } = this.#request
    this.#status = status
    this.#headers = cleanResponseHeaders(rawHeaders, config.cors_origin)
    this.#length = length
    const mayKeep = parts.cache && isFramed && judgement.isCacheable
    this.#life_ms = mayKeep ? computeCacheLifetime(judgement, config, status, rawHeaders, parts.now()) : 0
    if (this.#life_ms > 0) this.#copy = []
    this.#state = 'holding'
    this.#request.answered(status, () => this.#answer())
  }

  data(bytes: Buffer): boolean {
    this.#copyForCache(bytes)
    if (this.#state === 'streaming') return this.#request.exchange.write(Buffer.from(bytes))
    this.#held += bytes.toString('latin1')
    return this.#held.length < max_held_bytes
  }

  /** What was held goes out with the answer; there is nothing else to push. */
  flush(): void {}

  end(): void {
    this.#isWhole = true
    this.#store()
    if (this.#state !== 'streaming') return
    this.#state = 'over'
    this.#request.exchange.end()
  }

  fail(failure: UpstreamFailure): void {
    if (this.#state === 'waiting') {
      this.#state = 'over'
      this.#request.failed(reasonsByFailure[failure], failure !== 'busy')
      return
    }
    this.#request.broken(reasonsByFailure[failure])
    if (this.#state === 'holding') this.#isBroken = true
    else if (this.#state === 'streaming') {
      this.#state = 'over'
      this.#request.exchange.cut()
    }
  }

  gone(): void {
    const isUnanswered = this.#state === 'waiting'
    this.#state = 'over'
    this.activeRequest?.abort()
    this.#request.left(isUnanswered)
  }

  drained(): void {
    this.activeRequest?.resume()
  }

  /** The note is written. */
  #answer(): void {
    if (this.#state !== 'holding') return
    const { exchange } = this.#request
    const held = this.#held
    this.#held = ''
    if (this.#isWhole) {
      this.#state = 'over'
      if (exchange.method === 'HEAD') {
        exchange.begin(this.#status, this.#headers, this.#length)
        exchange.end()
      } else exchange.replyText(this.#status, this.#headers, held)
      return
    }
    this.#state = 'streaming'
    exchange.begin(this.#status, this.#headers, this.#length)
    const isTaken = held === '' || exchange.write(held)
    if (this.#isBroken) exchange.cut()
    else if (isTaken) this.activeRequest?.resume()
  }

  #copyForCache(bytes: Buffer): void {
    if (!this.#copy) return
    this.#copied += bytes.length
    if (this.#copied <= (this.#request.parts.cache?.largest_body_bytes ?? 0)) this.#copy.push(Buffer.from(bytes))
    else this.#copy = undefined
  }

  /** Only what has come whole. */
  #store(): void {
    const { exchange, judgement, parts } = this.#request
    const { cache, now } = parts
    if (!this.#copy || !cache) return
    const isHead = exchange.method === 'HEAD' && this.#length !== undefined
    const headers = isHead ? [...this.#headers, 'content-length', String(this.#length)] : this.#headers
    const kept = { status: this.#status, headers, body: Buffer.concat(this.#copy) }
    cache.put(cacheKey(exchange.method, judgement), kept, this.#life_ms, now())
  }
}
