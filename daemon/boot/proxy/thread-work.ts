// A thread of the public proxy put together: listener, counters, token, upstream, cache and journal around its door.
import { SegmentWriter } from '../../../adapters/audit/segments/segment-writer.ts'
import { type AddressRule, addressRule } from '../../../adapters/forward/http/address-rule.ts'
import { type Clock, tickingClock } from '../../../adapters/forward/http/clock.ts'
import { type DataListener, dataListener } from '../../../adapters/forward/http/data-listener.ts'
import { originOf as dialled } from '../../../adapters/forward/http/dial.ts'
import { defaultInboundLimits, defaultUpstreamLimits } from '../../../adapters/forward/http/limits.ts'
import { type Upstream, upstream } from '../../../adapters/forward/http/upstream.ts'
import { TokenSource } from '../../../adapters/identity/client-credentials/token-source.ts'
import type { Log } from '../../kernel/call.ts'
import type { KeyValue } from '../../kernel/keyvalue.ts'
import { type ResponseCache, responseCache } from '../../roles/proxy/cache/lru.ts'
import { configOf } from '../../roles/proxy/config.ts'
import { strayTotal, tokenTotal } from '../../roles/proxy/metrics.ts'
import { window_ms } from '../../roles/proxy/request/limits.ts'
import { originOf } from '../../roles/proxy/upstream.ts'
import { Door } from './door.ts'
import { FarCounter } from './far-counter.ts'
import type { FromThread, Pod, ToThread } from './messages.ts'
import { Notes } from './notes.ts'
import type { ThreadStart } from './supervisor.ts'
import { Tally } from './tally.ts'
import type { ThreadConfig } from './thread-config.ts'
import { tokenPost } from './token-post.ts'

/** Of the clock of all time limits. */
const step_ms = 250
/** A segment is shipped no later than this after its first line. */
const seal_every_ms = 1_000
const segment_bytes = 1_048_576
const held_bytes = 8_388_608

type Told = { readonly status: number; readonly body: string }

export class Thread {
  readonly #start: ThreadStart<ThreadConfig>
  readonly #say: (message: FromThread) => void
  readonly #clock: Clock & { stop(): void } = tickingClock(step_ms)
  readonly #log: Log
  readonly #far: FarCounter
  #near: KeyValue | undefined
  readonly #journal: SegmentWriter
  readonly #notes: Notes
  readonly #cache: ResponseCache | undefined
  readonly #upstream: Upstream
  readonly #door: Door
  readonly #asked = new Map<number, (told: Told) => void>()
  #id = 0
  #listener: DataListener | undefined

