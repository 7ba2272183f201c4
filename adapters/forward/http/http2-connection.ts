// One HTTP/2 connection of a client: its streams, and limits on those that cost this side more than the client.
import { constants, performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { DataListenerContext } from './client-connection.ts'
import { Http2Exchange } from './http2-exchange.ts'
import { readHttp2Request } from './http2-request.ts'
import type { Http2Limits } from './limits.ts'

export type Http2ConnectionOptions = {
  readonly context: DataListenerContext
  readonly socket: Socket
  readonly limits: Http2Limits
  /** The connection ended because its client abandoned too many streams. */
  readonly onAbandoned: () => void
}

export class Http2Connection {
  readonly #options: Http2ConnectionOptions
  readonly #session: ServerHttp2Session
  readonly #exchanges = new Set<Http2Exchange>()
  #hasServed = false
  #idle_since: number
  #abandoned = { count: 0, since: 0 }

  constructor(options: Http2ConnectionOptions) {
    const { context, socket } = options
    this.#options = options
    this.#idle_since = context.clock.now()
    this.#session = performServerHandshake(socket, sessionOptions(context, options.limits))
    this.#session.on('stream', (stream, _, __, rawHeaders) => this.#receive(stream, rawHeaders))
    this.#session.on('error', () => socket.destroy())
    this.#session.on('close', () => socket.destroy())
    // Sockets of a listener that offers WebSocket stay half open, and nothing else ends the session of a client that died.
    socket.once('end', () => this.destroy())
  }

  get isIdle(): boolean {
    return this.#exchanges.size === 0
  }

  destroy(): void {
    this.#session.destroy()
  }

  onClose(): void {
    for (const exchange of this.#exchanges) exchange.gone()
  }

  /** Each stream is notified by itself. */
  drained(): void {}

  sweep(now: number): void {
    const { closing, limits, onSlowReader } = this.#options.context
    if (closing && now >= closing.all_at) this.destroy()
    // The client is notified that no further stream is served, and those that it has end as they would.
    else if (closing && !this.#session.closed) this.#session.close()
    else if (this.isIdle) {
      const idle_ms = this.#hasServed ? limits.idle_ms : limits.headers_ms
      if (now - this.#idle_since >= idle_ms) this.destroy()
    }
    for (const exchange of this.#exchanges) if (exchange.sweep(now)) onSlowReader()
  }

  #receive(stream: ServerHttp2Stream, rawHeaders: readonly string[]): void {
    const { context, socket } = this.#options
    stream.on('error', () => undefined)
    const request = readHttp2Request(rawHeaders, stream.endAfterHeaders, context.limits)
    const exchange = new Http2Exchange(context, socket, stream, request)
    this.#hasServed = true
    this.#exchanges.add(exchange)
    // A stream that is reset without an error closes only when its body has been read, and throws at each response before.
    stream.once('aborted', () => this.#onLeft(exchange))
    stream.once('close', () => this.#onStreamClose(exchange))
    context.handle(exchange)
  }

  #onLeft(exchange: Http2Exchange): void {
    if (!exchange.isOver && !this.#session.destroyed) this.#countAbandoned()
    exchange.gone()
  }

  #onStreamClose(exchange: Http2Exchange): void {
    this.#exchanges.delete(exchange)
    this.#idle_since = this.#options.context.clock.now()
    this.#onLeft(exchange)
  }

  /**
   * A client that opens streams and abandons them, or has them reset by an error, stays below the limit of streams at once and
   * causes the whole work (CVE-2023-44487, CVE-2025-8671).
   */
  #countAbandoned(): void {
    const { context, limits, onAbandoned } = this.#options
    const now = context.clock.now()
    if (now - this.#abandoned.since >= limits.abandoned_window_ms) this.#abandoned = { count: 0, since: now }
    this.#abandoned.count += 1
    if (this.#abandoned.count <= limits.abandoned_streams) return
    onAbandoned()
    this.#session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }
}

/** The parser bounds frames of one head to eight CONTINUATION, and floods of acknowledgements, by itself. */
function sessionOptions({ limits }: DataListenerContext, { streams, abandoned_streams, session_mib }: Http2Limits) {
  return {
    // Beside the fields there are four pseudo-fields. One more ends the stream.
    maxHeaderListPairs: limits.header_fields + 4,
    maxSessionMemory: session_mib,
    maxSessionInvalidFrames: abandoned_streams,
    maxSessionRejectedStreams: abandoned_streams,
    streamResetBurst: abandoned_streams,
    streamResetRate: Math.max(1, Math.floor(abandoned_streams / 10)),
    // An upstream may repeat a field that Node holds to be single: it is relayed as it came.
    strictSingleValueFields: false,
    settings: {
      enablePush: false,
      enableConnectProtocol: false,
      maxConcurrentStreams: streams,
      maxHeaderListSize: limits.header_bytes,
    },
  }
}
