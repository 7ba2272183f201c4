// Answers requests that the HTTP parser could not read: there is no request object, only a socket.
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import { type Problem, problemOf } from '../../../daemon/kernel/error/problem.ts'
import { commonHeaders } from './write-response.ts'

const detailByStatus: Readonly<Record<number, string>> = {
  400: 'the bytes are not an HTTP/1.1 request',
  408: 'the request did not arrive in time',
  413: 'the chunk extensions are too large',
  431: 'the header fields are too large',
}

const statusByCode: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
}

/** The problem of a request that is none. Most of these statuses have no code of their own: they are `malformed`. */
export function requestProblem(status: number, trace_id: string, detail = detailByStatus[status] ?? ''): Problem {
  return { ...problemOf(refuse(status === 413 ? 'too_large' : 'malformed', detail), trace_id), status }
}

/** Writes the refusal and closes. `hasBegun`: a response on this socket has begun, and more bytes would corrupt it. */
export function writeParserProblem(
  error: NodeJS.ErrnoException,
  socket: Socket,
  trace_id: string,
  hasBegun: boolean,
): number | undefined {
  if (error.code === 'ECONNRESET' || !socket.writable || hasBegun) {
    socket.destroy()
    return undefined
  }
  const status = statusByCode[error.code ?? ''] ?? 400
  const body = JSON.stringify(requestProblem(status, trace_id))
  const headers = { ...commonHeaders, 'content-type': 'application/problem+json' }
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroySoon())
  return status
}
