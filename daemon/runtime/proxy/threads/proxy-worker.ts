// Assembles a serving thread: listener, counters, token source, upstream client, cache and journal.
import { SegmentWriter } from '../../../../adapters/audit/segments/segment-writer.ts'
import { type CoarseClock, coarseClock } from '../../../../adapters/forward/http/coarse-clock.ts'
import { type DataListener, dataListener } from '../../../../adapters/forward/http/data-listener.ts'
import { parseUpstreamOrigin as dialled } from '../../../../adapters/forward/http/dial.ts'
import { defaultInboundLimits, defaultUpstreamLimits } from '../../../../adapters/forward/http/limits.ts'
import { upstream } from '../../../../adapters/forward/http/upstream.ts'
import { systemRandom } from '../../../../adapters/host/random/system-random.ts'
import { TokenSource } from '../../../../adapters/identity/client-credentials/token-source.ts'
import { type AddressRule, addressRule } from '../../../../adapters/platform/address-rule/address-rule.ts'
import type { Upstream } from '../../../kernel/forward/upstream.ts'
import type { KeyValue } from '../../../kernel/store/key-value.ts'
import type { Log } from '../../../kernel/telemetry/log.ts'
import { type ResponseCache, responseCache } from '../../../roles/proxy/cache/response-cache.ts'
import { compileProxyConfig } from '../../../roles/proxy/config.ts'
import { connectionFaultTotal, spanTotal, tokenTotal } from '../../../roles/proxy/metrics.ts'
import { parseOrigin } from '../../../roles/proxy/platform-origin.ts'
import { window_ms } from '../../../roles/proxy/request/rate-counters.ts'
import { type ProxyServiceEndpoint, RequestDispatcher } from '../../../roles/proxy/serving/request-dispatcher.ts'
import { RequestRecorder } from '../../../roles/proxy/serving/request-recorder.ts'
import { RequestSpans } from '../../../roles/proxy/serving/request-spans.ts'
import type { TokenProvider } from '../../../roles/proxy/serving/token-provider.ts'
import { WindowCounter } from '../../../roles/proxy/serving/window-counter.ts'
import { LocalCounterClient } from '../counters/local-counter-client.ts'
import { tokenEndpointClient } from '../token-endpoint-client.ts'
import type { ProxyThreadConfig } from './thread-config.ts'
import type { MessageFromThread, MessageToThread } from './thread-messages.ts'
import type { ThreadStartData } from './thread-supervisor.ts'

/** Resolution of all time limits. */
const clock_tick_ms = 250
/** A segment is shipped no later than this after its first line. */
const seal_interval_ms = 1_000
const max_segment_bytes = 1_048_576
const max_held_bytes = 8_388_608

type ServiceResponse = { readonly status: number; readonly body: string }

export class ProxyWorker {
  readonly #start: ThreadStartData<ProxyThreadConfig>
  readonly #send: (message: MessageFromThread) => void
  readonly #clock: CoarseClock & { stop(): void } = coarseClock(clock_tick_ms)
  readonly #log: Log
  readonly #local_counters: LocalCounterClient
  #remote_counters: KeyValue | undefined
  readonly #journal: SegmentWriter
  readonly #recorder: RequestRecorder
  readonly #spans: RequestSpans | undefined
  readonly #cache: ResponseCache | undefined
  readonly #upstream: Upstream
  readonly #dispatcher: RequestDispatcher
  readonly #pending = new Map<number, (response: ServiceResponse) => void>()
  #id = 0
  #listener: DataListener | undefined

