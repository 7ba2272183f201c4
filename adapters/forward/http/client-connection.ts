// One connection of a public client: serves its requests one after the other, and watches for slowness.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { BodyFraming, Exchange, RequestFault, UpgradeProtocol } from '../../../daemon/kernel/forward/exchange.ts'
import type { PresentedCertificate } from '../../../daemon/kernel/identity/identity.ts'
import { clientCertificate } from '../../platform/http-server/client-certificate.ts'
import type { CoarseClock } from './coarse-clock.ts'
import { HttpExchange } from './exchange.ts'
import type { InboundLimits } from './limits.ts'
import { ReaderPace } from './reader-pace.ts'

/** State of a listener that all its connections share. */
export type DataListenerContext = {
  readonly limits: InboundLimits
  readonly clock: CoarseClock
  readonly handle: (exchange: Exchange) => void
  /** A client is cut off because it takes its answer too slowly. */
  readonly onSlowReader: () => void
  /** When idle connections are closed, and when all are cut off. Undefined while the listener is not closing. */
  closing: { readonly idle_at: number; readonly all_at: number } | undefined
}

export class ClientConnection {
  readonly peer: string
  readonly #context: DataListenerContext
  readonly #socket: Socket
  #current: HttpExchange | undefined
  /** Sent ahead while another is served. */
  readonly #waiting: HttpExchange[] = []
  /** The current or last response ends the connection: bytes after it are not a request. */
  #isLast = false
  /** Since when a body is read, and where it began. Undefined while none is. */
  #body: { readonly since: number; readonly from: number } | undefined
  /** The response that was begun last. Several may wait for earlier ones to be sent. */
  #answer: ServerResponse | undefined
  /** Bytes at the last look, and when there was progress for the last time. */
  #mark = 0
  #since: number
  readonly #reader: ReaderPace
  /** When to drop a connection that is kept only until the client closes it. */
  #lingers_until = Number.POSITIVE_INFINITY

  constructor(context: DataListenerContext, socket: Socket) {
    this.#context = context
    this.#socket = socket
    this.#since = context.clock.now()
    this.#reader = new ReaderPace(context.limits)
    this.peer = socket.remoteAddress ?? ''
  }

