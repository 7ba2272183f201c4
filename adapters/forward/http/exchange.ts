// One request of a stranger and its answer: what was asked, the body when it is wanted, and the answer in few writes.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type {
  BodyFailure,
  BodyFraming,
  BodyResult,
  Exchange,
  RequestFault,
  ResponseProducer,
} from '../../../daemon/kernel/forward/exchange.ts'
import type { ClientConnection } from './client-connection.ts'

/** Up to this many bytes go in one write with the head. */
const single_write_bytes = 16_384
/** Larger ones are written in pieces of this, so that a slow client shows progress. */
const piece_bytes = 65_536

const empty_body = Buffer.alloc(0)

/** No method throws for a client that is gone: then nothing is written, and `answering` was told. */
export class HttpExchange implements Exchange {
  readonly method: string
  /** The target as it stood on the line: nothing is decoded. */
  readonly target: string
  /** Names and values in turn, as they stood. */
  readonly rawHeaders: readonly string[]
  /** Address of the other end of the connection; empty when it is gone already. */
  readonly peer: string
  /** Why nobody may be served by this request: it is to be answered with the fault's status, and counted as any other. */
  readonly fault: RequestFault | undefined
  /** The body that is announced: its bytes, or `chunked`, or 0. */
  readonly framing: BodyFraming
  answering: ResponseProducer | undefined
  readonly #guest: ClientConnection
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  /** The client sends its body when it is told to, and was not told yet. */
  #isAwaited: boolean
  #onBody: ((body: BodyResult) => void) | undefined
  /** Found before anybody asked for the body. */
  #bodyFailure: BodyFailure | undefined
  #hasWritten = false
  #isDrainAwaited = false
  #isOver = false

  constructor(
    guest: ClientConnection,
    request: IncomingMessage,
    response: ServerResponse,
    framing: BodyFraming | RequestFault,
    isAwaited: boolean,
  ) {
    this.method = request.method ?? ''
    this.target = request.url ?? ''
    this.rawHeaders = request.rawHeaders
    this.peer = guest.peer
    this.fault = typeof framing === 'object' ? framing : undefined
    this.framing = typeof framing === 'object' ? 0 : framing
    this.#guest = guest
    this.#request = request
    this.#response = response
    this.#isAwaited = isAwaited
  }

  /** The answer was given whole to the socket, or never will be. */
  get isOver(): boolean {
    return this.#isOver
  }

