// One public request and its response: the request head, the body on demand, and the response in few writes.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type {
  BodyFailure,
  BodyFraming,
  BodyResult,
  BodySink,
  Exchange,
  RequestFault,
  ResponseProducer,
  UpgradeProtocol,
} from '../../../daemon/kernel/forward/exchange.ts'
import type { PresentedCertificate } from '../../../daemon/kernel/identity/identity.ts'
import type { ClientConnection } from './client-connection.ts'
import { ClientTunnel } from './client-tunnel.ts'
import { collectBody } from './collect-body.ts'
import { uncorkAtEndOfTurn } from './end-of-turn.ts'
import { IncomingBody } from './incoming-body.ts'
import { replyInPieces } from './reply-in-pieces.ts'
import { requestsUpgrade } from './request-fault.ts'
import { writePiece } from './write-piece.ts'

/** Up to this many bytes go in one write with the head. */
const single_write_bytes = 16_384

const empty_body = Buffer.alloc(0)

type WholeResponse = { readonly status: number; readonly headers: string[]; readonly bytes: string }

/** No method throws for a client that is gone: nothing is written then, and `answering` has been notified. */
export class HttpExchange implements Exchange {
  readonly method: string
  readonly target: string
  readonly rawHeaders: readonly string[]
  readonly peer: string
  /** Why this request must not be forwarded: it is answered with the fault's status, and counted like any other. */
  readonly fault: RequestFault | undefined
  readonly framing: BodyFraming
  readonly upgrade: UpgradeProtocol | undefined
  answering: ResponseProducer | undefined
  readonly #connection: ClientConnection
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  /** The client waits for `100 Continue` before it sends its body. */
  #isAwaited: boolean
  /** Present once the body is read: most requests have none. */
  #body: IncomingBody | undefined
  /** A failure that was found before the body was requested. */
  #bodyFailure: BodyFailure | undefined
  #tunnel: ClientTunnel | undefined
  #hasWritten = false
  #isDrainAwaited = false
  #isOver = false
  #held: WholeResponse | undefined

  constructor(
    connection: ClientConnection,
    request: IncomingMessage,
    response: ServerResponse,
    framing: BodyFraming | RequestFault,
    isAwaited: boolean,
    upgrade?: UpgradeProtocol,
  ) {
    this.method = request.method ?? ''
    this.target = request.url ?? ''
    this.rawHeaders = request.rawHeaders
    this.peer = connection.peer
    this.fault = typeof framing === 'object' ? framing : undefined
    this.framing = typeof framing === 'object' ? 0 : framing
    this.#connection = connection
    this.#request = request
    this.#response = response
    this.#isAwaited = isAwaited
    this.upgrade = upgrade
  }

  get certificate(): PresentedCertificate | undefined {
    return this.#connection.certificate
  }

  /** The whole response was handed to the socket, or never will be. */
  get isOver(): boolean {
    return this.#isOver
  }

  /**
   * Requests the body; a client that waits for `100 Continue` sends it only now. `done` is called once, at once when the
   * outcome is known already. After any outcome but bytes, the response ends the connection.
   */
  readBody(most_bytes: number, done: (body: BodyResult) => void): void {
    collectBody(this, most_bytes, done)
  }

