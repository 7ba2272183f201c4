// The client's side of a connection that has switched protocols: bytes in both directions, each with its own end.
import type { Socket } from 'node:net'
import type { BodySink, ResponseProducer, UpgradeProtocol } from '../../../daemon/kernel/forward/exchange.ts'

export class ClientTunnel {
  readonly #socket: Socket
  readonly #exchange: { readonly answering: ResponseProducer | undefined }
  readonly #onOver: () => void
  #sink: BodySink | undefined
  #isReadOver = false
  #isWriteOver = false

  /** `onOver`: both directions have ended. */
  constructor(socket: Socket, exchange: { readonly answering: ResponseProducer | undefined }, onOver: () => void) {
    this.#socket = socket
    this.#exchange = exchange
    this.#onOver = onOver
  }

  open(protocol: UpgradeProtocol, headers: readonly string[]): void {
    let head = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n`
    for (let at = 0; at + 1 < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`
    this.#socket.write(`${head}\r\n`, 'latin1')
    this.#socket.on('drain', () => this.#exchange.answering?.drained())
  }

  read(sink: BodySink): void {
    this.#sink = sink
    this.#socket.on('data', (bytes: Buffer) => {
      if (this.#sink?.data(bytes) === false) this.#socket.pause()
    })
    this.#socket.on('end', () => this.#endRead())
    this.#socket.resume()
  }

  resume(): void {
    if (!this.#isReadOver) this.#socket.resume()
  }

  write(bytes: Buffer | string): boolean {
    return this.#isWriteOver || this.#socket.write(typeof bytes === 'string' ? bytes : Buffer.from(bytes), 'latin1')
  }

  end(bytes: Buffer | string): void {
    if (this.#isWriteOver) return
    this.#isWriteOver = true
    this.#socket.end(bytes, 'latin1')
    this.#closeWhenOver()
  }

  /** The connection is lost. */
  gone(): void {
    const sink = this.#sink
    this.#sink = undefined
    if (!this.#isReadOver) sink?.fail('gone')
    this.#isReadOver = true
    this.#isWriteOver = true
  }

  #endRead(): void {
    this.#isReadOver = true
    this.#sink?.end()
    this.#closeWhenOver()
  }

  #closeWhenOver(): void {
    if (this.#isReadOver && this.#isWriteOver) this.#onOver()
  }
}
