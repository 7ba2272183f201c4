// Sends one HTTP request over a local socket or to a URL, with limits. A failure to connect is a refusal, without a stack.
import { anyAddress } from '../../adapters/platform/address-rule/address-rule.ts'
import { HttpClient } from '../../adapters/platform/http-client/http-client.ts'
import type { HttpClientError } from '../../adapters/platform/http-client/http-client-error.ts'
import type { HttpResponse } from '../../adapters/platform/http-client/http-response.ts'
import { Refusal } from '../../daemon/kernel/error/errors.ts'

/** Where a role answers: the socket in the site's folder, or the root of a listener and its authorities in PEM. */
export type ServiceEndpoint = { readonly socket: string } | { readonly url: URL; readonly ca?: string | undefined }

export type ServiceHttpRequest = {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Undefined for streams, which last as long as they do. */
  readonly timeout_ms: number | undefined
  /** Ends the request and its body. */
  readonly signal?: AbortSignal | undefined
}

/** A service answers a long operation late, and takes its connection at once. */
const max_connect_ms = 35_000
const max_response_bytes = 64 * 1024 * 1024

/** Resolves with the head of the response. Throws `Refusal`: `unavailable` without a connection, `timeout` after `timeout_ms`. */
export async function sendRequest(endpoint: ServiceEndpoint, request: ServiceHttpRequest): Promise<HttpResponse> {
  const { timeout_ms, ...sent } = request
  const limits = { idle_ms: timeout_ms }
  const connecting = { connect_timeout_ms: timeout_ms && Math.min(timeout_ms, max_connect_ms) }
  try {
    if ('socket' in endpoint)
      return await new HttpClient({ ...connecting, socket_path: endpoint.socket }).send('http://localhost', {
        ...sent,
        limits,
      })
    const { path, ...rest } = sent
    const url = new URL(endpoint.url.pathname.replace(/\/$/, '') + path, endpoint.url)
    return await new HttpClient({ ...connecting, rule: anyAddress, ca: endpoint.ca }).send(url, { ...rest, limits })
  } catch (error) {
    throw explainFailure(endpoint, error as HttpClientError, timeout_ms)
  }
}

/** Reads the whole body as text. */
export async function readBody(response: HttpResponse): Promise<string> {
  try {
    return (await response.readBytes(max_response_bytes)).toString('utf8')
  } catch (error) {
    throw explainBrokenBody(error as HttpClientError)
  }
}

/** Reads the body in chunks. Throws `Refusal('unavailable')` when the connection ends before the body. */
export async function* readChunks(response: HttpResponse): AsyncGenerator<Buffer> {
  try {
    yield* response.chunks()
  } catch (error) {
    throw explainBrokenBody(error as HttpClientError)
  }
}

function explainBrokenBody(error: HttpClientError): Error {
  if (error.failure === 'too_large') return new Refusal('unavailable', 'the response of the service exceeds 64 MiB')
  return new Refusal('unavailable', 'the service closed the connection before the end of its response; retry')
}

function explainFailure(
  endpoint: ServiceEndpoint,
  { failure, code, message }: HttpClientError,
  timeout_ms: number | undefined,
): Refusal {
  if (failure === 'idle') {
    return new Refusal('timeout', `${describeEndpoint(endpoint)} did not answer within ${timeout_ms} ms`)
  }
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'it is not running (no socket)',
    ECONNREFUSED: 'it is not running (connection refused)',
    EACCES: 'this user may not use its socket',
    ENOTFOUND: 'its host name is not known',
  }
  return new Refusal(
    'unavailable',
    `${describeEndpoint(endpoint)} cannot be reached: ${reasons[code ?? ''] ?? message}`,
  )
}

function describeEndpoint(endpoint: ServiceEndpoint): string {
  return 'socket' in endpoint ? endpoint.socket : endpoint.url.origin
}