  /**
   * Asks for the body, which nobody sends who waits for `100 Continue` before this. `done` is called once: at once where it
   * is known by then what becomes of it. After anything but bytes the answer ends the connection.
   */
  readBody(most_bytes: number, done: (body: BodyResult) => void): void {
    const known = this.#knownBody(most_bytes)
    if (known !== undefined) {
      done(known)
      return
    }
    const request = this.#request
    if (this.#isAwaited) this.#response.writeContinue()
    this.#isAwaited = false
    const pieces: Buffer[] = []
    let size = 0
    const taken = (body: BodyResult) => {
      this.#onBody = undefined
      this.#guest.watchBody(false)
      request.removeAllListeners('data')
      done(body)
    }
    this.#onBody = taken
    this.#guest.watchBody(true)
    request.on('data', (piece: Buffer) => {
      size += piece.length
      if (size <= most_bytes) pieces.push(piece)
      else this.#onBody?.('too_large')
    })
    request.on('end', () => this.#onBody?.(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, size)))
  }

  #knownBody(most_bytes: number): BodyResult | undefined {
    if (this.#isOver) return 'gone'
    if (this.framing === 0) return empty_body
    if (this.framing !== 'chunked' && this.framing > most_bytes) return 'too_large'
    return this.#bodyFailure
  }

  /** A whole answer. Its length is set here; for HEAD the body is what GET would bring, and is not sent. */
  reply(status: number, headers: readonly string[], body: Buffer = empty_body): void {
    if (this.method !== 'HEAD' && body.length > single_write_bytes) this.#replyInPieces(status, headers, body)
    else this.#end(status, this.#framed(status, headers, body.length), body.toString('latin1'))
  }

  /** As `reply`, of bytes that are given one character each. */
  replyText(status: number, headers: readonly string[], bytes: string): void {
    this.#end(status, this.#framed(status, headers, bytes.length), bytes)
  }

  /**
   * Begins an answer that streams; the head goes with what is written in this tick, or without it. `length`: its bytes where
   * they are known, also where HEAD brings none of them.
   */
  begin(status: number, headers: readonly string[], length: number | undefined): void {
    if (this.#isOver) return
    this.#beforeHead()
    const framed = length === undefined ? (headers as string[]) : this.#framed(status, headers, length)
    this.#response.writeHead(status, framed)
    queueMicrotask(() => {
      if (!this.#hasWritten && !this.#isOver) this.#response.flushHeaders()
    })
  }

  /** False: the client takes it slowly, and `answering.drained` comes. The bytes are kept: they must be the caller's to give. */
  write(bytes: Buffer | string): boolean {
    if (this.#isOver) return true
    this.#hasWritten = true
    const isTaken = this.#response.write(bytes, 'latin1')
    if (!isTaken && !this.#isDrainAwaited) {
      this.#isDrainAwaited = true
      this.#response.once('drain', () => {
        this.#isDrainAwaited = false
        if (!this.#isOver) this.answering?.drained()
      })
    }
    return isTaken
  }

  end(bytes: Buffer | string = ''): void {
    if (this.#isOver) return
    if (bytes.length === 0) this.#response.end()
    else this.#response.end(bytes, 'latin1')
    this.#finish()
  }

  /** The answer cannot be finished: the client must see that it is not whole. */
  cut(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#guest.destroy()
  }

  /** The connection is gone, as its guest says. */
  gone(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#onBody?.('gone')
    this.answering?.gone()
  }

  /** The body will not come whole, as its guest says. */
  bodyFailed(why: BodyFailure): void {
    this.#bodyFailure ??= why
    this.#onBody?.(why)
  }

  #replyInPieces(status: number, headers: readonly string[], body: Buffer): void {
    this.begin(status, headers, body.length)
    let at = 0
    const more = () => {
      while (at + piece_bytes < body.length) {
        const piece = body.subarray(at, at + piece_bytes)
        at += piece_bytes
        if (!this.write(piece)) return
      }
      this.end(body.subarray(at))
    }
    const { answering } = this
    this.answering = { drained: more, gone: () => answering?.gone() }
    more()
  }

  #end(status: number, headers: string[], bytes: string): void {
    if (this.#isOver) return
    this.#beforeHead()
    this.#response.writeHead(status, headers)
    // As text it goes in one write with the head.
    if (bytes === '' || this.method === 'HEAD') this.#response.end()
    else this.#response.end(bytes, 'latin1')
    this.#finish()
  }

  #framed(status: number, headers: readonly string[], length: number): string[] {
    if (status === 204 || status === 304) return headers as string[]
    return [...headers, 'Content-Length', String(length)]
  }

  /** Whether the connection goes on must be known before the head is written. */
  #beforeHead(): void {
    // But for POST a body has no meaning here (RFC 9110, section 9.3.1): a hop that passes over it takes it for a request.
    const isUnread = this.framing !== 0 && (this.method !== 'POST' || !this.#request.complete)
    // Node's parser leaves what follows a wish for an upgrade to somebody else, whom there is not.
    const isUpgrade = requestsUpgrade(this.rawHeaders)
    // Who was never told to send a body may send one all the same: what comes next could be either.
    this.#guest.beforeHead(this.#response, isUnread || isUpgrade || this.#isAwaited || this.fault !== undefined)
  }

  #finish(): void {
    this.#isOver = true
    this.#guest.next()
  }
}

function requestsUpgrade(rawHeaders: readonly string[]): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length === 7 && name.toLowerCase() === 'upgrade') return true
  }
  return false
}
