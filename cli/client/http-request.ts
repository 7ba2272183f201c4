// One HTTP request over a local socket or a URL, with limits; what it cannot reach is a refusal, never a stack.
import * as http from 'node:http'
import * as https from 'node:https'
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

/** Resolves with the answer's head. Throws `Refusal('unavailable')` when nobody answers, `timeout` when too late. */
export function sendRequest(to: ServiceEndpoint, given: ServiceHttpRequest): Promise<http.IncomingMessage> {
  const body = given.body === undefined ? undefined : Buffer.from(given.body)
  const options: http.RequestOptions = {
    method: given.method,
    headers: { ...given.headers, ...(body ? { 'content-length': body.length } : {}) },
    agent: false,
  }
  return new Promise((resolve, reject) => {
    const request = openRequest(to, given.path, options)
    request.on('response', resolve)
    request.on('error', (error: NodeJS.ErrnoException) => reject(toUnavailable(to, error)))
    if (given.timeout_ms !== undefined) {
      request.setTimeout(given.timeout_ms, () => {
        request.destroy()
        reject(new Refusal('timeout', `${describeEndpoint(to)} did not answer within ${given.timeout_ms} ms`))
      })
    }
    request.end(body)
  })
}

function openRequest(to: ServiceEndpoint, path: string, options: http.RequestOptions): http.ClientRequest {
  if ('socket' in to) return http.request({ ...options, socketPath: to.socket, path })
  const target = new URL(to.url.pathname.replace(/\/$/, '') + path, to.url)
  return target.protocol === 'https:' ? https.request(target, options) : http.request(target, options)
}

/** The whole body as text. */
export async function readBody(answer: http.IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const bytes of readChunks(answer)) {
    length += bytes.length
    if (length > max_response_bytes) throw new Refusal('unavailable', 'the service answered more than 64 MiB')
    parts.push(bytes)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** The body as it comes. Throws `Refusal('unavailable')` when the service goes away in the middle of it. */
export async function* readChunks(answer: http.IncomingMessage): AsyncGenerator<Buffer> {
  try {
    for await (const part of answer) yield part as Buffer
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === 'ECONNRESET' ? new Refusal('unavailable', 'the service ended the connection') : error
  }
}

function toUnavailable(to: ServiceEndpoint, error: NodeJS.ErrnoException): Refusal {
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'it is not running (no socket)',
    ECONNREFUSED: 'it is not running (connection refused)',
    EACCES: 'this user may not use its socket',
    ENOTFOUND: 'its host name is not known',
  }
  return new Refusal(
    'unavailable',
    `${describeEndpoint(to)} cannot be reached: ${reasons[error.code ?? ''] ?? error.message}`,
  )
}

function describeEndpoint(to: ServiceEndpoint): string {
  return 'socket' in to ? to.socket : to.url.origin
}
