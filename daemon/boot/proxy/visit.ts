// A public request on its way through a thread, step by step in the order that the interface gives.
import type { BodyFailure, BodyTaken, Exchange } from '../../../adapters/forward/http/exchange.ts'
import type { Upstream } from '../../../adapters/forward/http/upstream.ts'
import type { TokenSource } from '../../../adapters/identity/client-credentials/token-source.ts'
import { cacheKey } from '../../roles/proxy/cache/cacheable.ts'
import type { Kept, ResponseCache } from '../../roles/proxy/cache/lru.ts'
import type { Config } from '../../roles/proxy/config.ts'
import { type Reason, whyOf } from '../../roles/proxy/reasons.ts'
import { upstreamHeaders } from '../../roles/proxy/request/headers.ts'
import { type Judgement, judge } from '../../roles/proxy/request/lifecycle.ts'
import { type Counter, readCounters, writeCounter } from '../../roles/proxy/request/limits.ts'
import { localReply, preflightReply } from '../../roles/proxy/request/replies.ts'
import type { Origin } from '../../roles/proxy/upstream.ts'
import type { Notes } from './notes.ts'
import { Relay, type Relayed } from './relay.ts'
import type { Place, Tally } from './tally.ts'

export type VisitParts = {
  readonly origin: Origin
  readonly upstream: Upstream
  readonly tokens: Pick<TokenSource, 'token'>
  readonly tally: Tally
  readonly notes: Notes
  readonly cache: ResponseCache | undefined
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Told of what should not happen. */
  readonly failed: (error: unknown) => void
}

const reasonOf: Readonly<Record<BodyFailure, Reason>> = {
  gone: 'client_left',
  too_large: 'body_too_large',
  too_slow: 'slow_client',
  malformed: 'malformed',
}

/** What stands before the platform says for it that it is away. */
const awayStatuses: ReadonlySet<number> = new Set([502, 503, 504])
/** So long without a word, the upstream is not well, whether or not the caller waits on. */
const silent_ms = 5_000

export class Visit implements Relayed {
  readonly exchange: Exchange
  readonly config: Config
  readonly parts: VisitParts
  readonly judged: Judgement
  #forwarded_at = 0
  #isNoted = false

  constructor(exchange: Exchange, config: Config, parts: VisitParts) {
    this.exchange = exchange
    this.config = config
    this.parts = parts
    const { method, target, rawHeaders, peer } = exchange
    this.judged = judge({ method, target, headers: rawHeaders, peer }, config)
  }

  serve(): void {
    this.#step(() => this.#begin())
  }

