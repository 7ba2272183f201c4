// One GET with a limit to its time and its size; redirects are not followed.
import * as http from 'node:http'
import * as https from 'node:https'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'

export const max_response_bytes = 4 * 1_048_576

export type HttpSourceResponse = {
  readonly status: number
  readonly etag: string | undefined
  readonly bytes: Uint8Array
}

export type HttpSourceRequest = {
  readonly headers: http.OutgoingHttpHeaders
  readonly ca: string | undefined
  readonly signal: AbortSignal
  readonly timeout_ms: number
}

/** Refuses `unavailable` for everything but a whole answer: none, too late, too large, broken off. Names no address and no secret. */
export function getOnce(
  url: URL,
  { headers, ca, signal, timeout_ms }: HttpSourceRequest,
): Promise<HttpSourceResponse | Refusal> {
  return new Promise((resolve) => {
    const open = url.protocol === 'https:' ? https.request : http.request
    const request = open(url, { method: 'GET', headers, agent: false, ...(ca === undefined ? {} : { ca }) })
    const fail = (why: string) => {
      resolve(refuse('unavailable', `the source cannot be read: ${why}`))
      request.destroy()
    }
    const limit = setTimeout(() => fail(`it did not answer within ${timeout_ms} ms`), timeout_ms)
    const stop = () => fail('the service is stopping')
    signal.addEventListener('abort', stop)
    request.on('response', (answer) => collectBody(answer, resolve, fail))
    request.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? 'the connection broke'))
    request.on('close', () => {
      clearTimeout(limit)
      signal.removeEventListener('abort', stop)
      fail('it closed the connection')
    })
    if (signal.aborted) stop()
    else request.end()
  })
}

function collectBody(
  answer: http.IncomingMessage,
  resolve: (answer: HttpSourceResponse) => void,
  fail: (why: string) => void,
): void {
  const parts: Buffer[] = []
  let length = 0
  answer.on('data', (part: Buffer) => {
    length += part.length
    if (length > max_response_bytes) fail(`its answer is larger than ${max_response_bytes} bytes`)
    else parts.push(part)
  })
  answer.on('error', () => fail('its answer broke off'))
  answer.on('end', () => {
    if (!answer.complete) return fail('its answer broke off')
    resolve({ status: answer.statusCode ?? 0, etag: answer.headers.etag, bytes: Buffer.concat(parts) })
  })
}
