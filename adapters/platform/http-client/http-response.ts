// A response whose head has arrived: its body is read in whole up to a size, in chunks, or not at all.
import type { Readable } from 'node:stream'
import { GatheredBytes } from '../../../daemon/kernel/encoding/gathered-bytes.ts'
import { HttpClientError, toHttpClientError } from './http-client-error.ts'

export type HttpHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export class HttpResponse {
  readonly status: number
  readonly #headers: HttpHeaders
  readonly #body: Readable

  constructor(status: number, headers: HttpHeaders, body: Readable) {
    this.status = status
    this.#headers = headers
    this.#body = body
    // Without a listener, a connection that fails before the body is read would end the process.
    body.on('error', () => undefined)
  }

  /** The first value of a header, by its lower-case name. */
  header(name: string): string | undefined {
    const value = this.#headers[name]
    return typeof value === 'string' ? value : value?.[0]
  }

  /** The body as it arrives. Throws HttpClientError; ends the connection when the reader stops early. */
  async *chunks(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of this.#body) yield chunk as Buffer
    } catch (error) {
      throw toHttpClientError(error, 'broken_off')
    }
  }

  /** The whole body. Throws HttpClientError, and ends the connection when the body is larger than this. */
  async readBytes(max_bytes: number): Promise<Buffer> {
    const gathered = new GatheredBytes()
    for await (const chunk of this.chunks()) {
      if (gathered.length + chunk.length > max_bytes)
        throw new HttpClientError('too_large', `the response is larger than ${max_bytes} bytes`)
      gathered.append(chunk)
    }
    return gathered.take()
  }

  /** Reads the rest and drops it, so that the connection can serve another request. */
  drain(): void {
    this.#body.resume()
  }

  /** Ends the connection, whatever of the body is still to come. */
  destroy(): void {
    this.#body.destroy()
  }
}
