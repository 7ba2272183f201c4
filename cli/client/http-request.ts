// One HTTP request over a local socket or a URL, with limits; what it cannot reach is a refusal, never a stack.
import * as http from 'node:http'
import * as https from 'node:https'
import { Refused } from '../../daemon/kernel/errors.ts'

/** Where a role answers: the socket in the site's folder, or the root of a listener. */
export type Endpoint = { readonly socket: string } | { readonly url: URL }

export type Outbound = {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Undefined for streams, which last as long as they do. */
  readonly timeout_ms: number | undefined
}

const maxAnswerBytes = 64 * 1024 * 1024

/** Resolves with the answer's head. Throws `Refused('unavailable')` when nobody answers, `timeout` when too late. */
export function send(to: Endpoint, given: Outbound): Promise<http.IncomingMessage> {
  const body = given.body === undefined ? undefined : Buffer.from(given.body)
  const options: http.RequestOptions = {
    method: given.method,
    headers: { ...given.headers, ...(body ? { 'content-length': body.length } : {}) },
    agent: false,
  }
  return new Promise((resolve, reject) => {
    const request = open(to, given.path, options)
    request.on('response', resolve)
    request.on('error', (error: NodeJS.ErrnoException) => reject(unreachable(to, error)))
    if (given.timeout_ms !== undefined) {
      request.setTimeout(given.timeout_ms, () => {
        request.destroy()
        reject(new Refused('timeout', `${nameOf(to)} did not answer within ${given.timeout_ms} ms`))
      })
    }
    request.end(body)
  })
}

function open(to: Endpoint, path: string, options: http.RequestOptions): http.ClientRequest {
  if ('socket' in to) return http.request({ ...options, socketPath: to.socket, path })
  const target = new URL(to.url.pathname.replace(/\/$/, '') + path, to.url)
  return target.protocol === 'https:' ? https.request(target, options) : http.request(target, options)
}

/** The whole body as text. */
export async function bodyOf(answer: http.IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const bytes of chunksOf(answer)) {
    length += bytes.length
    if (length > maxAnswerBytes) throw new Refused('unavailable', 'the service answered more than 64 MiB')
    parts.push(bytes)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** The body as it comes. Throws `Refused('unavailable')` when the service goes away in the middle of it. */
export async function* chunksOf(answer: http.IncomingMessage): AsyncGenerator<Buffer> {
  try {
    for await (const part of answer) yield part as Buffer
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === 'ECONNRESET' ? new Refused('unavailable', 'the service ended the connection') : error
  }
}

function unreachable(to: Endpoint, error: NodeJS.ErrnoException): Refused {
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'it is not running (no socket)',
    ECONNREFUSED: 'it is not running (connection refused)',
    EACCES: 'this user may not use its socket',
    ENOTFOUND: 'its host name is not known',
  }
  return new Refused('unavailable', `${nameOf(to)} cannot be reached: ${reasons[error.code ?? ''] ?? error.message}`)
}

function nameOf(to: Endpoint): string {
  return 'socket' in to ? to.socket : to.url.origin
}
