// One kept connection to the upstream: one request at a time on it, and nothing believed that comes unasked.
import type { OnReadOpts, Socket } from 'node:net'
import type { UpstreamFailure } from '../../../daemon/kernel/forward/upstream.ts'
import type { Clock } from './clock.ts'
import { AddressDenied } from './dial.ts'
import type { UpstreamLimits } from './limits.ts'
import type { ResponseHead } from './response-head.ts'
import { ResponseParser } from './response-parser.ts'
import type { UpstreamFlight } from './upstream-flight.ts'

/** Where a connection belongs: it says what became of it. */
export type Home = {
  readonly limits: UpstreamLimits
  readonly clock: Clock
  dial(onread: OnReadOpts): Socket
  /** Its answer is whole and it can serve again. */
  free(connection: UpstreamConnection): void
  /** It is gone; `again` is the request that it carried and that nobody has seen. */
  gone(connection: UpstreamConnection, again: UpstreamFlight | undefined): void
}

/** All connections of a thread read into the same bytes: each read is used up before the next. */
const shared = Buffer.allocUnsafeSlow(65_536)

export class UpstreamConnection {
  readonly #home: Home
  readonly #socket: Socket
  readonly #parser: ResponseParser
  /** What it carries now. */
  #flight: UpstreamFlight | undefined
  #isOpen = false
  #isGone = false
  /** It has answered before: the other end may close it at any time. */
  #hasServed = false
  /** Bytes have come since the request went out. */
  #hasBegun = false
  /** Whether, and for how long, it serves again after this answer. */
  #isKept = true
  #keep_ms = 0
  /** The reader of the answer wants no more for now. */
  #isHeld = false
  /** When it is too late for what is awaited; of an idle one, when it is let go. */
  #deadline: number

  constructor(home: Home, flight: UpstreamFlight) {
    this.#home = home
    this.#flight = flight
    flight.connection = this
    this.#deadline = home.clock.now() + home.limits.connect_ms
    this.#parser = new ResponseParser(home.limits, {
      head: (head) => this.#onHead(head),
      data: (bytes) => this.#onData(bytes),
    })
    this.#socket = home.dial({ buffer: shared, callback: (size) => this.#onRead(size) })
    this.#socket.on('error', (error) => this.#onError(error))
    this.#socket.on('end', () => this.#onEnd())
    this.#socket.on('close', () => this.#lose('closed', 'the connection closed'))
    this.#socket.on('encrypted' in this.#socket ? 'secureConnect' : 'connect', () => this.#onOpen())
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** Carries one more request; only while idle. */
  carry(flight: UpstreamFlight): void {
    this.#flight = flight
    flight.connection = this
    this.#send(flight)
  }

  /** The connection goes too: what is still to come of this answer cannot be told from the next. */
  abort(flight: UpstreamFlight): void {
    if (this.#flight !== flight) return
    this.#flight = undefined
    this.close()
  }

  resume(flight: UpstreamFlight): void {
    if (this.#flight !== flight || !this.#isHeld) return
    this.#isHeld = false
    this.#deadline = this.#home.clock.now() + this.#home.limits.idle_ms
    this.#socket.resume()
  }

  /** It carries nothing, or what it carries is of no account. */
  close(): void {
    this.#lose('closed', 'it is no longer wanted')
  }

  sweep(now: number): void {
    if (now < this.#deadline) return
    if (this.#isOpen) this.#lose('timeout', 'the upstream did not answer within the time')
    else this.#lose('connect', 'no connection came about within the time')
  }

  #onOpen(): void {
    this.#isOpen = true
    if (this.#flight) this.#send(this.#flight)
  }

  #send(flight: UpstreamFlight): void {
    this.#hasBegun = false
    this.#parser.expect(flight.method === 'HEAD')
    this.#deadline = this.#home.clock.now() + this.#home.limits.first_byte_ms
    this.#socket.write(flight.text, 'latin1')
  }

  /** False: the socket is not read from until it is resumed. */
  #onRead(size: number): boolean {
    const flight = this.#flight
    if (!flight) {
      this.#lose('protocol', 'it sent bytes that nobody asked for')
      return false
    }
    this.#hasBegun = true
    const taken = this.#parser.feed(shared.subarray(0, size))
    // The reader may have given up on what it was told.
    if (this.#isGone) return false
    if (this.#parser.failure !== '') this.#lose('protocol', this.#parser.failure)
    else if (this.#parser.isOver) this.#complete(taken < size)
    else this.#await(flight)
    return !this.#isHeld && !this.#isGone
  }

  /** The head has to come whole within its time; after it each read gives new time, but for one who waits for the reader. */
  #await(flight: UpstreamFlight): void {
    if (!flight.hasHead) return
    flight.sink.flush()
    this.#deadline = this.#isHeld ? Number.POSITIVE_INFINITY : this.#home.clock.now() + this.#home.limits.idle_ms
  }

  #onHead(head: ResponseHead): void {
    const flight = this.#flight
    if (!flight) return
    flight.hasHead = true
    this.#isKept = head.isKept
    const { keep_ms } = this.#home.limits
    // A second less than the other end says, so that no request meets the end of the connection on its way.
    this.#keep_ms = head.kept_ms === undefined ? keep_ms : Math.min(keep_ms, head.kept_ms - 1_000)
    flight.sink.head(head.status, head.rawHeaders, head.length, head.framing !== 'close')
  }

  #onData(bytes: Buffer): void {
    if (this.#flight && !this.#flight.sink.data(bytes)) this.#isHeld = true
  }

  #complete(hasMore: boolean): void {
    const flight = this.#flight
    this.#flight = undefined
    this.#isHeld = false
    this.#hasServed = true
    // Who sends more than was asked for is not asked again: what is over would be taken for the next answer. Nor who answers
    // before all of the request has gone out: the rest of it would be taken for the next request.
    if (hasMore || this.#socket.writableLength > 0 || !this.#isKept || this.#keep_ms <= 0) this.close()
    else {
      this.#deadline = this.#home.clock.now() + this.#keep_ms
      this.#home.free(this)
    }
    flight?.sink.end()
  }

  #onEnd(): void {
    if (this.#flight?.hasHead && this.#parser.finish()) this.#complete(false)
    else this.#lose('closed', 'the upstream closed before its answer was whole')
  }

  #onError(error: Error): void {
    const failure: UpstreamFailure = error instanceof AddressDenied ? 'address' : this.#isOpen ? 'closed' : 'connect'
    this.#lose(failure, error.message)
  }

  #lose(failure: UpstreamFailure, detail: string): void {
    if (this.#isGone) return
    this.#isGone = true
    const flight = this.#flight
    this.#flight = undefined
    this.#socket.destroy()
    const isUnseen = failure === 'closed' && this.#hasServed && !this.#hasBegun
    // Once, and only what changes nothing at the other end (RFC 9110, section 9.2.2).
    const isAgain = flight !== undefined && isUnseen && flight.method !== 'POST' && !flight.isSecond
    this.#home.gone(this, isAgain ? flight : undefined)
    if (flight && !isAgain) flight.sink.fail(failure, detail)
  }
}