  constructor(start: ThreadStartData<ProxyThreadConfig>, send: (message: MessageFromThread) => void) {
    this.#start = start
    this.#send = send
    const { proxy, journal_folder, platform_ca } = start.config
    this.#log = mainThreadLog(send, start.name)
    this.#local_counters = new LocalCounterClient((id, steps) => send({ kind: 'count', id, steps }))
    this.#journal = new SegmentWriter({
      ...{ dir: journal_folder, name: start.name, most_bytes: max_segment_bytes, most_held_bytes: max_held_bytes },
      onStateChange: (state, detail) => {
        if (state === 'failing') this.#log.error('proxy.audit.failing', { detail })
        else this.#log.info('proxy.audit.recovered')
      },
    })
    this.#recorder = new RequestRecorder(this.#journal, setImmediate)
    const rule = addressRule(proxy.trusted_networks)
    const url = proxy.platform_api_url ?? ''
    const origin = dialled(new URL(url), platform_ca)
    if (!origin) throw new TypeError(`PLATFORM_API_URL must be an http or https URL, not ${JSON.stringify(url)}`)
    this.#upstream = upstream({ origin, rule, limits: buildUpstreamLimits(start.config), clock: this.#clock })
    const config = compileProxyConfig(proxy)
    this.#cache = config.cache_max_bytes > 0 ? responseCache(config.cache_max_bytes) : undefined
    this.#spans = this.#openSpans(url)
    this.#dispatcher = new RequestDispatcher(
      {
        origin: parseOrigin(url),
        upstream: this.#upstream,
        tokens: this.#tokens(rule),
        counter: new WindowCounter(
          (...step) => (this.#remote_counters ?? this.#local_counters).increment(...step),
          window_ms,
          setImmediate,
        ),
        recorder: this.#recorder,
        cache: this.#cache,
        spans: this.#spans,
        requestService: (endpoint) => this.#requestService(endpoint),
        now: Date.now,
        onFault: (error) => this.#log.error('proxy.request.failed', { error: (error as Error).stack ?? String(error) }),
      },
      config,
    )
  }

  /** Undefined where no exporter takes spans. */
  #openSpans(url: string): RequestSpans | undefined {
    const { span_share: share, tls } = this.#start.config
    if (share === undefined) return undefined
    return new RequestSpans({
      share,
      scheme: tls ? 'https' : 'http',
      origin: parseOrigin(url),
      random: systemRandom(),
      draw: Math.random,
      now: () => performance.timeOrigin + performance.now(),
      onDropped: (outcome) => this.#recorder.count(spanTotal, [outcome], 1),
    })
  }

  /** Without a configured client no token can be obtained. */
  #tokens(rule: AddressRule): TokenProvider {
    const { proxy, token_url, sso_ca } = this.#start.config
    const { public_sso_client_id: client_id, public_sso_client_secret: client_secret } = proxy
    if (client_id === undefined || client_secret === undefined) return { token: () => undefined }
    return new TokenSource({
      client: { client_id, client_secret },
      post: tokenEndpointClient(token_url, sso_ca, rule, this.#clock),
      monotonic: () => performance.now(),
      onFault: (outcome, fields) => this.#log.error(`proxy.token.${outcome}`, fields),
      onOutcome: (outcome, took_ms) => {
        const latency_ms = Math.round(took_ms)
        this.#recorder.count(tokenTotal, [outcome], 1)
        this.#recorder.observe('token endpoint', {
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
      const { remoteCounter } = await import('../counters/remote-counter.ts')
      this.#remote_counters = remoteCounter(config.key_value, this.#log)
    }
    this.#listener = await dataListener({
      listen: { ...listen, reusePort: isShared },
      ...(config.tls ? { tls: config.tls } : {}),
      limits: buildInboundLimits(config),
      clock: this.#clock,
      handle: (exchange) => this.#dispatcher.handle(exchange),
      onConnectionFault: (fault) => this.#recorder.count(connectionFaultTotal, [fault], 1),
    })
    setInterval(() => {
      // Lines that a failing disk did not take are written without waiting for the next request.
      this.#journal.flush()
      this.#journal.seal()
    }, seal_interval_ms).unref()
    this.#send({ kind: 'listening', host: listen.host, port: this.#listener.port })
  }

  /** `onDrained` is called when the thread has drained. */
  receive(message: MessageToThread<ProxyThreadConfig>, onDrained: () => void): void {
    if (message.kind === 'counted') this.#local_counters.resolveCounts(message.id, message.counts)
    else if (message.kind === 'service_response') {
      this.#pending.get(message.id)?.(message)
      this.#pending.delete(message.id)
    } else if (message.kind === 'report') this.#report(message.id)
    else if (message.kind === 'journal') this.#recorder.isFull = message.isFull
    else if (message.kind === 'configure') {
      this.#dispatcher.config = compileProxyConfig(message.config.proxy)
      if (message.config.tls) this.#listener?.replaceCertificate(message.config.tls)
      this.#cache?.clear()
      this.#send({ kind: 'configured', id: message.id })
    } else if (message.kind === 'drain') void this.#drain(message.drain_ms).then(onDrained)
  }

  async #drain(drain_ms: number): Promise<void> {
    await this.#listener?.close(drain_ms)
    this.#upstream.close()
    this.#clock.stop()
    await this.#remote_counters?.close()
    // The records of the last responses are written in this turn.
    await new Promise((resolve) => setImmediate(resolve))
    await this.#journal.end()
    this.#report(0)
  }

  #requestService(endpoint: ProxyServiceEndpoint): Promise<ServiceResponse> {
    this.#id += 1
    const id = this.#id
    this.#send({ kind: 'service_request', id, endpoint })
    return new Promise((resolve) => this.#pending.set(id, resolve))
  }

  #report(id: number): void {
    const status = {
      connections: this.#listener?.counts().connections ?? 0,
      cache_bytes: this.#cache?.bytes ?? 0,
      cache_entries: this.#cache?.entries ?? 0,
    }
    this.#send({
      kind: 'reported',
      id,
      deltas: this.#recorder.takeDeltas(),
      status,
      observations: this.#recorder.takeObservations(),
      spans: this.#spans?.take() ?? [],
    })
  }
}

/** Sends log lines to the main thread, whose log redacts them. */
function mainThreadLog(send: (message: MessageFromThread) => void, thread: string): Log {
  const logAt =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (event: string, fields: Readonly<Record<string, unknown>> = {}) =>
      send({ kind: 'log', level, event, fields: { ...fields, thread } })
  return { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') }
}

function buildInboundLimits({ proxy }: ProxyThreadConfig) {
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

function buildUpstreamLimits({ proxy }: ProxyThreadConfig) {
  return {
    ...defaultUpstreamLimits,
    connections: proxy.upstream_connections,
    connect_ms: proxy.connect_timeout_s * 1_000,
    first_byte_ms: proxy.answer_timeout_s * 1_000,
    idle_ms: proxy.answer_timeout_s * 1_000,
  }
}
