// Answers requests that reach no operation: unknown paths, other methods, bytes that cannot be read, accidents.
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { ServedRoute } from '../../../daemon/kernel/operation/operation.ts'
import type { Trace } from '../../../daemon/kernel/telemetry/trace.ts'
import { writeProblem } from './answer.ts'
import { type Desk, finish, refusedFrom, strayHeaders, traceOfRequest } from './exchange.ts'
import { httpRequests } from './http-metrics.ts'
import { answerUnreadable } from './raw-problem.ts'
import { servedPaths } from './served-paths.ts'

/** Paths that nobody serves, and methods that a path does not have. */
export function strayHandler(desk: Desk, operations: readonly ServedRoute[]) {
  const methodsOf = servedPaths(operations)
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const allowed = methodsOf(request.url.split('?', 1)[0] ?? '')
    const trace = traceOfRequest(desk, request)
    if (allowed.length === 0) {
      stray(desk, trace, reply, refuse('not_found', 'nothing is served at this path'))
      return
    }
    const refused = refuse('method_not_allowed', `this path is served by ${allowed.join(', ')}`)
    stray(desk, trace, reply, refused, { allow: allowed.join(', ') })
  }
}

function stray(desk: Desk, { trace_id }: Trace, reply: FastifyReply, refused: Refusal, extra = {}): void {
  desk.metrics.count(httpRequests, { operation: 'none', status: String(refused.row.status) })
  writeProblem(reply, { ...strayHeaders(desk), ...extra }, refused, trace_id)
}

const refusalOf: Readonly<Record<string, Refusal>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: refuse('too_large', 'the body is larger than this operation takes'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: refuse('unsupported_media_type', 'the content type cannot be read'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: refuse('malformed', 'the body is not as long as it was said to be'),
  FST_ERR_BAD_URL: refuse('malformed', 'the path is not well encoded'),
  FST_ERR_MAX_PARAM_LENGTH: refuse('not_found', 'nothing is served at this path'),
  ECONNRESET: refuse('malformed', 'the body ended early'),
}

/** Whatever Fastify or an adapter throws, as a problem document. */
export function fail(desk: Desk, error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const { flight } = request
  const address = flight?.target.address ?? 'none'
  const trace = flight?.trace ?? traceOfRequest(desk, request)
  const refused = refusalOf[(error as FastifyError).code] ?? refusedFrom(desk, address, trace, error)
  if (flight) finish(desk, flight, refused)
  else stray(desk, trace, reply, refused)
}

/** Bytes that the HTTP parser gave up on; there is no request yet, or an answer to one is being written. */
export function unreadable(desk: Desk, error: NodeJS.ErrnoException, socket: Socket): void {
  const begun = desk.flights.all().some(({ reply }) => reply.raw.socket === socket && reply.raw.headersSent)
  const status = answerUnreadable(error, socket, desk.workshop.environment.random(16), begun)
  if (status !== undefined) desk.metrics.count(httpRequests, { operation: 'none', status: String(status) })
}
