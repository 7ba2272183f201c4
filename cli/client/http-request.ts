// One HTTP request over a local socket or a URL, with limits; what it cannot reach is a refusal, never a stack.
import { HttpClient } from '../../adapters/platform/http-client/http-client.ts'
import type { HttpClientError } from '../../adapters/platform/http-client/http-client-error.ts'
import type { HttpResponse } from '../../adapters/platform/http-client/http-response.ts'
import { Refusal } from '../../daemon/kernel/error/errors.ts'

/** Where a role answers: the socket in the site's folder, or the root of a listener. */
export type ServiceEndpoint = { readonly socket: string } | { readonly url: URL }

export type ServiceHttpRequest = {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Undefined for streams, which last as long as they do. */
  readonly timeout_ms: number | undefined
}

const max_response_bytes = 64 * 1024 * 1024

/** Resolves with the head of the response. Throws `Refusal('unavailable')` when nobody answers, `timeout` when too late. */
export async function sendRequest(to: ServiceEndpoint, given: ServiceHttpRequest): Promise<HttpResponse> {
  const { timeout_ms, ...request } = given
  const limits = { idle_ms: timeout_ms }
  const connecting = { connect_timeout_ms: timeout_ms }
  try {
    if ('socket' in to)
      return await new HttpClient({ ...connecting, socket_path: to.socket }).send('http://localhost', {
        ...request,
        limits,
      })
    const { path, ...rest } = request
    const url = new URL(to.url.pathname.replace(/\/$/, '') + path, to.url)
    return await new HttpClient(connecting).send(url, { ...rest, limits })
  } catch (error) {
    throw explainFailure(to, error as HttpClientError, timeout_ms)
  }
}

/** The whole body as text. */
export async function readBody(response: HttpResponse): Promise<string> {
  try {
    return (await response.readBytes(max_response_bytes)).toString('utf8')
  } catch (error) {
    throw explainBrokenBody(error as HttpClientError)
  }
}

/** The body as it comes. Throws `Refusal('unavailable')` when the service goes away in the middle of it. */
export async function* readChunks(response: HttpResponse): AsyncGenerator<Buffer> {
  try {
    yield* response.chunks()
  } catch (error) {
    throw explainBrokenBody(error as HttpClientError)
  }
}

function explainBrokenBody(error: HttpClientError): Error {
  if (error.failure === 'too_large') return new Refusal('unavailable', 'the service answered more than 64 MiB')
  return new Refusal('unavailable', 'the service ended the connection')
}

function explainFailure(
  to: ServiceEndpoint,
  { failure, code, message }: HttpClientError,
  timeout_ms: number | undefined,
): Refusal {
  if (failure === 'idle') {
    return new Refusal('timeout', `${describeEndpoint(to)} did not answer within ${timeout_ms} ms`)
  }
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'it is not running (no socket)',
    ECONNREFUSED: 'it is not running (connection refused)',
    EACCES: 'this user may not use its socket',
    ENOTFOUND: 'its host name is not known',
  }
  return new Refusal('unavailable', `${describeEndpoint(to)} cannot be reached: ${reasons[code ?? ''] ?? message}`)
}

function describeEndpoint(to: ServiceEndpoint): string {
  return 'socket' in to ? to.socket : to.url.origin
}
