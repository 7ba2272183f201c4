// The body of a request of HTTP/1.1, passed to its sink as it arrives.
import type { IncomingMessage } from 'node:http'
import type { BodyFailure, BodySink } from '../../../daemon/kernel/forward/exchange.ts'

export class IncomingBody {
  readonly #request: IncomingMessage
  readonly #watch: (isWatched: boolean) => void
  #sink: BodySink | undefined
  #isRequested = false

  /** `watch` starts and stops the measure of the pace of the client. */
  constructor(request: IncomingMessage, watch: (isWatched: boolean) => void) {
    this.#request = request
    this.#watch = watch
  }

  /** The handler has requested the body, and all of it has arrived. */
  get isTaken(): boolean {
    return this.#isRequested && this.#request.complete
  }

  read(max_bytes: number, sink: BodySink): void {
    this.#isRequested = true
    this.#sink = sink
    this.#watch(true)
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
    this.#watch(true)
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
    this.#watch(false)
  }

  /** The sink, which receives nothing more but its last call. */
  #release(): BodySink | undefined {
    const sink = this.#sink
    if (!sink) return undefined
    this.#sink = undefined
    this.#watch(false)
    this.#request.removeAllListeners('data')
    this.#request.resume()
    return sink
  }
}
