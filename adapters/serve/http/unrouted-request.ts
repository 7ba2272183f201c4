// Answers requests that reach no operation: unknown paths, other methods, unreadable bytes, internal errors.
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { ServedRoute } from '../../../daemon/kernel/operation/operation.ts'
import type { Trace } from '../../../daemon/kernel/telemetry/trace.ts'
import { readBody } from '../../platform/http-server/read-body.ts'
import { ExchangeRequest } from './exchange-request.ts'
import { finishRequest, type ListenerContext, toRefusal } from './handle-request.ts'
import { httpRequests } from './http-metrics.ts'
import { methodLookup, readRoutedPath } from './method-lookup.ts'
import { requestProblem, writeParserProblem } from './raw-problem.ts'
import { startTrace } from './request-trace.ts'
import { responseHeaders, unroutedHeaders } from './response-headers.ts'
import type { ServedRequest } from './served-request.ts'
import { writeProblem, writeResponse } from './write-response.ts'

/** Answers methods that a path does not have, and unknown paths. */
export function unroutedHandler(context: ListenerContext, served: readonly ServedRoute[]) {
  const methodsOf = methodLookup(served)
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const path = readRoutedPath(request.url)
    const allowed = path === undefined ? [] : methodsOf(path)
    const trace = startTrace(context, request)
    if (path === undefined) {
      writeUnrouted(context, trace, reply, refusalByCode.FST_ERR_BAD_URL as Refusal)
      return
    }
    if (allowed.length === 0) {
      writeUnrouted(context, trace, reply, refuse('not_found', 'nothing is served at this path'))
      return
    }
    const refused = refuse('method_not_allowed', `this path is served by ${allowed.join(', ')}`)
    writeUnrouted(context, trace, reply, refused, { allow: allowed.join(', ') })
  }
}

function writeUnrouted(
  context: ListenerContext,
  { trace_id }: Trace,
  reply: FastifyReply,
  refused: Refusal,
  extra = {},
): void {
  context.metrics.count(httpRequests, { operation: 'none', status: String(refused.row.status) })
  writeProblem(reply, { ...unroutedHeaders(context), ...extra }, refused, trace_id)
}

const refusalByCode: Readonly<Record<string, Refusal>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: refuse('unsupported_media_type', 'the content type cannot be read'),
  FST_ERR_BAD_URL: refuse('malformed', 'the path is not well encoded'),
  FST_ERR_MAX_PARAM_LENGTH: refuse('not_found', 'nothing is served at this path'),
  ECONNRESET: refuse('malformed', 'the body ended early'),
}

/** The body of an admitted request, or its refusal. A body that is too slow ends the connection, and this never resolves. */
export async function receiveBody(
  context: ListenerContext,
  { served, raw }: FastifyRequest,
): Promise<Buffer | Refusal> {
  const most_bytes = served?.target.operation.max_body_bytes ?? context.limits.body_bytes
  const length = raw.headers['content-length']
  const declared = raw.headers['transfer-encoding'] === undefined ? Number(length ?? 0) : undefined
  const body = await readBody(raw, declared, most_bytes, context.limits.body_pace)
  if (body === 'too_large') return refuse('too_large', 'the body is larger than this operation takes')
  if (body === 'broken_off') return refuse('malformed', 'the body ended early')
  if (typeof body !== 'string') return body
  if (served) served.isAnswered = true
  if (served && raw instanceof ExchangeRequest) answerSlowBody(context, served)
  else answerParserError(context, Object.assign(new Error(body), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), raw.socket)
  return await new Promise(() => undefined)
}

/** Over an exchange there is no socket to write to: it ends its connection, or its stream, after the answer. */
function answerSlowBody(context: ListenerContext, served: ServedRequest): void {
  const { trace, reply } = served
  const headers = { ...responseHeaders(context, served), 'content-type': 'application/problem+json' }
  writeResponse(reply, 408, headers, JSON.stringify(requestProblem(408, trace.trace_id)))
}

/** Answers an error of Fastify or an adapter with a problem document. */
export function failRequest(
  context: ListenerContext,
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { served } = request
  const address = served?.target.address ?? 'none'
  const trace = served?.trace ?? startTrace(context, request)
  const refused = refusalByCode[(error as FastifyError).code] ?? toRefusal(context, address, trace, error)
  if (served) finishRequest(context, served, refused)
  else writeUnrouted(context, trace, reply, refused)
}

/** Answers bytes that the HTTP parser rejected, before a request exists or while its response is being written. */
export function answerParserError(context: ListenerContext, error: NodeJS.ErrnoException, socket: Socket): void {
  const begun = context.requests.all().some(({ reply }) => reply.raw.socket === socket && reply.raw.headersSent)
  const status = writeParserProblem(error, socket, context.roleContext.environment.random(16), begun)
  if (status !== undefined) context.metrics.count(httpRequests, { operation: 'none', status: String(status) })
}
