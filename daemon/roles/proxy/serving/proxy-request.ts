// A public request on its way through a thread, step by step in the order that the interface gives.
import type { BodyFailure, BodyResult, Exchange } from '../../../kernel/forward/exchange.ts'
import type { Upstream } from '../../../kernel/forward/upstream.ts'
import { cacheKey } from '../cache/cache-lifetime.ts'
import type { CachedResponse, ResponseCache } from '../cache/response-cache.ts'
import type { ProxyConfig } from '../config.ts'
import type { PlatformOrigin } from '../platform-origin.ts'
import { lookUpReason, type ProxyReason } from '../reasons.ts'
import { decideRequest, type RequestDecision } from '../request/decide-request.ts'
import { buildUpstreamHeaders } from '../request/headers.ts'
import { buildWriteCounter, listRateCounters, type RateCounter } from '../request/rate-counters.ts'
import { buildLocalReply, buildPreflightReply } from '../request/replies.ts'
import type { RequestRecorder } from './request-recorder.ts'
import { type RelayedRequest, ResponseRelay } from './response-relay.ts'
import type { TokenProvider } from './token-provider.ts'
import type { WindowCounter, WindowPosition } from './window-counter.ts'

export type ProxyRequestDependencies = {
  readonly origin: PlatformOrigin
  readonly upstream: Upstream
  readonly tokens: TokenProvider
  readonly counter: WindowCounter
  readonly recorder: RequestRecorder
  readonly cache: ResponseCache | undefined
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Told of what should not happen. */
  readonly onFault: (error: unknown) => void
}

const reasonsByBodyFailure: Readonly<Record<BodyFailure, ProxyReason>> = {
  gone: 'client_left',
  too_large: 'body_too_large',
  too_slow: 'slow_client',
  malformed: 'malformed',
}

/** What stands before the platform says for it that it is away. */
const unavailableStatuses: ReadonlySet<number> = new Set([502, 503, 504])
/** So long without a word, the upstream is not well, whether or not the caller waits on. */
const silence_limit_ms = 5_000

export class ProxyRequest implements RelayedRequest {
  readonly exchange: Exchange
  readonly config: ProxyConfig
  readonly parts: ProxyRequestDependencies
  readonly judgement: RequestDecision
  #forwarded_at = 0
  #isRecorded = false

  constructor(exchange: Exchange, config: ProxyConfig, parts: ProxyRequestDependencies) {
    this.exchange = exchange
    this.config = config
    this.parts = parts
    const { method, target, rawHeaders, peer } = exchange
    this.judgement = decideRequest({ method, target, headers: rawHeaders, peer }, config)
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
    this.parts.onFault(error)
    this.#refuse('malformed')
  }

