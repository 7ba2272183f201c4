// One request through the kernel and back: admitted before its body is read, performed, answered once.
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HeaderFields, Surface } from '../../../daemon/kernel/api/surface.ts'
import { isRefusal, type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import { problemOf } from '../../../daemon/kernel/error/problem.ts'
import { admitCaller } from '../../../daemon/kernel/identity/admit-caller.ts'
import type { Log } from '../../../daemon/kernel/operation/call.ts'
import {
  type AddressedOperation,
  RawResponse,
  type ServedRoute,
  type ServerEvent,
} from '../../../daemon/kernel/operation/operation.ts'
import {
  type OperationResponse,
  performOperation,
  type RoleContext,
} from '../../../daemon/kernel/operation/perform-operation.ts'
import type { Metrics } from '../../../daemon/kernel/telemetry/metrics.ts'
import { type Trace, traceFromHeaders, traceparentOf } from '../../../daemon/kernel/telemetry/trace.ts'
import { acceptsOf } from './accept.ts'
import { commonHeaders, type Headers, write, writeJson, writeProblem } from './answer.ts'
import { certificateOf } from './client-certificate.ts'
import { streamEvents } from './event-stream.ts'
import { Flight, type Flights, outOfTime, spanOf } from './flight.ts'
import { httpRequests, httpSeconds } from './http-metrics.ts'
import type { Limits } from './limits.ts'
import { bodyRefusal, declaredBytes, deliveryOf, parseBody } from './request-body.ts'
import { bearerOf, type Conditions, conditionsOf } from './request-headers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the request is known to be for an operation. */
    flight: Flight | undefined
  }
}

/** What every request of a listener needs. */
export type Desk = {
  readonly workshop: RoleContext
  readonly flights: Flights
  readonly limits: Limits
  readonly log: Log
  readonly metrics: Metrics
}

/** Everything that can be decided on the head alone. True when the body may be read; otherwise it has been answered. */
export async function enter(
  desk: Desk,
  target: ServedRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  surface?: Surface,
) {
  const { headers } = request
  const flight = new Flight(target, reply, traceOfRequest(desk, request), surface)
  request.flight = flight
  reply.raw.once('close', () => leave(desk, flight))
  const refused =
    desk.flights.enter(flight) ??
    headRefusal(request) ??
    surface?.refusal(headFields(headers)) ??
    (await admission(desk, flight, request))
  if (!refused) return true
  finish(desk, flight, refused, bearerOf(headers.authorization) !== undefined)
  return false
}

export function traceOfRequest({ workshop }: Desk, { headers }: { readonly headers: IncomingHttpHeaders }): Trace {
  const trace = traceFromHeaders(headers.traceparent, headers.tracestate, workshop.environment.random)
  return workshop.spans?.start(trace) ?? trace
}

async function admission(desk: Desk, flight: Flight, { headers, raw }: FastifyRequest): Promise<Refusal | undefined> {
  const { operation } = flight.target
  const caller = await admitCaller(desk.workshop, operation, bearerOf(headers.authorization), certificateOf(raw.socket))
  if (isRefusal(caller)) return caller
  const conditions = conditionsOf(operation, headers)
  if (isRefusal(conditions)) return conditions
  flight.caller = caller
  flight.conditions = conditions
  const most_bytes = operation.max_body_bytes ?? desk.limits.body_bytes
  return (
    desk.flights.admitted(flight) ??
    bodyRefusal(operation, headers) ??
    desk.flights.makeRoom(flight, declaredBytes(headers, most_bytes))
  )
}

/** One text a name: what comes more than once, Node has joined, except for cookies. */
export function headFields(headers: IncomingHttpHeaders): HeaderFields {
  return Object.fromEntries(Object.entries(headers).map(([name, value = '']) => [name, String(value)]))
}

/** Node's own answer to a missing Host would not be a problem document; the router takes an empty segment for a name. */
function headRefusal({ raw, params }: FastifyRequest): Refusal | undefined {
  if (raw.httpVersionMajor !== 1 || (raw.headers.host === undefined && raw.httpVersion !== '1.0')) {
    return refuse('malformed', 'a request must be HTTP/1.1 and have a Host header')
  }
  for (const value of Object.values(params as Record<string, string>)) {
    if (value === '') return refuse('not_found', 'nothing is served at this path')
  }
  return undefined
}

/** Performs an admitted request whose body has arrived. Never rejects. */
export async function carryOut(
  desk: Desk,
  target: AddressedOperation,
  flight: Flight,
  request: FastifyRequest,
): Promise<void> {
  const { caller, trace } = flight
  const { signed = false } = target.operation
  const body = signed ? undefined : parseBody(target.operation, request.body)
  if (isRefusal(body) || !caller) {
    finish(desk, flight, isRefusal(body) ? body : refuse('internal', 'the request was never admitted'))
    return
  }
  const result = await performOperation(desk.workshop, target, caller, {
    params: request.params as Record<string, string>,
    query: request.query as Record<string, string | string[]>,
    body,
    accepts: acceptsOf(request.headers.accept),
    ...(flight.conditions as Conditions),
    trace,
    signal: flight.controller.signal,
    // Where a token is what admits, it has done its work and goes no further.
    authorization: target.operation.allow === 'public' ? request.headers.authorization : undefined,
    signed_body: signed ? deliveryOf(request.headers, request.body) : undefined,
  })
  finish(desk, flight, result)
}

