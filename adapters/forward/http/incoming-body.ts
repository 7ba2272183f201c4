// The body of a request of HTTP/1.1, passed to its sink as it arrives.
import type { IncomingMessage } from 'node:http'
import type { BodyFailure, BodySink } from '../../../daemon/kernel/forward/exchange.ts'

/** Starts and stops the measure of the pace of the client. */
type BodyWatch = { watchBody(isWatched: boolean): void }

export class IncomingBody {
  readonly #request: IncomingMessage
  readonly #connection: BodyWatch
  #sink: BodySink | undefined

  constructor(request: IncomingMessage, connection: BodyWatch) {
    this.#request = request
    this.#connection = connection
  }

  /** All of it has arrived. */
  get isWhole(): boolean {
    return this.#request.complete
  }

  read(max_bytes: number, sink: BodySink): void {
    this.#sink = sink
    this.#connection.watchBody(true)
    let size = 0
    this.#request.on('data', (piece: Buffer) => {
      size += piece.length
      if (size > max_bytes) this.fail('too_large')
      else if (this.#sink?.data(piece) === false) this.#pause()
    })
    this.#request.on('end', () => this.#release()?.end())
  }

  resume(): void {
    if (!this.#sink || !this.#request.isPaused()) return
    this.#connection.watchBody(true)
    this.#request.resume()
  }

  fail(why: BodyFailure): void {
    this.#release()?.fail(why)
  }

  /** The response is over: what still arrives of the body is dropped. */
  drop(): void {
    this.#release()
  }

  /** A client is not charged for the time in which nobody reads its body. */
  #pause(): void {
    if (!this.#sink) return
    this.#request.pause()
    this.#connection.watchBody(false)
  }

  /** The sink, which receives nothing more but its last call. */
  #release(): BodySink | undefined {
    const sink = this.#sink
    if (!sink) return undefined
    this.#sink = undefined
    this.#connection.watchBody(false)
    this.#request.removeAllListeners('data')
    this.#request.resume()
    return sink
  }
}