  /** Whatever is missing on the way, nothing is forwarded. */
  #begin(): void {
    const { fault } = this.exchange
    const isSound = !fault || fault.reason === 'unknown_expectation'
    const { next, reason } = this.judgement
    if (!isSound) this.#refuse('malformed', { status: fault.status })
    else if (next === 'deny') this.#refuse(reason ?? 'malformed')
    else if (fault) this.#refuse('expectation')
    else if (next === 'preflight') this.#preflight()
    else
      this.#count(listRateCounters(this.judgement, this.config), 0, () =>
        next === 'read' ? this.#read() : this.#write(),
      )
  }

  /** Each counter is asked only once the one before has let the request pass. */
  #count(counters: readonly RateCounter[], at: number, passed: () => void): void {
    const counter = counters[at]
    if (!counter) {
      passed()
      return
    }
    const { key, limit, reason } = counter
    const placed = (found: WindowPosition | undefined) => {
      if (!found) this.#refuse('counter_unavailable')
      else if (found.position <= limit) this.#count(counters, at + 1, passed)
      else this.#refuse(reason, { retry_s: Math.max(1, Math.ceil(found.left_ms / 1_000)) })
    }
    this.parts.counter.count(key, (found) => this.#step(() => placed(found)))
  }

  #read(): void {
    const found = this.#findCached()
    if (found) this.#replyCached(found)
    else this.#forward(undefined)
  }

  #replyCached({ status, headers, body }: CachedResponse): void {
    this.#record('cache_hit', { status, upstream_status: null }, () => {
      // What HEAD is told of the length was kept with the headers.
      if (this.exchange.method === 'HEAD') {
        this.exchange.begin(status, headers, undefined)
        this.exchange.end()
      } else this.exchange.reply(status, headers, toBuffer(body))
    })
  }

  #findCached(): CachedResponse | undefined {
    const { cache, now } = this.parts
    if (!cache || !this.judgement.isCacheable) return undefined
    return cache.get(cacheKey(this.exchange.method, this.judgement), now())
  }

  /** With the body, whole. What is announced too large counts as no write. */
  #write(): void {
    const { max_body_bytes } = this.config
    const { framing } = this.exchange
    const read = (body: BodyResult) =>
      this.#step(() => (typeof body === 'string' ? this.#refuse(reasonsByBodyFailure[body]) : this.#forward(body)))
    if (framing !== 'chunked' && framing > max_body_bytes) this.#refuse('body_too_large')
    else {
      const counters = [buildWriteCounter(this.judgement, this.config)]
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
    const { source, path, query, headers } = this.judgement
    this.#forwarded_at = this.parts.now()
    const relay = new ResponseRelay(this)
    relay.activeRequest = upstream.forward(
      {
        method: this.exchange.method as 'GET' | 'HEAD' | 'POST',
        path: origin.base + path + query,
        headers: buildUpstreamHeaders(headers, origin.authority, source, token),
        ...(body ? { body } : {}),
      },
      relay,
    )
    this.exchange.answering = relay
  }

  answered(status: number, answer: () => void): void {
    this.#observeUpstream(!unavailableStatuses.has(status), `answered ${status}`)
    this.#record('forwarded', { status, upstream_status: status }, answer)
  }

  failed(reason: ProxyReason, wasAsked: boolean): void {
    if (wasAsked) this.#observeUpstream(false, reason)
    this.#refuse(reason)
  }

  broken(reason: ProxyReason): void {
    this.#observeUpstream(false, reason)
  }

  /** Who leaves at once says nothing of the upstream. */
  left(isUnanswered: boolean): void {
    const waited_ms = this.parts.now() - this.#forwarded_at
    if (isUnanswered && waited_ms >= silence_limit_ms) this.#observeUpstream(false, 'silent until the caller left')
    this.#record('client_gone', { status: 0, upstream_status: null }, () => undefined)
  }

  /** The upstream did something, or did not. */
  #observeUpstream(ok: boolean, detail: string): void {
    const at = this.parts.now()
    const latency_ms = Math.max(0, at - this.#forwarded_at)
    this.parts.recorder.observe('upstream', { ok, detail, latency_ms, at })
  }

  #preflight(): void {
    const { cors_origin, hasPost } = this.config
    const { status, headers } = buildPreflightReply(this.exchange.rawHeaders, cors_origin, hasPost)
    this.#record('preflight', { status, upstream_status: null }, () => this.exchange.replyText(status, headers, ''))
  }

  #refuse(reason: ProxyReason, more: { readonly status?: number; readonly retry_s?: number } = {}): void {
    const { cors_origin } = this.config
    const { status, headers, body } = buildLocalReply(
      more.status ?? lookUpReason(reason).status ?? 503,
      cors_origin,
      more.retry_s,
    )
    this.#record(reason, { status, upstream_status: null }, () => this.exchange.replyText(status, headers, body))
  }

  /** Once for each request: what was decided, also where the caller has left by then. */
  #record(
    reason: ProxyReason,
    answered: { readonly status: number; readonly upstream_status: number | null },
    answer: () => void,
  ): void {
    if (this.#isRecorded) return
    this.#isRecorded = true
    const { source, path, rule } = this.judgement
    const { method } = this.exchange
    const about = { at: this.parts.now(), source: source.address, method, path, rule: rule?.name, reason }
    const status = this.exchange.isOver ? 0 : answered.status
    this.parts.recorder.record({ ...about, ...answered, status }, answer)
  }
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