/** Answers, unless that has been done: a result that comes after the time limit is dropped. */
export function finish(desk: Desk, flight: Flight, result: OperationResponse | Refusal, hadToken = false): void {
  if (flight.isAnswered) return
  flight.isAnswered = true
  const headers = headersOf(desk, flight)
  if (isRefusal(result)) {
    report(desk, flight, result)
    const more = flight.surface?.challenge(headFields(flight.reply.request.headers))
    writeProblem(flight.reply, headers, result, flight.trace.trace_id, hadToken, more)
    return
  }
  if (!(result.body instanceof RawResponse)) {
    writeJson(flight.reply, headers, result)
    return
  }
  Object.assign(headers, lowerCased(result.body.headers), { 'content-type': result.body.content_type })
  if (typeof result.body.body === 'string') write(flight.reply, result.status, headers, result.body.body)
  else void stream(desk, flight, headers, result.status, result.body.body)
}

async function stream(
  desk: Desk,
  flight: Flight,
  headers: Headers,
  status: number,
  events: AsyncIterable<ServerEvent>,
) {
  const { raw } = flight.reply.hijack()
  if (raw.destroyed) return
  raw.writeHead(status, headers)
  if (flight.reply.request.method === 'HEAD') {
    raw.end()
    return
  }
  raw.flushHeaders()
  await streamEvents(raw, whileAdmitted(desk, flight, events), {
    signal: flight.controller.signal,
    heartbeat_ms: desk.limits.heartbeat_ms,
    problemOf: (error) =>
      problemOf(refusedFrom(desk, flight.target.address, flight.trace, error), flight.trace.trace_id),
  })
}

/** A token or certificate that is revoked while its stream is open ends the stream before the next event is told. */
async function* whileAdmitted(
  { workshop }: Desk,
  { target, reply }: Flight,
  events: AsyncIterable<ServerEvent>,
): AsyncIterable<ServerEvent> {
  const { headers, raw } = reply.request
  const bearer = bearerOf(headers.authorization)
  const certificate = certificateOf(raw.socket)
  for await (const event of events) {
    if (isRefusal(await admitCaller(workshop, target.operation, bearer, certificate))) return
    yield event
  }
}

/**
 * Gives up on a request that took too long: its signal is aborted, and the client is told. A surface says so in its own
 * words, unless it has not by the next sweep.
 */
export function giveUp(desk: Desk, flight: Flight): void {
  const refused = outOfTime()
  const wasTold = flight.controller.signal.aborted
  flight.controller.abort(refused)
  if (!flight.surface || wasTold) finish(desk, flight, refused)
}

/** A thrown error as a refusal; what is not one already goes to the log and stays there. */
export function refusedFrom({ log }: Desk, operation: string, trace: Trace, error: unknown): Refusal {
  if (isRefusal(error)) return error
  const { trace_id, span_id } = trace
  const why = error instanceof Error ? error.stack : String(error)
  log.error('http.failed', { operation, error: why, trace_id, span_id })
  return refuse('internal', 'the service failed; the trace id finds the cause in its log')
}

/** Headers for a request that is for no operation: a path that nobody serves, or one that cannot be read. */
export function strayHeaders(desk: Desk): Headers {
  return desk.flights.isClosing ? { ...commonHeaders, connection: 'close' } : { ...commonHeaders }
}

export function headersOf(desk: Desk, { trace }: Flight): Headers {
  const headers = strayHeaders(desk)
  headers.traceparent = traceparentOf(trace)
  return headers
}

/** One line for each failure of ours; `internal` has had its own line, with the cause. */
export function report({ log }: Desk, { target, trace }: Flight, refused: Refusal): void {
  const { status } = refused.row
  if (status < 500 || refused.code === 'internal') return
  log.warn('http.refused', {
    operation: target.address,
    code: refused.code,
    status,
    detail: refused.message,
    trace_id: trace.trace_id,
    span_id: trace.span_id,
  })
}

/** The one end of every request: answered, timed out, or the client gone, which aborts what still runs. */
function leave({ flights, metrics, log, workshop }: Desk, flight: Flight): void {
  const { raw } = flight.reply
  const operation = flight.target.address
  flights.leave(flight)
  if (!raw.writableFinished) flight.controller.abort()
  const seconds = (performance.now() - flight.started_ms) / 1000
  const status = raw.headersSent ? String(flight.outcome ?? raw.statusCode) : 'aborted'
  metrics.count(httpRequests, { operation, status })
  if (!flight.isStream) metrics.observe(httpSeconds, { operation }, seconds)
  const { trace_id, span_id } = flight.trace
  log.debug('http.answered', { operation, status, seconds, trace_id, span_id })
  workshop.spans?.end(spanOf(flight, status))
}

function lowerCased(headers: Readonly<Record<string, string>>): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
