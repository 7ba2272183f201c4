// One kept connection to the upstream: carries one request at a time, and rejects bytes that answer none.
import type { OnReadOpts, Socket } from 'node:net'
import type { UpstreamFailure } from '../../../daemon/kernel/forward/upstream.ts'
import { AddressDeniedError } from '../../platform/address-rule/checked-lookup.ts'
import type { CoarseClock } from './coarse-clock.ts'
import { uncorkAtEndOfTurn } from './end-of-turn.ts'
import type { UpstreamLimits } from './limits.ts'
import type { ResponseHead } from './response-head.ts'
import { ResponseParser } from './response-parser.ts'
import { readBeyondFailedWrites, UpstreamBody } from './upstream-body.ts'
import type { UpstreamTransaction } from './upstream-transaction.ts'

/** The pool of a connection, which it notifies of its state. */
export type UpstreamConnectionOwner = {
  readonly limits: UpstreamLimits
  readonly clock: CoarseClock
  dial(onread: OnReadOpts): Socket
  /** Its response is complete, and it can carry another request. */
  release(connection: UpstreamConnection): void
  /** It is gone; `again` is the request that it carried, of which the upstream has answered no byte. */
  remove(connection: UpstreamConnection, again: UpstreamTransaction | undefined): void
}

/** All connections of a thread read into the same buffer: each read is processed before the next. */
const read_buffer = Buffer.allocUnsafeSlow(65_536)