  streamBody(most_bytes: number, sink: BodySink): void {
    if (this.#tunnel) {
      this.#tunnel.read(sink)
      return
    }
    const failure = this.#knownBodyFailure(most_bytes)
    if (failure !== undefined || this.framing === 0) {
      if (failure === undefined) sink.end()
      else sink.fail(failure)
      return
    }
    if (this.#isAwaited) this.#response.writeContinue()
    this.#isAwaited = false
    this.#body = new IncomingBody(this.#request, this.#connection)
    this.#body.read(most_bytes, sink)
  }

  resumeBody(): void {
    if (this.#tunnel) this.#tunnel.resume()
    else this.#body?.resume()
  }

  #knownBodyFailure(most_bytes: number): BodyFailure | undefined {
    if (this.#isOver) return 'gone'
    if (this.framing === 0) return undefined
    if (this.framing !== 'chunked' && this.framing > most_bytes) return 'too_large'
    return this.#bodyFailure
  }

  /** Sends a whole response, and sets its length. For HEAD the body is that of GET, and is not sent. */
  reply(status: number, headers: readonly string[], body: Buffer = empty_body): void {
    if (this.method !== 'HEAD' && body.length > single_write_bytes) replyInPieces(this, status, headers, body)
    else if (this.#complete(status, headers, body.toString('latin1'))) this.uncork()
  }

  /** Like `reply`, with a body of one character per byte; written at the end of this turn. */
  replyText(status: number, headers: readonly string[], bytes: string): void {
    if (this.#complete(status, headers, bytes)) uncorkAtEndOfTurn(this)
  }

  /**
   * Begins a streamed response; its head is sent with the bytes written in this tick, or alone. `length`: its bytes when
   * known, also for HEAD, which sends none of them.
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

  switchProtocols(headers: readonly string[]): void {
    if (this.#isOver || !this.upgrade) return
    const { socket } = this.#request
    this.#connection.leaveHttp(this.#response)
    this.#tunnel = new ClientTunnel(socket, this, () => this.#finish())
    this.#tunnel.open(this.upgrade, headers)
  }

  /** False when the client reads slowly: `answering.drained` follows. The bytes may be overwritten after the call. */
  write(bytes: Buffer | string): boolean {
    if (this.#isOver || bytes.length === 0) return true
    if (this.#tunnel) return this.#tunnel.write(bytes)
    const isTaken = writePiece(this.#response, bytes, this.#hasWritten)
    this.#hasWritten = true
    if (!isTaken) this.#isDrainAwaited = true
    return isTaken
  }

  /** The client connection reports that it takes more. */
  drained(): void {
    if (!this.#isDrainAwaited || this.#isOver) return
    this.#isDrainAwaited = false
    this.answering?.drained()
  }

  end(bytes: Buffer | string = ''): void {
    if (this.#isOver) return
    if (this.#tunnel) {
      this.#tunnel.end(bytes)
      return
    }
    if (bytes.length === 0) this.#response.end()
    else this.#response.end(bytes, 'latin1')
    this.#finish()
  }

  /** Breaks off a response that cannot be finished, so that the client sees that it is incomplete. */
  cut(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#connection.destroy()
  }

  /** The client connection reports that it is gone. */
  gone(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#body?.fail('gone')
    this.#tunnel?.gone()
    this.answering?.gone()
  }

  /** The client connection reports that the body will not arrive whole. */
  bodyFailed(why: BodyFailure): void {
    this.#bodyFailure ??= why
    this.#body?.fail(why)
  }

  /** False where no response can be sent any longer. */
  #complete(status: number, headers: readonly string[], bytes: string): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#body?.drop()
    this.#held = { status, headers: this.#framed(status, headers, bytes.length), bytes }
    return true
  }

  /** Writes the response that is complete. */
  uncork(): void {
    const { status, headers, bytes } = this.#held as WholeResponse
    this.#beforeHead()
    this.#response.writeHead(status, headers)
    // Text is sent in one write with the head.
    if (bytes === '' || this.method === 'HEAD') this.#response.end()
    else this.#response.end(bytes, 'latin1')
    this.#connection.next()
  }

  #framed(status: number, headers: readonly string[], length: number): string[] {
    if (status === 204 || status === 304) return headers as string[]
    return [...headers, 'Content-Length', String(length)]
  }

  /** Whether the connection goes on must be known before the head is written. */
  #beforeHead(): void {
    // A hop that skips the body of another method than POST, which nobody requested here, takes it for a request.
    const isRead = this.#body?.isWhole === true || (this.method === 'POST' && this.#request.complete)
    const isUnread = this.framing !== 0 && !isRead
    // Node's parser hands the bytes after an upgrade request to an upgrade handler, and there is none.
    const isUpgrade = requestsUpgrade(this.rawHeaders)
    // A client may send its body without `100 Continue`: the next bytes could be that body or a request.
    this.#connection.beforeHead(this.#response, isUnread || isUpgrade || this.#isAwaited || this.fault !== undefined)
  }

  #finish(): void {
    this.#isOver = true
    this.#body?.drop()
    this.#connection.next()
  }
}
