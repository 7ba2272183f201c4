// One HTTP request over a local socket or a URL, with limits. An unreachable service is a refusal, not an exception.
import * as http from 'node:http'
import * as https from 'node:https'
import { Refusal } from '../../daemon/kernel/error/errors.ts'

/** Endpoint of a role: its socket in the site's folder, or the root URL of its listener. */
export type ServiceEndpoint = { readonly socket: string } | { readonly url: URL }

export type ServiceHttpRequest = {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Undefined for streams. */
  readonly timeout_ms: number | undefined
}

const max_response_bytes = 64 * 1024 * 1024

/** Resolves with the head of the response. Throws `Refusal`: `unavailable` if the service is unreachable, or `timeout`. */
export function sendRequest(endpoint: ServiceEndpoint, request: ServiceHttpRequest): Promise<http.IncomingMessage> {
  const body = request.body === undefined ? undefined : Buffer.from(request.body)
  const options: http.RequestOptions = {
    method: request.method,
    headers: { ...request.headers, ...(body ? { 'content-length': body.length } : {}) },
    agent: false,
  }
  return new Promise((resolve, reject) => {
    const outgoing = openRequest(endpoint, request.path, options)
    outgoing.on('response', resolve)
    outgoing.on('error', (error: NodeJS.ErrnoException) => reject(toUnavailable(endpoint, error)))
    if (request.timeout_ms !== undefined) {
      outgoing.setTimeout(request.timeout_ms, () => {
        outgoing.destroy()
        reject(new Refusal('timeout', `${describeEndpoint(endpoint)} did not answer within ${request.timeout_ms} ms`))
      })
    }
    outgoing.end(body)
  })
}

function openRequest(endpoint: ServiceEndpoint, path: string, options: http.RequestOptions): http.ClientRequest {
  if ('socket' in endpoint) return http.request({ ...options, socketPath: endpoint.socket, path })
  const target = new URL(endpoint.url.pathname.replace(/\/$/, '') + path, endpoint.url)
  return target.protocol === 'https:' ? https.request(target, options) : http.request(target, options)
}

/** The whole body as text. */
export async function readBody(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const bytes of readChunks(response)) {
    length += bytes.length
    if (length > max_response_bytes) throw new Refusal('unavailable', 'the response of the service exceeds 64 MiB')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The body in chunks. Throws `Refusal('unavailable')` if the service closes the connection before the end. */
export async function* readChunks(response: http.IncomingMessage): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of response) yield chunk as Buffer
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === 'ECONNRESET'
      ? new Refusal('unavailable', 'the service closed the connection before the end of its response; retry')
      : error
  }
}

function toUnavailable(endpoint: ServiceEndpoint, error: NodeJS.ErrnoException): Refusal {
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'it is not running (no socket)',
    ECONNREFUSED: 'it is not running (connection refused)',
    EACCES: 'this user may not use its socket',
    ENOTFOUND: 'its host name does not resolve',
  }
  return new Refusal(
    'unavailable',
    `${describeEndpoint(endpoint)} cannot be reached: ${reasons[error.code ?? ''] ?? error.message}`,
  )
}

function describeEndpoint(endpoint: ServiceEndpoint): string {
  return 'socket' in endpoint ? endpoint.socket : endpoint.url.origin
}