  constructor(start: ThreadStart<ThreadConfig>, say: (message: FromThread) => void) {
    this.#start = start
    this.#say = say
    const { proxy, journal, platform_ca } = start.config
    this.#log = logTo(say, start.name)
    this.#far = new FarCounter((id, steps) => say({ kind: 'count', id, steps }))
    this.#journal = new SegmentWriter({
      ...{ dir: journal, name: start.name, most_bytes: segment_bytes, most_held_bytes: held_bytes },
      told: (state, detail) => {
        if (state === 'failing') this.#log.error('proxy.audit.failing', { detail })
        else this.#log.info('proxy.audit.back')
      },
    })
    this.#notes = new Notes(this.#journal)
    const rule = addressRule(proxy.trusted_networks)
    const url = proxy.platform_api_url ?? ''
    const origin = dialled(new URL(url), platform_ca)
    if (!origin) throw new TypeError(`${url} is no upstream`)
    this.#upstream = upstream({ origin, rule, limits: upstreamLimits(start.config), clock: this.#clock })
    const config = configOf(proxy)
    this.#cache = config.cache_max_bytes > 0 ? responseCache(config.cache_max_bytes) : undefined
    this.#door = new Door(
      {
        origin: originOf(url),
        upstream: this.#upstream,
        tokens: this.#tokens(rule),
        tally: new Tally((...step) => (this.#near ?? this.#far).increment(...step), window_ms),
        notes: this.#notes,
        cache: this.#cache,
        tell: (about) => this.#ask(about),
        now: Date.now,
        failed: (error) => this.#log.error('proxy.request.failed', { error: (error as Error).stack ?? String(error) }),
      },
      config,
    )
  }

  /** Without a client there is no token, and nobody to ask for one. */
  #tokens(rule: AddressRule): Pick<TokenSource, 'token'> {
    const { proxy, token_url, sso_ca } = this.#start.config
    const { public_sso_client_id: client_id, public_sso_client_secret: client_secret } = proxy
    if (client_id === undefined || client_secret === undefined) return { token: () => undefined }
    return new TokenSource({
      client: { client_id, client_secret },
      post: tokenPost(token_url, sso_ca, rule, this.#clock),
      monotonic: () => performance.now(),
      log: this.#log,
      told: (outcome, took_ms) => {
        const latency_ms = Math.round(took_ms)
        this.#notes.count(tokenTotal, [outcome], 1)
        this.#notes.asked('token endpoint', {
          ok: outcome === 'minted',
          detail: outcome,
          latency_ms,
          at: Date.now(),
        })
      },
    })
  }

  async listen(): Promise<void> {
    const { listen, isShared, config } = this.#start
    if (config.key_value) {
      const { counterOn } = await import('./server-counter.ts')
      this.#near = counterOn(config.key_value, this.#log)
    }
    this.#listener = await dataListener({
      listen: { ...listen, reusePort: isShared },
      ...(config.tls ? { tls: config.tls } : {}),
      limits: inboundLimits(config),
      clock: this.#clock,
      handle: (exchange) => this.#door.handle(exchange),
      onStray: (stray) => this.#notes.count(strayTotal, [stray], 1),
    })
    setInterval(() => {
      // What a disk did not take waits for no further request.
      this.#journal.flush()
      this.#journal.seal()
    }, seal_every_ms).unref()
    this.#say({ kind: 'listening', host: listen.host, port: this.#listener.port })
  }

  /** `over`: nothing is left to be done. */
  hear(message: ToThread<ThreadConfig>, over: () => void): void {
    if (message.kind === 'counted') this.#far.answer(message.id, message.counts)
    else if (message.kind === 'told') {
      this.#asked.get(message.id)?.(message)
      this.#asked.delete(message.id)
    } else if (message.kind === 'report') this.#report(message.id)
    else if (message.kind === 'journal') this.#notes.isFull = message.isFull
    else if (message.kind === 'configure') {
      this.#door.config = configOf(message.config.proxy)
      if (message.config.tls) this.#listener?.renew(message.config.tls)
      this.#cache?.clear()
      this.#say({ kind: 'configured', id: message.id })
    } else if (message.kind === 'drain') void this.#drain(message.drain_ms).then(over)
  }

  async #drain(drain_ms: number): Promise<void> {
    await this.#listener?.close(drain_ms)
    this.#upstream.close()
    this.#clock.stop()
    await this.#near?.close()
    // The notes of the last answers are written in this turn.
    await new Promise((resolve) => setImmediate(resolve))
    await this.#journal.end()
    this.#report(0)
  }

  #ask(about: Pod): Promise<Told> {
    this.#id += 1
    const id = this.#id
    this.#say({ kind: 'ask', id, about })
    return new Promise((resolve) => this.#asked.set(id, resolve))
  }

  #report(id: number): void {
    const standing = {
      connections: this.#listener?.counts().connections ?? 0,
      cache_bytes: this.#cache?.bytes ?? 0,
      cache_entries: this.#cache?.entries ?? 0,
    }
    this.#say({ kind: 'reported', id, added: this.#notes.taken(), standing, asked: this.#notes.takenAsked() })
  }
}

/** The thread goes on when a line is not taken; whatever is in it goes through the redaction of the main thread's log. */
function logTo(say: (message: FromThread) => void, thread: string): Log {
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (event: string, fields: Readonly<Record<string, unknown>> = {}) =>
      say({ kind: 'log', level, event, fields: { ...fields, thread } })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function inboundLimits({ proxy }: ThreadConfig) {
  return {
    ...defaultInboundLimits,
    connections: proxy.max_connections,
    header_bytes: proxy.max_header_bytes,
    headers_ms: proxy.header_timeout_s * 1_000,
    request_ms: proxy.body_timeout_s * 1_000,
    idle_ms: proxy.keep_alive_s * 1_000,
    body_rate: proxy.min_body_bytes_per_s,
    answer_rate: proxy.min_answer_bytes_per_s,
  }
}

function upstreamLimits({ proxy }: ThreadConfig) {
  return {
    ...defaultUpstreamLimits,
    connections: proxy.upstream_connections,
    connect_ms: proxy.connect_timeout_s * 1_000,
    first_byte_ms: proxy.answer_timeout_s * 1_000,
    idle_ms: proxy.answer_timeout_s * 1_000,
  }
}
