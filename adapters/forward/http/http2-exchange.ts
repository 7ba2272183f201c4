// One request and its response on a stream of HTTP/2.
import { constants, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type {
  BodyFraming,
  BodyResult,
  BodySink,
  Exchange,
  RequestFault,
  ResponseProducer,
} from '../../../daemon/kernel/forward/exchange.ts'
import type { PresentedCertificate } from '../../../daemon/kernel/identity/identity.ts'
import { clientCertificate } from '../../platform/http-server/client-certificate.ts'
import { isBelowPace } from '../../platform/http-server/transfer-pace.ts'
import type { DataListenerContext } from './client-connection.ts'
import { collectBody } from './collect-body.ts'
import type { Http2Request } from './http2-request.ts'
import { ReaderPace } from './reader-pace.ts'

/** Fields of one connection, which a response of HTTP/2 must not have (RFC 9113, section 8.2.2). */
const connectionFields: ReadonlySet<string> = new Set([
  ...['connection', 'http2-settings', 'keep-alive', 'proxy-connection', 'te', 'transfer-encoding', 'upgrade'],
])

/** Responses that end with their head. */
const emptyStatuses: ReadonlySet<number> = new Set([204, 205, 304])

export class Http2Exchange implements Exchange {
  readonly method: string
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly peer: string
  readonly fault: RequestFault | undefined
  readonly framing: BodyFraming
  /** A switch of protocols is one of HTTP/1.1: clients open a connection of their own for it. */
  readonly upgrade = undefined
  answering: ResponseProducer | undefined
  readonly #context: DataListenerContext
  readonly #socket: Socket
  readonly #stream: ServerHttp2Stream
  readonly #reader: ReaderPace
  #sink: BodySink | undefined
  /** Since when the body is read, and how many bytes have arrived since. Undefined while it is not read. */
  #body: { readonly since: number; bytes: number } | undefined
  #written_bytes = 0
  #isOver = false

  constructor(context: DataListenerContext, socket: Socket, stream: ServerHttp2Stream, request: Http2Request) {
    const { method, target, rawHeaders, framing } = request
    this.method = method
    this.target = target
    this.rawHeaders = rawHeaders
    this.peer = socket.remoteAddress ?? ''
    this.#socket = socket
    this.fault = typeof framing === 'object' ? framing : undefined
    this.framing = typeof framing === 'object' ? 0 : framing
    this.#context = context
    this.#stream = stream
    this.#reader = new ReaderPace(context.limits)
    stream.on('drain', () => {
      if (!this.#isOver) this.answering?.drained()
    })
  }

  get certificate(): PresentedCertificate | undefined {
    return clientCertificate(this.#socket)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  readBody(max_bytes: number, done: (body: BodyResult) => void): void {
    collectBody(this, max_bytes, done)
  }

  streamBody(max_bytes: number, sink: BodySink): void {
    if (this.#isOver) sink.fail('gone')
    else if (this.framing === 0) sink.end()
    else if (this.framing !== 'chunked' && this.framing > max_bytes) sink.fail('too_large')
    else this.#readBody(max_bytes, sink)
  }

  resumeBody(): void {
    if (!this.#sink || !this.#stream.isPaused()) return
    this.#body = { since: this.#context.clock.now(), bytes: 0 }
    this.#stream.resume()
  }

  reply(status: number, headers: readonly string[], body: Buffer = Buffer.alloc(0)): void {
    if (this.#isOver) return
    this.begin(status, headers, body.length)
    this.end(this.method === 'HEAD' ? '' : body)
  }

  replyText(status: number, headers: readonly string[], bytes: string): void {
    this.reply(status, headers, Buffer.from(bytes, 'latin1'))
  }

  begin(status: number, headers: readonly string[], length: number | undefined): void {
    if (this.#isOver) return
    const fields: string[] = [':status', String(status)]
    for (let at = 0; at + 1 < headers.length; at += 2) {
      const name = (headers[at] as string).toLowerCase()
      if (!connectionFields.has(name)) fields.push(name, headers[at + 1] as string)
    }
    if (length !== undefined && !emptyStatuses.has(status)) fields.push('content-length', String(length))
    this.#stream.respond(fields)
  }

  /** Requests for a switch never arrive here. */
  switchProtocols(): void {}

  write(bytes: Buffer | string): boolean {
    if (this.#isOver || this.#stream.writableEnded) return true
    this.#written_bytes += bytes.length
    return this.#stream.write(typeof bytes === 'string' ? bytes : Buffer.from(bytes), 'latin1')
  }

  end(bytes: Buffer | string = ''): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#written_bytes += bytes.length
    this.#releaseBody()
    if (this.#stream.writableFinished) this.#refuseBody()
    else this.#stream.once('finish', () => this.#refuseBody())
    if (this.#stream.writableEnded) return
    if (bytes.length === 0) this.#stream.end()
    else this.#stream.end(bytes, 'latin1')
  }

  cut(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#releaseBody()
    this.#breakOff()
  }

  /** The client has reset the stream, or it is closed. */
  gone(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#releaseBody()?.fail('gone')
    this.answering?.gone()
  }

  /** True when the stream was closed because its client reads too slowly. */
  sweep(now: number): boolean {
    const { grace_ms, body_rate: bytes_per_s } = this.#context.limits
    if (this.#body && isBelowPace(this.#body.bytes, now - this.#body.since, { grace_ms, bytes_per_s }))
      this.#releaseBody()?.fail('too_slow')
    const unread = this.#stream.writableLength
    if (!this.#reader.isTooSlow(now, unread > 0, this.#written_bytes - unread)) return false
    this.#breakOff()
    return true
  }

  #readBody(max_bytes: number, sink: BodySink): void {
    if (!this.#stream.headersSent && this.rawHeaders.some((name, at) => at % 2 === 0 && name === 'expect'))
      this.#stream.additionalHeaders({ ':status': constants.HTTP_STATUS_CONTINUE })
    this.#sink = sink
    this.#body = { since: this.#context.clock.now(), bytes: 0 }
    let size = 0
    this.#stream.on('data', (piece: Buffer) => {
      size += piece.length
      if (this.#body) this.#body.bytes += piece.length
      if (size > max_bytes) this.#releaseBody()?.fail('too_large')
      else if (this.#sink?.data(piece) === false) this.#pauseBody()
    })
    this.#stream.on('end', () => {
      // A stream that its client reset ends as well, before it is closed: a part must not pass for the whole.
      if (!this.#stream.closed && !this.#stream.destroyed) this.#releaseBody()?.end()
    })
  }

  /** The rest of a body that nobody reads any more is refused, not awaited (RFC 9113, section 8.1). */
  #refuseBody(): void {
    if (!this.#stream.readableEnded) this.#stream.close(constants.NGHTTP2_NO_ERROR)
  }

  /** With an error: `close` with a code ends the response first, and a part of it would pass for the whole. */
  #breakOff(): void {
    this.#stream.destroy(new Error('the response was broken off'))
  }

  #pauseBody(): void {
    if (!this.#sink) return
    this.#body = undefined
    this.#stream.pause()
  }

  /** The sink, which receives nothing more but its last call. What else arrives of the body is dropped. */
  #releaseBody(): BodySink | undefined {
    const sink: BodySink | undefined = this.#sink
    this.#sink = undefined
    this.#body = undefined
    if (sink && !this.#stream.destroyed) this.#stream.resume()
    return sink
  }
}
