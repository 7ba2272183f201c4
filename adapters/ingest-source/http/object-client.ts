// Requests to a store of objects over HTTP: bounded in time and size, without redirects, and failures in words without addresses.
import { ObjectChangedError, type StoredObject } from '../../../daemon/shared/object-source/object-source.ts'
import { describeConnectionFailure, refused_user } from '../../../daemon/shared/row-source/connection-failure.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { HttpClient } from '../../platform/http-client/http-client.ts'
import { HttpClientError } from '../../platform/http-client/http-client-error.ts'
import type { HttpResponse } from '../../platform/http-client/http-response.ts'

export type ObjectRequest = {
  /** Path and query, sent as they are: a key in them may have `..`. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
  readonly body?: string
}

export type ObjectClientOptions = {
  /** The origin of all requests. */
  readonly origin: string
  /** Authorities in PEM instead of the known ones. */
  readonly ca?: string | undefined
  readonly rule: AddressRule
}

/** What a 404 says, where its error has this code or none. */
export type AbsentAnswer = { readonly code: string; readonly message: string }

const idle_ms = 60_000
/** Most of a listing or another answer that is not an object. */
const max_answer_bytes = 16_777_216
const max_error_bytes = 65_536

export class ObjectClient {
  readonly #http: HttpClient
  readonly #origin: string

  constructor({ origin, ca, rule }: ObjectClientOptions) {
    this.#http = new HttpClient({ rule, ca, max_connections: 2, connect_timeout_ms: 10_000 })
    this.#origin = origin
  }

  /** Throws `RowSourceError`, and the reason of the signal. */
  async send({ method = 'GET', ...request }: ObjectRequest, signal: AbortSignal): Promise<HttpResponse> {
    const limits = { head_ms: idle_ms, idle_ms }
    return await convertFailures(signal, () => this.#http.send(this.#origin, { ...request, method, signal, limits }))
  }

  /** The body of an answer with status 200. Throws as `send` does. */
  async readAnswer(request: ObjectRequest, absent: AbsentAnswer, signal: AbortSignal): Promise<Buffer> {
    const response = await this.send(request, signal)
    if (response.status !== 200) throw await describeRefusal(response, absent)
    return await convertFailures(signal, () => response.readBytes(max_answer_bytes))
  }

  /** The same; undefined for a 404. */
  async findAnswer(request: ObjectRequest, signal: AbortSignal): Promise<Buffer | undefined> {
    const response = await this.send(request, signal)
    if (response.status === 404) return void response.destroy()
    if (response.status !== 200) throw await describeRefusal(response)
    return await convertFailures(signal, () => response.readBytes(max_answer_bytes))
  }

  /** The content of the object from a byte on, as `rangeFrom` states it. `versionOf`: reads the version of a response. Throws as `ObjectSource.readObject` does. */
  async *readObject(
    request: ObjectRequest,
    { key, bytes, version }: StoredObject,
    from: number,
    versionOf: (response: HttpResponse) => string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    // A body that is compressed on the way would have another size and digest than the object.
    const headers = { ...request.headers, 'accept-encoding': 'identity' }
    const response = await this.send({ ...request, headers }, signal)
    try {
      if ([404, 410, 412, 416].includes(response.status)) throw new ObjectChangedError(key)
      if (response.status !== (from > 0 ? 206 : 200)) throw await describeRefusal(response)
      if (versionOf(response) !== version) throw new ObjectChangedError(key)
      if (from > 0 && response.header('content-range') !== `bytes ${from}-${bytes - 1}/${bytes}`)
        throw new ObjectChangedError(key)
      // Google unpacks what it stores compressed, so that its size is another one.
      const stored = response.header('x-goog-stored-content-encoding') ?? response.header('content-encoding')
      const coding = stored?.trim().toLowerCase() || 'identity'
      // Some clients of uploads name their own framing so, which the store has taken off.
      if (coding !== 'identity' && coding !== 'aws-chunked')
        throw new RowSourceError('an object is stored compressed, by its content-encoding: store it as it is')
      yield* response.chunks()
    } catch (error) {
      signal.throwIfAborted()
      throw describeFailure(error)
    } finally {
      response.destroy()
    }
  }

  close(): void {
    this.#http.close()
  }
}

/** A header of requests for the content from a byte on. */
export function rangeFrom(from: number): Readonly<Record<string, string>> {
  return from > 0 ? { range: `bytes=${from}-` } : {}
}

/** Of a key all but slashes and unreserved characters. Dots stay: the path is sent as it is. */
export function encodeKey(key: string): string {
  return key.split('/').map(encodeText).join('/')
}

export function encodeText(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)
}

async function convertFailures<T>(signal: AbortSignal, action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    signal.throwIfAborted()
    throw describeFailure(error)
  }
}

function describeFailure(error: unknown): unknown {
  if (!(error instanceof HttpClientError)) return error
  if (error.failure === 'too_large')
    return new RowSourceError(`an answer of the server has more than ${max_answer_bytes} bytes`)
  if (error.failure === 'broken_off') return new RowSourceError('the answer of the server broke off', false)
  return describeConnectionFailure(error.code)
}

/** Of the body the code alone: the rest is of the server, and may repeat the request. */
async function describeRefusal(response: HttpResponse, absent?: AbsentAnswer): Promise<RowSourceError> {
  const { status } = response
  const body = await response.readBytes(max_error_bytes).catch(() => Buffer.alloc(0))
  const code = findErrorCode(body.toString())
  const shown = code === undefined ? `${status}` : `${status} ${code}`
  const isRefused = status === 401 || status === 403 || (status === 400 && code !== undefined && isOfClient(code))
  if (isRefused) return new RowSourceError(`${refused_user} (${shown})`)
  const isAbsent = status === 404 && (code === undefined || code === absent?.code)
  if (absent && isAbsent) return new RowSourceError(`${absent.message} (${shown})`)
  if (status >= 300 && status < 400)
    return new RowSourceError(
      `the server redirects (${shown}): the connection names another region or address than its own`,
    )
  return new RowSourceError(`the server answered ${shown}`, status < 500 && status !== 429 && status !== 408)
}

/** As token endpoints refuse an assertion, a secret or a client. */
function isOfClient(code: string): boolean {
  return ['invalid_grant', 'invalid_client', 'unauthorized_client'].includes(code)
}

/** As stores name their errors, in XML or JSON. */
function findErrorCode(body: string): string | undefined {
  return /(?:<Code>|"(?:code|error)"\s*:\s*")([A-Za-z][A-Za-z0-9_.]{0,63})[<"]/.exec(body)?.[1]
}
