// One connection of a stranger: its requests are served one after the other, and it is watched for slowness.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { BodyFraming, Exchange, RequestFault } from '../../../daemon/kernel/forward/exchange.ts'
import { HttpExchange } from './exchange.ts'
import type { InboundLimits } from './limits.ts'
import type { TickingClock } from './ticking-clock.ts'

/** What a listener has in common for all of its connections. */
export type DataListenerContext = {
  readonly limits: InboundLimits
  readonly clock: TickingClock
  readonly handle: (exchange: Exchange) => void
  /** A client is cut off because it takes its answer too slowly. */
  readonly onSlowReader: () => void
  /** When connections are let go that ask nothing more, and when all are cut off; no end is near while undefined. */
  closing: { readonly idle_at: number; readonly all_at: number } | undefined
}

export class ClientConnection {
  readonly peer: string
  readonly #context: DataListenerContext
  readonly #socket: Socket
  #current: HttpExchange | undefined
  /** Sent ahead while another is served. */
  readonly #waiting: HttpExchange[] = []
  /** The answer that is under way, or was the last, ends the connection: what comes after is no request. */
  #isLast = false
  #isBodyWatched = false
  /** The last answer that was begun. Several may wait in it for those before to have gone out. */
  #answer: ServerResponse | undefined
  /** Bytes at the last look, and when there was progress for the last time; of a body, when and where it began. */
  #mark = 0
  #since: number
  /** Since when an answer waits for its client, and bytes by then; undefined while none does. */
  #waits: { readonly since: number; readonly from: number } | undefined
  /** When a connection goes that is kept for its end to be seen. */
  #lingers_until = Number.POSITIVE_INFINITY

  constructor(context: DataListenerContext, socket: Socket) {
    this.#context = context
    this.#socket = socket
    this.#since = context.clock.now()
    this.peer = socket.remoteAddress ?? ''
  }

  /** Nothing is asked, and nothing is owed. */
  get isIdle(): boolean {
    return !this.#current && this.#socket.writableLength === 0
  }

  /** No request is under way, and all answers have gone out. */
  get isQuiet(): boolean {
    return !this.#current && (!this.#answer || (this.#answer.writableFinished && this.#answer.socket === null))
  }

  receive(
    request: IncomingMessage,
    response: ServerResponse,
    framing: BodyFraming | RequestFault,
    isAwaited: boolean,
  ): void {
    if (this.#isLast) return
    const exchange = new HttpExchange(this, request, response, framing, isAwaited)
    if (!this.#current && !this.#socket.writableNeedDrain) this.#start(exchange)
    else if (this.#waiting.length < this.#context.limits.pipelined) this.#waiting.push(exchange)
    else this.destroy()
  }

  /** The answer of the current request was given to the socket: the next one's turn. */
  next(): void {
    this.#current = undefined
    if (this.#isLast) this.#close()
    // Who takes no answers is given no more of them; see `drained`.
    else if (this.#waiting.length > 0 && !this.#socket.writableNeedDrain)
      this.#start(this.#waiting.shift() as HttpExchange)
  }

  drained(): void {
    if (!this.#current && !this.#isLast && this.#waiting.length > 0) this.next()
  }

  /** Says with the head whether the connection goes on. `isFinal`: what else may come on it nobody takes for anything. */
  beforeHead(response: ServerResponse, isFinal: boolean): void {
    this.#answer = response
    if (isFinal || (this.#context.closing && this.#waiting.length === 0)) this.#isLast = true
    if (!this.#isLast) return
    response.shouldKeepAlive = false
    if (isFinal) this.#linger()
  }

  /** From here on the bytes of a body are counted, or no longer. */
  watchBody(isWatched: boolean): void {
    this.#isBodyWatched = isWatched
    this.#since = this.#context.clock.now()
    this.#mark = this.#socket.bytesRead
  }

  /**
   * What came is no request, or not in time. True when nothing is answered now, so that the listener may say so; else the
   * request that is being read learns of it.
   */
  onParserError(isLate: boolean): boolean {
    if (this.#isLast) return false
    this.#isLast = true
    this.#waiting.length = 0
    const current = this.#current
    current?.bodyFailed(isLate ? 'too_slow' : 'malformed')
    return !current
  }

  /** The last thing that is written, after the answers before it; then the end. */
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
    else if (this.#isBodyWatched) this.#sweepBody(now)
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

  /** What was told to go on by its head, and may not. */
  #close(): void {
    this.#waiting.length = 0
    this.#whenWritten(() => this.#socket.destroySoon())
  }

  #whenWritten(then: () => void): void {
    if (this.#answer && !this.#answer.writableFinished) this.#answer.once('finish', then)
    else then()
  }

  #sweepBody(now: number): void {
    const { grace_ms, body_rate } = this.#context.limits
    const elapsed_ms = now - this.#since
    const bytes = this.#socket.bytesRead - this.#mark
    if (elapsed_ms >= grace_ms && bytes * 1_000 < body_rate * elapsed_ms) this.#current?.bodyFailed('too_slow')
  }

  /** Bytes that the other end takes, while there are any for it; else those that it sends. */
  #sweepProgress(now: number): void {
    const { stall_ms, idle_ms } = this.#context.limits
    const isWriting = this.#socket.writableLength > 0
    const mark = isWriting ? this.#socket.bytesWritten - this.#socket.writableLength : this.#socket.bytesRead
    if (this.#isReadTooSlowly(now, isWriting, mark)) {
      this.#context.onSlowReader()
      this.destroy()
    } else if (mark !== this.#mark || (this.#current && !isWriting)) {
      this.#mark = mark
      this.#since = now
    } else if (now - this.#since >= (isWriting ? stall_ms : idle_ms)) this.destroy()
  }

  /** Only while an answer is not whole and its client is what it waits for: nobody answers for an upstream's slowness. */
  #isReadTooSlowly(now: number, isWriting: boolean, taken: number): boolean {
    if (!this.#current || !isWriting) {
      this.#waits = undefined
      return false
    }
    this.#waits ??= { since: now, from: taken }
    const { answer_rate, answer_grace_ms } = this.#context.limits
    return (taken - this.#waits.from) * 1_000 < answer_rate * (now - this.#waits.since - answer_grace_ms)
  }

  /**
   * A socket that is closed with bytes unread resets the connection, and the client may lose the answer that it was sent.
   * So after the answer it is closed in one direction alone, and read from until the client closes too, for a while.
   */
  #linger(): void {
    const { clock, limits } = this.#context
    this.#socket.destroySoon = () => {
      this.#lingers_until = clock.now() + limits.linger_ms
      this.#socket.end()
    }
  }
}
