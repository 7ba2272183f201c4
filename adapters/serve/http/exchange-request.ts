// A request and a response of Node's shape over an exchange, so that operations are served on a listener of the data plane.
import { Readable, Writable } from 'node:stream'
import type { BodyFailure, Exchange, ResponseProducer } from '../../../daemon/kernel/forward/exchange.ts'
import type { ResponseHeaders } from './write-response.ts'

/** The parts of `IncomingMessage` that the router and the readers of heads and bodies use. */
export class ExchangeRequest extends Readable {
  readonly exchange: Exchange
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The listener serves no other version without a host; requests of HTTP/2 have the head of HTTP/1.1. */
  readonly httpVersion: '1.0' | '1.1'
  readonly httpVersionMajor = 1
  readonly socket: { readonly remoteAddress: string | undefined }
  /** The exchange ends its connection after an answer to a body that was not read: nothing else is to be done for it. */
  readonly complete = true
  #isBegun = false

  constructor(exchange: Exchange) {
    super()
    this.exchange = exchange
    this.method = exchange.method
    this.url = exchange.target
    this.headers = joinFields(exchange)
    this.httpVersion = this.headers.host === undefined ? '1.0' : '1.1'
    this.socket = { remoteAddress: exchange.peer === '' ? undefined : exchange.peer }
  }

  override _read(): void {
    if (this.#isBegun) {
      this.exchange.resumeBody()
      return
    }
    this.#isBegun = true
    this.exchange.streamBody(Number.POSITIVE_INFINITY, {
      data: (bytes) => this.push(bytes),
      end: () => void this.push(null),
      fail: (failure) => this.#fail(failure),
    })
  }

  /** The reader of bodies measures the pace itself, and answers a body that is too slow. */
  #fail(failure: BodyFailure): void {
    if (failure !== 'too_slow') this.destroy()
  }
}

/** The parts of `ServerResponse` that write answers. */
export class ExchangeResponse extends Writable implements ResponseProducer {
  statusCode = 200
  headersSent = false
  readonly #exchange: Exchange
  #onDrained: (() => void) | undefined

  constructor(exchange: Exchange) {
    super()
    this.#exchange = exchange
    exchange.answering = this
  }

  /** Answers are written by `writeHead` alone; the router would announce the end of a connection that is not its own. */
  setHeader(): this {
    return this
  }

  writeHead(status: number, headers: ResponseHeaders): void {
    if (this.headersSent) return
    this.headersSent = true
    this.statusCode = status
    const { 'content-length': length, connection: _, ...others } = headers
    const fields = Object.entries(others).flatMap(([name, value]) => [name, String(value)])
    this.#exchange.begin(status, fields, length === undefined ? undefined : Number(length))
  }

  /** The exchange sends a head by itself that no body follows in time. */
  flushHeaders(): void {}

  gone(): void {
    this.destroy()
  }

  drained(): void {
    const onDrained = this.#onDrained
    this.#onDrained = undefined
    onDrained?.()
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.#exchange.write(bytes)) done()
    else this.#onDrained = done
  }

  override _final(done: () => void): void {
    this.#exchange.end()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.#exchange.isOver) this.#exchange.cut()
    done(error)
  }
}

/** The value of a field, as `ExchangeRequest.headers` has it. `name`: in lower case. */
export function joinField(rawHeaders: readonly string[], name: string): string | undefined {
  let value: string | undefined
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const found = rawHeaders[at] as string
    if (found.length !== name.length || found.toLowerCase() !== name) continue
    value = value === undefined ? rawHeaders[at + 1] : `${value}, ${rawHeaders[at + 1]}`
  }
  return value
}

/** Fields of the connection, which the exchange sees to; it sends `100 Continue` when the body is read. */
const connectionFields: ReadonlySet<string> = new Set(['connection', 'expect', 'keep-alive', 'upgrade'])

/** One value for each name. Repeated ones are joined, so that none of them is taken for the only one. */
function joinFields({ rawHeaders, framing }: Exchange): Record<string, string> {
  const headers: Record<string, string> = Object.create(null)
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase()
    if (connectionFields.has(name)) continue
    const value = rawHeaders[at + 1] as string
    const before = headers[name]
    headers[name] = before === undefined ? value : `${before}${name === 'cookie' ? '; ' : ', '}${value}`
  }
  // A body of HTTP/2 may come without a length.
  if (framing === 'chunked') headers['transfer-encoding'] = 'chunked'
  return headers
}