  /** What comes later begins here too: whatever should not happen, the request is answered. */
  #step(step: () => void): void {
    try {
      step()
    } catch (error) {
      this.#fault(error)
    }
  }

  #fault(error: unknown): void {
    this.parts.failed(error)
    this.#refuse('malformed')
  }

  /** Whatever is missing on the way, nothing is forwarded. */
  #begin(): void {
    const { fault } = this.exchange
    const isSound = !fault || fault.reason === 'unknown_expectation'
    const { next, reason } = this.judged
    if (!isSound) this.#refuse('malformed', { status: fault.status })
    else if (next === 'deny') this.#refuse(reason ?? 'malformed')
    else if (fault) this.#refuse('expectation')
    else if (next === 'preflight') this.#preflight()
    else this.#count(readCounters(this.judged, this.config), 0, () => (next === 'read' ? this.#read() : this.#write()))
  }

  /** Each counter is asked only once the one before has let the request pass. */
  #count(counters: readonly Counter[], at: number, passed: () => void): void {
    const counter = counters[at]
    if (!counter) {
      passed()
      return
    }
    const { key, limit, reason } = counter
    const placed = (found: Place | undefined) => {
      if (!found) this.#refuse('counter_unavailable')
      else if (found.place <= limit) this.#count(counters, at + 1, passed)
      else this.#refuse(reason, { retry_s: Math.max(1, Math.ceil(found.left_ms / 1_000)) })
    }
    this.parts.tally.placeOf(key, (found) => this.#step(() => placed(found)))
  }

  #read(): void {
    const found = this.#kept()
    if (found) this.#replyKept(found)
    else this.#forward(undefined)
  }

  #replyKept({ status, headers, body }: Kept): void {
    this.#note('cache_hit', { status, upstream_status: null }, () => {
      // What HEAD is told of the length was kept with the headers.
      if (this.exchange.method === 'HEAD') {
        this.exchange.begin(status, headers, undefined)
        this.exchange.end()
      } else this.exchange.reply(status, headers, bufferOf(body))
    })
  }

  #kept(): Kept | undefined {
    const { cache, now } = this.parts
    if (!cache || !this.judged.isCacheable) return undefined
    return cache.get(cacheKey(this.exchange.method, this.judged), now())
  }

  /** With the body, whole. What is announced too large counts as no write. */
  #write(): void {
    const { max_body_bytes } = this.config
    const { framing } = this.exchange
    const read = (body: BodyTaken) =>
      this.#step(() => (typeof body === 'string' ? this.#refuse(reasonOf[body]) : this.#forward(body)))
    if (framing !== 'chunked' && framing > max_body_bytes) this.#refuse('body_too_large')
    else {
      const counters = [writeCounter(this.judged, this.config)]
      this.#count(counters, 0, () => this.exchange.readBody(max_body_bytes, read))
    }
  }

  #forward(body: Buffer | undefined): void {
    const token = this.parts.tokens.token()
    if (typeof token === 'object') {
      void token.then(
        (minted) => this.#step(() => this.#forwardBy(minted, body)),
        (error: unknown) => this.#fault(error),
      )
    } else this.#forwardBy(token, body)
  }

  #forwardBy(token: string | undefined, body: Buffer | undefined): void {
    if (token === undefined) this.#refuse('token_unavailable')
    else if (this.exchange.isOver) this.#refuse('client_left')
    else this.#send(token, body)
  }

  #send(token: string, body: Buffer | undefined): void {
    const { origin, upstream } = this.parts
    const { source, path, query, headers } = this.judged
    this.#forwarded_at = this.parts.now()
    const relay = new Relay(this)
    relay.flight = upstream.forward(
      {
        method: this.exchange.method as 'GET' | 'HEAD' | 'POST',
        path: origin.base + path + query,
        headers: upstreamHeaders(headers, origin.authority, source, token),
        ...(body ? { body } : {}),
      },
      relay,
    )
    this.exchange.answering = relay
  }

  answered(status: number, answer: () => void): void {
    this.#heard(!awayStatuses.has(status), `answered ${status}`)
    this.#note('forwarded', { status, upstream_status: status }, answer)
  }

  failed(reason: Reason, wasAsked: boolean): void {
    if (wasAsked) this.#heard(false, reason)
    this.#refuse(reason)
  }

  broken(reason: Reason): void {
    this.#heard(false, reason)
  }

  /** Who leaves at once says nothing of the upstream. */
  left(isUnanswered: boolean): void {
    const waited_ms = this.parts.now() - this.#forwarded_at
    if (isUnanswered && waited_ms >= silent_ms) this.#heard(false, 'silent until the caller left')
    this.#note('client_gone', { status: 0, upstream_status: null }, () => undefined)
  }

  /** The upstream did something, or did not. */
  #heard(ok: boolean, detail: string): void {
    const at = this.parts.now()
    const latency_ms = Math.max(0, at - this.#forwarded_at)
    this.parts.notes.asked('upstream', { ok, detail, latency_ms, at })
  }

  #preflight(): void {
    const { cors_origin, hasPost } = this.config
    const { status, headers } = preflightReply(this.exchange.rawHeaders, cors_origin, hasPost)
    this.#note('preflight', { status, upstream_status: null }, () => this.exchange.replyText(status, headers, ''))
  }

  #refuse(reason: Reason, more: { readonly status?: number; readonly retry_s?: number } = {}): void {
    const { cors_origin } = this.config
    const { status, headers, body } = localReply(more.status ?? whyOf(reason).status ?? 503, cors_origin, more.retry_s)
    this.#note(reason, { status, upstream_status: null }, () => this.exchange.replyText(status, headers, body))
  }

  /** Once for each request: what was decided, also where the caller has left by then. */
  #note(
    reason: Reason,
    answered: { readonly status: number; readonly upstream_status: number | null },
    answer: () => void,
  ): void {
    if (this.#isNoted) return
    this.#isNoted = true
    const { source, path, rule } = this.judged
    const { method } = this.exchange
    const about = { at: this.parts.now(), source: source.address, method, path, rule: rule?.name, reason }
    const status = this.exchange.isOver ? 0 : answered.status
    this.parts.notes.note({ ...about, ...answered, status }, answer)
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
