// One kept connection to the upstream: one request at a time on it, and nothing believed that comes unasked.
import type { OnReadOpts, Socket } from 'node:net'
import type { UpstreamFailure } from '../../../daemon/kernel/forward/upstream.ts'
import { AddressDeniedError } from './dial.ts'
import type { UpstreamLimits } from './limits.ts'
import type { ResponseHead } from './response-head.ts'
import { ResponseParser } from './response-parser.ts'
import type { TickingClock } from './ticking-clock.ts'
import type { UpstreamTransaction } from './upstream-transaction.ts'

/** Where a connection belongs: it says what became of it. */
export type UpstreamConnectionOwner = {
  readonly limits: UpstreamLimits
  readonly clock: TickingClock
  dial(onread: OnReadOpts): Socket
  /** Its answer is whole and it can serve again. */
  release(connection: UpstreamConnection): void
  /** It is gone; `again` is the request that it carried and that nobody has seen. */
  remove(connection: UpstreamConnection, again: UpstreamTransaction | undefined): void
}

/** All connections of a thread read into the same bytes: each read is used up before the next. */
const read_buffer = Buffer.allocUnsafeSlow(65_536)

export class UpstreamConnection {
  readonly #owner: UpstreamConnectionOwner
  readonly #socket: Socket
  readonly #parser: ResponseParser
  /** What it carries now. */
  #transaction: UpstreamTransaction | undefined
  #isOpen = false
  #isGone = false
  /** It has answered before: the other end may close it at any time. */
  #hasServed = false
  /** Bytes have come since the request went out. */
  #hasBegun = false
  /** Whether, and for how long, it serves again after this answer. */
  #isReusable = true
  #keep_ms = 0
  /** The reader of the answer wants no more for now. */
  #isPaused = false
  /** When it is too late for what is awaited; of an idle one, when it is let go. */
  #deadline: number

  constructor(owner: UpstreamConnectionOwner, transaction: UpstreamTransaction) {
    this.#owner = owner
    this.#transaction = transaction
    transaction.connection = this
    this.#deadline = owner.clock.now() + owner.limits.connect_ms
    this.#parser = new ResponseParser(owner.limits, {
      head: (head) => this.#onHead(head),
      data: (bytes) => this.#onData(bytes),
    })
    this.#socket = owner.dial({ buffer: read_buffer, callback: (size) => this.#onRead(size) })
    this.#socket.on('error', (error) => this.#onError(error))
    this.#socket.on('end', () => this.#onEnd())
    this.#socket.on('close', () => this.#fail('closed', 'the connection closed'))
    this.#socket.on('encrypted' in this.#socket ? 'secureConnect' : 'connect', () => this.#onOpen())
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** Carries one more request; only while idle. */
  carry(transaction: UpstreamTransaction): void {
    this.#transaction = transaction
    transaction.connection = this
    this.#send(transaction)
  }

  /** The connection goes too: what is still to come of this answer cannot be told from the next. */
  abort(transaction: UpstreamTransaction): void {
    if (this.#transaction !== transaction) return
    this.#transaction = undefined
    this.close()
  }

  resume(transaction: UpstreamTransaction): void {
    if (this.#transaction !== transaction || !this.#isPaused) return
    this.#isPaused = false
    this.#deadline = this.#owner.clock.now() + this.#owner.limits.idle_ms
    this.#socket.resume()
  }

  /** It carries nothing, or what it carries is of no account. */
  close(): void {
    this.#fail('closed', 'it is no longer wanted')
  }

  sweep(now: number): void {
    if (now < this.#deadline) return
    if (this.#isOpen) this.#fail('timeout', 'the upstream did not answer within the time')
    else this.#fail('connect', 'no connection came about within the time')
  }

  #onOpen(): void {
    this.#isOpen = true
    if (this.#transaction) this.#send(this.#transaction)
  }

  #send(transaction: UpstreamTransaction): void {
    this.#hasBegun = false
    this.#parser.expect(transaction.method === 'HEAD')
    this.#deadline = this.#owner.clock.now() + this.#owner.limits.first_byte_ms
    this.#socket.write(transaction.text, 'latin1')
  }

  /** False: the socket is not read from until it is resumed. */
  #onRead(size: number): boolean {
    const flight = this.#transaction
    if (!flight) {
      this.#fail('protocol', 'it sent bytes that nobody asked for')
      return false
    }
    this.#hasBegun = true
    const taken = this.#parser.feed(read_buffer.subarray(0, size))
    // The reader may have given up on what it was told.
    if (this.#isGone) return false
    if (this.#parser.failure !== '') this.#fail('protocol', this.#parser.failure)
    else if (this.#parser.isOver) this.#complete(taken < size)
    else this.#extendDeadline(flight)
    return !this.#isPaused && !this.#isGone
  }

  /** The head has to come whole within its time; after it each read gives new time, but for one who waits for the reader. */
  #extendDeadline(transaction: UpstreamTransaction): void {
    if (!transaction.hasHead) return
    transaction.sink.flush()
    this.#deadline = this.#isPaused ? Number.POSITIVE_INFINITY : this.#owner.clock.now() + this.#owner.limits.idle_ms
  }

  #onHead(head: ResponseHead): void {
    const flight = this.#transaction
    if (!flight) return
    flight.hasHead = true
    this.#isReusable = head.isReusable
    const { keep_ms } = this.#owner.limits
    // A second less than the other end says, so that no request meets the end of the connection on its way.
    this.#keep_ms = head.keep_alive_ms === undefined ? keep_ms : Math.min(keep_ms, head.keep_alive_ms - 1_000)
    flight.sink.head(head.status, head.rawHeaders, head.length, head.framing !== 'close')
  }

  #onData(bytes: Buffer): void {
    if (this.#transaction && !this.#transaction.sink.data(bytes)) this.#isPaused = true
  }

  #complete(hasMore: boolean): void {
    const flight = this.#transaction
    this.#transaction = undefined
    this.#isPaused = false
    this.#hasServed = true
    // Who sends more than was asked for is not asked again: what is over would be taken for the next answer. Nor who answers
    // before all of the request has gone out: the rest of it would be taken for the next request.
    if (hasMore || this.#socket.writableLength > 0 || !this.#isReusable || this.#keep_ms <= 0) this.close()
    else {
      this.#deadline = this.#owner.clock.now() + this.#keep_ms
      this.#owner.release(this)
    }
    flight?.sink.end()
  }

  #onEnd(): void {
    if (this.#transaction?.hasHead && this.#parser.finish()) this.#complete(false)
    else this.#fail('closed', 'the upstream closed before its answer was whole')
  }

  #onError(error: Error): void {
    const failure: UpstreamFailure =
      error instanceof AddressDeniedError ? 'address' : this.#isOpen ? 'closed' : 'connect'
    this.#fail(failure, error.message)
  }

  #fail(failure: UpstreamFailure, detail: string): void {
    if (this.#isGone) return
    this.#isGone = true
    const flight = this.#transaction
    this.#transaction = undefined
    this.#socket.destroy()
    const isUnseen = failure === 'closed' && this.#hasServed && !this.#hasBegun
    // Once, and only what changes nothing at the other end (RFC 9110, section 9.2.2).
    const isAgain = flight !== undefined && isUnseen && flight.method !== 'POST' && !flight.isRetry
    this.#owner.remove(this, isAgain ? flight : undefined)
    if (flight && !isAgain) flight.sink.fail(failure, detail)
  }
}
