// The upstream's answer on its way to the caller: held until it is noted, whole in one write where it is small, else streamed.
import type { Answering, Exchange } from '../../../adapters/forward/http/exchange.ts'
import type { Failure, Flight, Sink } from '../../../adapters/forward/http/sink.ts'
import { cacheKey, keptFor } from '../../roles/proxy/cache/cacheable.ts'
import type { ResponseCache } from '../../roles/proxy/cache/lru.ts'
import type { Config } from '../../roles/proxy/config.ts'
import type { Reason } from '../../roles/proxy/reasons.ts'
import type { Judgement } from '../../roles/proxy/request/lifecycle.ts'
import { responseHeaders } from '../../roles/proxy/response/headers.ts'

/** The request that is relayed; it is told what becomes of it. */
export type Relayed = {
  readonly exchange: Exchange
  readonly judged: Judgement
  readonly config: Config
  readonly parts: { readonly cache: ResponseCache | undefined; readonly now: () => number }
  /** Notes the upstream's status, then calls back for the answer to go out. */
  answered(status: number, answer: () => void): void
  /** Nothing came of it. `wasAsked`: the upstream was, so that it says something of the upstream. */
  failed(reason: Reason, wasAsked: boolean): void
  /** The upstream broke off an answer that has begun. */
  broken(reason: Reason): void
  /** The client is gone. `isUnanswered`: the upstream had not said anything by then. */
  left(isUnanswered: boolean): void
}

/** What is held of an answer until its note is written; more waits at the upstream. */
const most_held_bytes = 65_536

const reasonOf: Readonly<Record<Failure, Reason>> = {
  address: 'upstream_address',
  connect: 'upstream_unreachable',
  busy: 'upstream_unreachable',
  timeout: 'upstream_timeout',
  closed: 'upstream_unreachable',
  protocol: 'upstream_protocol',
}

export class Relay implements Sink, Answering {
  readonly #given: Relayed
  flight: Flight | undefined
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

  constructor(given: Relayed) {
    this.#given = given
  }

  head(status: number, rawHeaders: string[], length: number | undefined, isFramed: boolean): void {
    const { config, judged, parts } = this.#given
    this.#status = status
    this.#headers = responseHeaders(rawHeaders, config.cors_origin)
    this.#length = length
    const mayKeep = parts.cache && isFramed && judged.isCacheable
    this.#life_ms = mayKeep ? keptFor(judged, config, status, rawHeaders, parts.now()) : 0
    if (this.#life_ms > 0) this.#copy = []
    this.#state = 'holding'
    this.#given.answered(status, () => this.#answer())
  }

  data(bytes: Buffer): boolean {
    this.#keep(bytes)
    if (this.#state === 'streaming') return this.#given.exchange.write(Buffer.from(bytes))
    this.#held += bytes.toString('latin1')
    return this.#held.length < most_held_bytes
  }

  /** What was held goes out with the answer; there is nothing else to push. */
  flush(): void {}

  end(): void {
    this.#isWhole = true
    this.#store()
    if (this.#state !== 'streaming') return
    this.#state = 'over'
    this.#given.exchange.end()
  }

  fail(failure: Failure): void {
    if (this.#state === 'waiting') {
      this.#state = 'over'
      this.#given.failed(reasonOf[failure], failure !== 'busy')
      return
    }
    this.#given.broken(reasonOf[failure])
    if (this.#state === 'holding') this.#isBroken = true
    else if (this.#state === 'streaming') {
      this.#state = 'over'
      this.#given.exchange.cut()
    }
  }

  gone(): void {
    const isUnanswered = this.#state === 'waiting'
    this.#state = 'over'
    this.flight?.abort()
    this.#given.left(isUnanswered)
  }

  drained(): void {
    this.flight?.resume()
  }

  /** The note is written. */
  #answer(): void {
    if (this.#state !== 'holding') return
    const { exchange } = this.#given
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
    else if (isTaken) this.flight?.resume()
  }

  #keep(bytes: Buffer): void {
    if (!this.#copy) return
    this.#copied += bytes.length
    if (this.#copied <= (this.#given.parts.cache?.largest_body_bytes ?? 0)) this.#copy.push(Buffer.from(bytes))
    else this.#copy = undefined
  }

  /** Only what has come whole. */
  #store(): void {
    const { exchange, judged, parts } = this.#given
    const { cache, now } = parts
    if (!this.#copy || !cache) return
    const isHead = exchange.method === 'HEAD' && this.#length !== undefined
    const headers = isHead ? [...this.#headers, 'content-length', String(this.#length)] : this.#headers
    const kept = { status: this.#status, headers, body: Buffer.concat(this.#copy) }
    cache.put(cacheKey(exchange.method, judged), kept, this.#life_ms, now())
  }
}