  get certificate(): PresentedCertificate | undefined {
    return clientCertificate(this.#socket)
  }

  /** No request is pending, and no response is unsent. */
  get isIdle(): boolean {
    return !this.#current && this.#socket.writableLength === 0
  }

  /** No request is under way or waits, all answers have gone out, and another request would be taken. */
  get isQuiet(): boolean {
    if (this.#isLast || this.#waiting.length > 0) return false
    return !this.#current && (!this.#answer || (this.#answer.writableFinished && this.#answer.socket === null))
  }

  receive(
    request: IncomingMessage,
    response: ServerResponse,
    framing: BodyFraming | RequestFault,
    isAwaited: boolean,
    upgrade?: UpgradeProtocol,
  ): void {
    if (this.#isLast) return
    const exchange = new HttpExchange(this, request, response, framing, isAwaited, upgrade)
    if (!this.#current && !this.#socket.writableNeedDrain) this.#start(exchange)
    else if (this.#waiting.length < this.#context.limits.pipelined) this.#waiting.push(exchange)
    else this.destroy()
  }

  /** The response of the current request is handed to the socket: serves the next request. */
  next(): void {
    this.#current = undefined
    if (this.#isLast) this.#close()
    // A client that does not read gets no further responses; see `drained`.
    else if (this.#waiting.length > 0 && !this.#socket.writableNeedDrain)
      this.#start(this.#waiting.shift() as HttpExchange)
  }

  drained(): void {
    this.#current?.drained()
    if (!this.#current && !this.#isLast && this.#waiting.length > 0) this.next()
  }

  /** Announces in the head whether the connection stays open. `isFinal`: later bytes on it are ignored. */
  beforeHead(response: ServerResponse, isFinal: boolean): void {
    this.#answer = response
    if (isFinal || (this.#context.closing && this.#waiting.length === 0)) this.#isLast = true
    if (!this.#isLast) return
    response.shouldKeepAlive = false
    if (isFinal) this.#linger()
  }

  /** The connection switches protocols: no request follows. */
  leaveHttp(response: ServerResponse): void {
    this.#isLast = true
    response.detachSocket(this.#socket)
  }

  /** Starts or stops counting the bytes of a body. */
  watchBody(isWatched: boolean): void {
    this.#since = this.#context.clock.now()
    this.#mark = this.#socket.bytesRead
    this.#body = isWatched ? { since: this.#since, from: this.#mark } : undefined
  }

  /**
   * The bytes received are not a request, or came too late. True when no response is under way, so that the listener may
   * answer; otherwise the request that is being read is notified.
   */
  onParserError(isLate: boolean): boolean {
    const current = this.#current
    const wasLast = this.#isLast
    this.#isLast = true
    this.#waiting.length = 0
    current?.bodyFailed(isLate ? 'too_slow' : 'malformed')
    return !current && !wasLast
  }

  /** Writes the last bytes, after all earlier responses, and ends the connection. */
  sendFinal(text: string): void {
    this.#isLast = true
    this.#linger()
    this.#whenWritten(() => {
      this.#socket.write(text, 'latin1')
      this.#socket.destroySoon()
    })
  }

  destroy(): void {
    this.#isLast = true
    this.#waiting.length = 0
    this.#socket.destroy()
  }

  onClose(): void {
    this.#waiting.length = 0
    const current = this.#current
    this.#current = undefined
    current?.gone()
  }

  sweep(now: number): void {
    if (now >= this.#lingers_until || this.#isOverdue(now)) this.destroy()
    else if (this.#body && !this.#isBodyInTime(now, this.#body)) this.#current?.bodyFailed('too_slow')
    else this.#sweepProgress(now)
  }

  #isOverdue(now: number): boolean {
    const { closing } = this.#context
    return closing !== undefined && (now >= closing.all_at || (this.isIdle && now >= closing.idle_at))
  }

  #start(exchange: HttpExchange): void {
    this.#current = exchange
    this.#context.handle(exchange)
  }

  /** Ends a connection that its response head had announced to stay open. */
  #close(): void {
    this.#waiting.length = 0
    this.#whenWritten(() => this.#socket.destroySoon())
  }

  #whenWritten(then: () => void): void {
    if (this.#answer && !this.#answer.writableFinished) this.#answer.once('finish', then)
    else then()
  }

  #isBodyInTime(now: number, { since, from }: { readonly since: number; readonly from: number }): boolean {
    const { grace_ms, body_rate } = this.#context.limits
    const elapsed_ms = now - since
    return elapsed_ms < grace_ms || (this.#socket.bytesRead - from) * 1_000 >= body_rate * elapsed_ms
  }

  /** Bytes that the client reads while a response waits for it; otherwise bytes that it sends. */
  #sweepProgress(now: number): void {
    const { stall_ms, idle_ms } = this.#context.limits
    const isWriting = this.#socket.writableLength > 0
    const mark = isWriting ? this.#socket.bytesWritten - this.#socket.writableLength : this.#socket.bytesRead
    // Only while an incomplete response waits for its client: a client is not charged for a slow upstream.
    if (this.#reader.isTooSlow(now, isWriting && this.#current !== undefined, mark)) {
      this.#context.onSlowReader()
      this.destroy()
    } else if (mark !== this.#mark || (this.#current && !isWriting)) {
      this.#mark = mark
      this.#since = now
    } else if (now - this.#since >= (isWriting ? stall_ms : idle_ms)) this.destroy()
  }

  /**
   * A socket that is closed with bytes unread resets the connection, and the client may lose the response.
   * So after the response only the sending side is closed, and the socket is read until the client closes too, for a while.
   */
  #linger(): void {
    const { clock, limits } = this.#context
    this.#socket.destroySoon = () => {
      this.#lingers_until = clock.now() + limits.linger_ms
      this.#socket.end()
    }
  }
}