export class UpstreamConnection {
  readonly #owner: UpstreamConnectionOwner
  readonly #socket: Socket
  readonly #parser: ResponseParser
  /** The request that it carries. */
  #transaction: UpstreamTransaction | undefined
  /** The streamed body of its request; after a switch of protocols the bytes for the upstream. */
  #body: UpstreamBody | undefined
  #isOpen = false
  #isGone = false
  /** It has carried a request before: the upstream may close it at any time. */
  #hasServed = false
  /** Bytes have arrived since the request was sent. */
  #hasBegun = false
  /** Whether, and for how long, it is kept after this response. */
  #isReusable = true
  #keep_ms = 0
  /** The reader of the response has paused it. */
  #isPaused = false
  /** Deadline of what it waits for; of an idle connection, when it is closed. */
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
    readBeyondFailedWrites(this.#socket, () => this.#body?.breakOff() === true)
    this.#socket.on('error', (error) => this.#onError(error))
    this.#socket.on('end', () => this.#onEnd())
    this.#socket.on('drain', () => this.#onDrain())
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

  /** Ends the connection too: the rest of this response could not be distinguished from the next. */
  abort(transaction: UpstreamTransaction): void {
    if (this.#transaction !== transaction) return
    this.#transaction = undefined
    this.close()
  }

  resume(transaction: UpstreamTransaction): void {
    if (this.#transaction !== transaction || !this.#isPaused) return
    this.#isPaused = false
    this.#restartDeadline(transaction)
    this.#socket.resume()
  }

  write(transaction: UpstreamTransaction, bytes: Buffer): boolean {
    if (this.#transaction !== transaction || !this.#body) return true
    const isTaken = this.#body.write(bytes)
    this.#restartDeadline(transaction)
    return isTaken
  }

  /** Ends the streamed body, or this side of the protocol that was switched to. */
  end(transaction: UpstreamTransaction): void {
    if (this.#transaction !== transaction || !this.#body) return
    if (!this.#body.end()) this.#fail('closed', 'the body ended before its announced length')
    else if (this.#socket.readableEnded) this.#endTunnel()
    else this.#restartDeadline(transaction)
  }

  /** Ends the connection; a request that it carries is given up. */
  close(): void {
    this.#fail('closed', 'the connection was closed here')
  }

  sweep(now: number): void {
    if (this.#transaction && now >= this.#transaction.end_deadline)
      this.#fail('timeout', 'the response was not complete in time')
    if (now < this.#deadline) return
    if (this.#isOpen) this.#fail('timeout', 'the upstream did not answer in time')
    else this.#fail('connect', 'the upstream did not accept a connection in time')
  }

  #onOpen(): void {
    this.#isOpen = true
    if (this.#transaction) this.#send(this.#transaction)
  }

  #send(transaction: UpstreamTransaction): void {
    this.#hasBegun = false
    this.#parser.expect(transaction.method === 'HEAD', transaction.upgrade !== undefined)
    this.#socket.cork()
    uncorkAtEndOfTurn(this.#socket)
    this.#socket.write(transaction.text, 'latin1')
    if (transaction.streamed && !transaction.upgrade) this.#beginBody(transaction)
    this.#restartDeadline(transaction)
  }

  #beginBody(transaction: UpstreamTransaction): void {
    const { streamed } = transaction
    if (!streamed) return
    this.#body = new UpstreamBody(this.#socket, streamed, transaction.upgrade !== undefined)
    // Not within `forward`, whose caller does not have the active request yet.
    queueMicrotask(() => {
      if (this.#transaction === transaction) streamed.ready()
    })
  }

  #onDrain(): void {
    if (!this.#transaction || !this.#body) return
    this.#restartDeadline(this.#transaction)
    this.#body.drained()
  }

  /** False: the socket is not read from until it is resumed. */
  #onRead(size: number): boolean {
    const transaction = this.#transaction
    if (!transaction) {
      this.#fail('protocol', 'the upstream sent bytes that answer no request')
      return false
    }
    this.#hasBegun = true
    const taken = this.#parser.feed(read_buffer.subarray(0, size))
    // The reader may have given up after the last event.
    if (this.#isGone) return false
    if (this.#parser.failure !== '') this.#fail('protocol', this.#parser.failure)
    else if (this.#parser.isOver) this.#complete(taken < size)
    else this.#extendDeadline(transaction)
    return !this.#isPaused && !this.#isGone
  }

  /** The whole head must arrive within its limit; after it each read restarts the idle limit. */
  #extendDeadline(transaction: UpstreamTransaction): void {
    if (!transaction.hasHead) return
    transaction.sink.flush()
    this.#restartDeadline(transaction)
  }

  /** None while this side waits for the client: for its reading, or for its body, which has limits of its own. */
  #restartDeadline({ limits, hasHead }: UpstreamTransaction): void {
    const own = this.#owner.limits
    const idle_ms = limits?.idle_ms ?? (hasHead ? own.idle_ms : own.first_byte_ms)
    const isForClient = this.#isPaused || (!hasHead && this.#body?.awaitsClient === true)
    this.#deadline = isForClient ? Number.POSITIVE_INFINITY : this.#owner.clock.now() + idle_ms
  }

  #onHead(head: ResponseHead): void {
    const transaction = this.#transaction
    if (!transaction) return
    transaction.hasHead = true
    this.#isReusable = head.isReusable
    const { keep_ms } = this.#owner.limits
    // A second less than the upstream announces, so that no request is sent into a connection that is being closed.
    this.#keep_ms = head.keep_alive_ms === undefined ? keep_ms : Math.min(keep_ms, head.keep_alive_ms - 1_000)
    transaction.sink.head(head.status, head.rawHeaders, head.length, head.framing !== 'close')
    if (head.status === 101) this.#beginBody(transaction)
  }

  #onData(bytes: Buffer): void {
    if (this.#transaction && !this.#transaction.sink.data(bytes)) this.#isPaused = true
  }

  #complete(hasMore: boolean): void {
    const transaction = this.#transaction
    const isBodySent = this.#body?.isEnded ?? true
    this.#transaction = undefined
    this.#body = undefined
    this.#isPaused = false
    this.#hasServed = true
    // Not kept after surplus bytes, which would be taken for the next response, nor after a response that came before the
    // whole request was sent, whose rest would be taken for the next request.
    const isSent = isBodySent && this.#socket.writableLength === 0
    if (hasMore || !isSent || !this.#isReusable || this.#keep_ms <= 0) this.close()
    else {
      this.#deadline = this.#owner.clock.now() + this.#keep_ms
      this.#owner.release(this)
    }
    transaction?.sink.end()
  }

  #onEnd(): void {
    if (this.#transaction && this.#body?.isRaw) {
      this.#transaction.sink.end()
      if (this.#body?.isEnded) this.#endTunnel()
    } else if (this.#transaction?.hasHead && this.#parser.finish()) this.#complete(false)
    else this.#fail('closed', 'the upstream closed the connection before its response was complete')
  }

  /** Both directions have ended: the socket closes by itself when it has sent all. */
  #endTunnel(): void {
    this.#transaction = undefined
    this.#deadline = this.#owner.clock.now() + this.#owner.limits.idle_ms
  }

  #onError(error: Error): void {
    const failure: UpstreamFailure =
      error instanceof AddressDeniedError ? 'address' : this.#isOpen ? 'closed' : 'connect'
    this.#fail(failure, error.message)
  }

  #fail(failure: UpstreamFailure, detail: string): void {
    if (this.#isGone) return
    this.#isGone = true
    const transaction = this.#transaction
    this.#transaction = undefined
    this.#socket.destroy()
    const isUnseen = failure === 'closed' && this.#hasServed && !this.#hasBegun
    // Retried once, and only when the method changes nothing at the upstream (RFC 9110, section 9.2.2).
    const isAgain = isUnseen && transaction?.isRepeatable === true
    this.#owner.remove(this, isAgain ? transaction : undefined)
    if (transaction && !isAgain) transaction.sink.fail(failure, detail)
  }
}
