// A request body that is sent to the upstream as it arrives, or the bytes of a protocol that was switched to.
import type { Socket } from 'node:net'
import type { StreamedBody } from '../../../daemon/kernel/forward/upstream.ts'

export class UpstreamBody {
  readonly #socket: Socket
  readonly #streamed: StreamedBody
  /** Bytes that remain of an announced length; `raw`: without framing, up to the end of this side. */
  #framing: number | 'chunked' | 'raw'
  #isEnded = false
  #isBlocked = false
  /** The upstream takes no more, and may have answered before it closed. */
  #isBroken = false

  constructor(socket: Socket, streamed: StreamedBody, isRaw: boolean) {
    this.#socket = socket
    this.#streamed = streamed
    this.#framing = isRaw ? 'raw' : (streamed.length ?? 'chunked')
  }

  get isRaw(): boolean {
    return this.#framing === 'raw'
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** More bytes are awaited, from the client rather than by the upstream. */
  get awaitsClient(): boolean {
    return !this.#isEnded && !this.#isBlocked && !this.#isBroken
  }

  /** @throws Error for more bytes than were announced: the rest would be a request of its own. */
  write(bytes: Buffer): boolean {
    if (this.#isBroken || this.#isEnded) return false
    if (bytes.length === 0) return true
    this.#isBlocked = !this.#send(bytes)
    return !this.#isBlocked
  }

  /** The upstream takes no more. True the first time. */
  breakOff(): boolean {
    if (this.#isBroken) return false
    this.#isBroken = true
    return true
  }

  drained(): void {
    if (!this.#isBlocked || this.#isEnded) return
    this.#isBlocked = false
    this.#streamed.drained()
  }

  /** False where bytes of the announced length are missing. */
  end(): boolean {
    if (this.#isBroken || this.#isEnded) return true
    if (typeof this.#framing === 'number' && this.#framing > 0) return false
    this.#isEnded = true
    if (this.#framing === 'raw') this.#socket.end()
    else if (this.#framing === 'chunked') this.#socket.write('0\r\n\r\n', 'latin1')
    return true
  }

  #send(bytes: Buffer): boolean {
    if (this.#framing === 'raw') return this.#socket.write(bytes)
    if (this.#framing !== 'chunked') {
      if (bytes.length > this.#framing) throw new Error('the body is longer than its announced length')
      this.#framing -= bytes.length
      return this.#socket.write(bytes)
    }
    this.#socket.cork()
    this.#socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1')
    this.#socket.write(bytes)
    const isTaken = this.#socket.write('\r\n', 'latin1')
    this.#socket.uncork()
    return isTaken
  }
}

/**
 * An upstream may answer and close while the body is still being sent. The next write fails then, and Node would close the
 * socket with the response unread. Reading continues instead, up to its own end or error, where `breakOff` accepts it.
 */
export function readBeyondFailedWrites(socket: Socket, breakOff: () => boolean): void {
  const destroy = socket.destroy
  socket.destroy = (error?: NodeJS.ErrnoException) =>
    error?.syscall === 'write' && breakOff() ? socket : destroy.call(socket, error)
}
