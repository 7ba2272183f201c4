// A public request on its way through a thread, step by step in the order that the interface gives.
import type { BodyFailure, Exchange } from '../../../adapters/forward/http/exchange.ts'
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
import type { Pod } from './messages.ts'
import type { Notes } from './notes.ts'
import { Relay, type Relayed } from './relay.ts'
import type { Tally } from './tally.ts'

export type DoorParts = {
  readonly origin: Origin
  readonly upstream: Upstream
  readonly tokens: Pick<TokenSource, 'token'>
  readonly tally: Tally
  readonly notes: Notes
  readonly cache: ResponseCache | undefined
  /** What is asked for beside the public prefix, and answered by the main thread. */
  readonly tell: (about: Pod) => Promise<{ readonly status: number; readonly body: string }>
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Told of what should not happen. */
  readonly failed: (error: unknown) => void
}

/** Exact targets: they are for whoever reaches the listener itself, and no path under the prefix leads to them. */
const pods: ReadonlyMap<string, Pod> = new Map([
  ['/health', 'health'],
  ['/service-info', 'info'],
])

export class Door {
  readonly #parts: DoorParts
  /** May be replaced at any time: each request goes by the one that it began with. */
  config: Config

  constructor(parts: DoorParts, config: Config) {
    this.#parts = parts
    this.config = config
  }

  handle(exchange: Exchange): void {
    const about = exchange.method === 'GET' && !exchange.fault ? pods.get(exchange.target) : undefined
    if (about) void this.#tell(exchange, about)
    else void new Visit(exchange, this.config, this.#parts).serve()
  }

  async #tell(exchange: Exchange, about: Pod): Promise<void> {
    const { status, body } = await this.#parts.tell(about)
    exchange.reply(status, ['Content-Type', 'application/json'], Buffer.from(body))
  }
}

const reasonOf: Readonly<Record<BodyFailure, Reason>> = {
  gone: 'client_left',
  too_large: 'body_too_large',
  too_slow: 'slow_client',
  malformed: 'malformed',
}

/** What stands before the platform says for it that it is away. */
const awayStatuses: ReadonlySet<number> = new Set([502, 503, 504])

class Visit implements Relayed {
  readonly exchange: Exchange
  readonly config: Config
  readonly parts: DoorParts
  readonly judged: Judgement
  #forwarded_at = 0
  #isNoted = false

  constructor(exchange: Exchange, config: Config, parts: DoorParts) {
    this.exchange = exchange
    this.config = config
    this.parts = parts
    const { method, target, rawHeaders, peer } = exchange
    this.judged = judge({ method, target, headers: rawHeaders, peer }, config)
  }

  /** Never rejects. */
  async serve(): Promise<void> {
    try {
      await this.#steps()
    } catch (error) {
      this.parts.failed(error)
      this.#refuse('malformed')
    }
  }

  /** Whatever is missing on the way, nothing is forwarded. */
  async #steps(): Promise<void> {
    const { fault } = this.exchange
    const isSound = !fault || fault.reason === 'unknown_expectation'
    if (!isSound) return this.#refuse('malformed', { status: fault.status })
    const { next, reason } = this.judged
    if (next === 'deny') return this.#refuse(reason ?? 'malformed')
    if (fault) return this.#refuse('expectation')
    if (next === 'preflight') return this.#preflight()
    if (!(await this.#isWithin(readCounters(this.judged, this.config)))) return
    if (next === 'read') return this.#read()
    const body = await this.#write()
    if (body) await this.#forward(body)
  }

  /** Each counter is asked only once the one before has let the request pass. */
  async #isWithin(counters: readonly Counter[]): Promise<boolean> {
    try {
      for (const { key, limit, reason } of counters) {
        const { place, left_ms } = await this.parts.tally.placeOf(key)
        if (place <= limit) continue
        this.#refuse(reason, { retry_s: Math.max(1, Math.ceil(left_ms / 1_000)) })
        return false
      }
      return true
    } catch {
      this.#refuse('counter_unavailable')
      return false
    }
  }

  #read(): void | Promise<void> {
    const found = this.#kept()
    if (!found) return this.#forward(undefined)
    const { status, headers, body } = found
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

  /** The body, whole; undefined when there is none to go on with. What is announced too large counts as no write. */
  async #write(): Promise<Buffer | undefined> {
    const { max_body_bytes } = this.config
    const { framing } = this.exchange
    if (framing !== 'chunked' && framing > max_body_bytes) {
      this.#refuse('body_too_large')
      return undefined
    }
    if (!(await this.#isWithin([writeCounter(this.judged, this.config)]))) return undefined
    const body = await new Promise<Buffer | BodyFailure>((done) => this.exchange.readBody(max_body_bytes, done))
    if (typeof body !== 'string') return body
    this.#refuse(reasonOf[body])
    return undefined
  }

  async #forward(body: Buffer | undefined): Promise<void> {
    const { tokens, origin, upstream } = this.parts
    const held = tokens.token()
    const token = typeof held === 'object' ? await held : held
    if (token === undefined) return this.#refuse('token_unavailable')
    if (this.exchange.isOver) return this.#refuse('client_left')
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

  failed(reason: Reason): void {
    this.#heard(false, reason)
    this.#refuse(reason)
  }

  left(): void {
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
