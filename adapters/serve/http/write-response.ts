// Writes the response to a request: JSON, another representation, the head of a stream, or a problem document.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import type { Refusal } from '../../../daemon/kernel/error/errors.ts'
import { problemOf } from '../../../daemon/kernel/error/problem.ts'
import type { OperationResponse } from '../../../daemon/kernel/operation/role-context.ts'
import { lingerAtEnd } from '../../platform/http-server/linger.ts'
import { hasAnnouncedBody } from './request-body.ts'
import type { ServedRequest } from './served-request.ts'
import { large_answer_bytes, writeInPieces } from './unread-answers.ts'

/** On every response: caches must not store it, and browsers must not guess its type or run it. */
export const commonHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const

export type ResponseHeaders = Record<string, string | number>

/** How long the rest of a refused request is read and dropped, so that its client receives the answer. */
const linger_ms = 2_000

/**
 * Writes a whole response. Bypasses Fastify, which would parse the content type again and add a charset that neither JSON
 * nor problem documents have. Does nothing when the client is gone or a response has begun.
 */
export function writeResponse(
  reply: FastifyReply,
  status: number,
  headers: ResponseHeaders,
  text: string | undefined,
): void {
  const { raw } = reply.hijack()
  if (raw.headersSent || raw.destroyed) return
  const { served } = reply.request
  const length = text === undefined ? 0 : Buffer.byteLength(text)
  const refused = served && length > large_answer_bytes ? served.holdAnswer(length) : undefined
  if (served && refused) {
    delete headers.etag
    writeProblem(reply, headers, refused, served.trace.trace_id)
    return
  }
  if (isBodyUnread(reply)) {
    headers.connection = 'close'
    lingerAtEnd(raw.socket as Socket, linger_ms)
  }
  served?.beginAnswer()
  if (text !== undefined) headers['content-length'] = length
  raw.writeHead(status, headers)
  if (text === undefined || reply.request.method === 'HEAD') raw.end()
  else if (served && length > large_answer_bytes) void writeLargeAnswer(raw, served, text)
  // As many bytes as characters means ASCII, which latin1 writes faster.
  else raw.end(text, length === text.length ? 'latin1' : 'utf8')
}

/** The request was answered by its head alone: what follows on the connection is its body, however long. */
function isBodyUnread({ request: { raw } }: FastifyReply): boolean {
  return !raw.complete && hasAnnouncedBody(raw.headers)
}

/** A client that is gone, or that the listener has cut off, ends the writing. */
async function writeLargeAnswer(to: ServerResponse, served: ServedRequest, text: string): Promise<void> {
  await writeInPieces(to, Buffer.from(text), served.controller.signal, (bytes) => served.recordRead(bytes)).catch(() =>
    to.destroy(),
  )
}

/** Answers whose body is a plain value of the operation's output. */
export function writeJson(
  reply: FastifyReply,
  headers: ResponseHeaders,
  { status, body, version }: OperationResponse,
): void {
  if (version !== undefined) headers.etag = `"${version}"`
  if (status === 204 || body === undefined) {
    writeResponse(reply, 204, headers, undefined)
    return
  }
  headers['content-type'] = 'application/json'
  writeResponse(reply, status, headers, JSON.stringify(body))
}

/**
 * `hadToken`: a token was sent, so the token was at fault (RFC 6750, section 3). `more` is added to the challenge.
 */
export function writeProblem(
  reply: FastifyReply,
  headers: ResponseHeaders,
  refused: Refusal,
  trace_id: string,
  hadToken = false,
  more = '',
): void {
  const { status } = refused.row
  if (status === 401) {
    headers['www-authenticate'] = `Bearer realm="platform"${hadToken ? ', error="invalid_token"' : ''}${more}`
  }
  // RFC 5789 section 2.2.
  if (status === 415 && reply.request.method === 'PATCH') headers['accept-patch'] = 'application/json'
  if (status === 429 || status === 503) headers['retry-after'] = refused.retry_after_s ?? 1
  headers['content-type'] = 'application/problem+json'
  writeResponse(reply, status, headers, JSON.stringify(problemOf(refused, trace_id)))
}
