// One request through the kernel and back: admitted before its body is read, performed, answered once.
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HeaderFields, Surface } from '../../../daemon/kernel/api/surface.ts'
import { isRefusal, type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import { admitCaller, isAnonymous } from '../../../daemon/kernel/identity/admit-caller.ts'
import {
  type Caller,
  delegatingCredential,
  type PresentedCredential,
} from '../../../daemon/kernel/identity/identity.ts'
import { type AddressedOperation, RawResponse, type ServedRoute } from '../../../daemon/kernel/operation/operation.ts'
import { performOperation } from '../../../daemon/kernel/operation/perform-operation.ts'
import type { OperationResponse, RoleContext } from '../../../daemon/kernel/operation/role-context.ts'
import { timeoutRefusal } from '../../../daemon/kernel/operation/until-aborted.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import type { Metrics } from '../../../daemon/kernel/telemetry/metrics.ts'
import { findFailureCause } from '../../../daemon/kernel/telemetry/report-throttle.ts'
import type { Trace } from '../../../daemon/kernel/telemetry/trace.ts'
import type { TracePolicy } from '../../../daemon/kernel/telemetry/trace-policy.ts'
import { clientCertificate } from '../../platform/http-server/client-certificate.ts'
import type { PendingConnections } from '../../platform/http-server/pending-connections.ts'
import { ExchangeRequest } from './exchange-request.ts'
import { httpRequests, httpSeconds } from './http-metrics.ts'
import type { ListenerLimits } from './limits.ts'
import { parseAccept } from './parse-accept.ts'
import { checkBodyHeaders, declaredBytes, parseBody, readSignedBody } from './request-body.ts'
import { parseBearer, parseConditions, type RequestConditions } from './request-headers.ts'
import { checkTraceHeader, startTrace } from './request-trace.ts'
import { logRefusal, lowerCaseNames, responseHeaders } from './response-headers.ts'
import { requestSpan, ServedRequest, type ServedRequests } from './served-request.ts'
import { streamResponse } from './stream-response.ts'
import { writeJson, writeProblem, writeResponse } from './write-response.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the request is known to be for an operation. */
    served: ServedRequest | undefined
  }
}

/** Shared state of all requests of a listener. */
export type ListenerContext = {
  readonly roleContext: RoleContext
  /** Whether it listens at a local socket. */
  readonly isLocal: boolean
  readonly trace_policy: TracePolicy
  readonly requests: ServedRequests
  readonly limits: ListenerLimits
  readonly log: Log
  readonly metrics: Metrics
  /** Connections on which no caller was identified yet; undefined for a socket file. */
  readonly pending: PendingConnections | undefined
}

/** Decides all that depends on the head alone. True when the body may be read; otherwise the request has been answered. */
export async function acceptRequest(
  context: ListenerContext,
  target: ServedRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  surface?: Surface,
) {
  const { headers } = request
  const served = new ServedRequest(target, reply, startTrace(context, request), surface)
  request.served = served
  reply.raw.once('close', () => endRequest(context, served))
  const refused =
    context.requests.add(served) ??
    checkRequestHead(request) ??
    // The message of a surface may have the trace of its operation, and needs none where it requests no operation.
    (surface ? surface.refusal(joinHeaderFields(headers)) : checkTraceHeader(context, target, headers)) ??
    (await admitRequest(context, served, request))
  if (!refused) {
    if (isContinueAwaited(request)) reply.raw.writeContinue()
    return true
  }
  finishRequest(context, served, refused, parseBearer(headers.authorization) !== undefined)
  return false
}

export function presentedCredential(
  { isLocal }: ListenerContext,
  { headers, raw }: FastifyRequest,
): PresentedCredential {
  const certificate = raw instanceof ExchangeRequest ? raw.exchange.certificate : clientCertificate(raw.socket)
  return { bearer: parseBearer(headers.authorization), certificate, isLocal }
}

/** The caller of an open request as its credential identifies it now. */
export async function readmitCaller(
  context: ListenerContext,
  { target, reply }: ServedRequest,
): Promise<Caller | Refusal> {
  return await admitCaller(context.roleContext, target, presentedCredential(context, reply.request))
}

async function admitRequest(
  context: ListenerContext,
  served: ServedRequest,
  request: FastifyRequest,
): Promise<Refusal | undefined> {
  const { headers } = request
  const { operation } = served.target
  const presented = presentedCredential(context, request)
  const caller = await admitCaller(context.roleContext, served.target, presented)
  if (isRefusal(caller)) return caller
  // It ended while its credential was verified: shares that it took now would never be given back.
  if (served.controller.signal.aborted)
    return refuse('malformed', 'the connection ended before the request was admitted')
  const conditions = parseConditions(operation, headers)
  if (isRefusal(conditions)) return conditions
  served.caller = caller
  served.credential = delegatingCredential(presented)
  served.conditions = conditions
  const most_bytes = operation.max_body_bytes ?? context.limits.body_bytes
  const identified = isAnonymous(caller) ? undefined : caller
  if (identified) context.pending?.complete(request.raw.socket)
  return (
    checkBodyHeaders(operation, headers) ??
    context.requests.admit(served, { caller: identified, body_bytes: declaredBytes(headers, most_bytes) })
  )
}

/** A client that waits with its body until it is admitted. */
function isContinueAwaited({ headers }: FastifyRequest): boolean {
  return headers.expect?.toLowerCase() === '100-continue'
}

/** One value per name: Node has joined repeated headers, except cookies. */
export function joinHeaderFields(headers: IncomingHttpHeaders): HeaderFields {
  return Object.fromEntries(Object.entries(headers).map(([name, value = '']) => [name, String(value)]))
}

/** Node's own answer to a missing Host would not be a problem document; the router takes an empty segment for a name. */
function checkRequestHead({ raw, params }: FastifyRequest): Refusal | undefined {
  if (raw.httpVersionMajor !== 1 || (raw.headers.host === undefined && raw.httpVersion !== '1.0')) {
    return refuse('malformed', 'a request must be HTTP/1.1 and have a Host header')
  }
  for (const value of Object.values(params as Record<string, string>)) {
    if (value === '') return refuse('not_found', 'nothing is served at this path')
  }
  return undefined
}

/** Performs an admitted request whose body has arrived. Never rejects. */
export async function performRequest(
  context: ListenerContext,
  target: AddressedOperation,
  served: ServedRequest,
  request: FastifyRequest,
): Promise<void> {
  const { caller, trace } = served
  const { signed = false } = target.operation
  const body = signed ? undefined : await parseBody(target.operation, request.body)
  if (isRefusal(body) || !caller) {
    finishRequest(context, served, isRefusal(body) ? body : refuse('internal', 'the request was never admitted'))
    return
  }
  const result = await performOperation(context.roleContext, target, caller, {
    params: request.params as Record<string, string>,
    query: request.query as Record<string, string | string[]>,
    body,
    accepts: parseAccept(request.headers.accept),
    ...(served.conditions as RequestConditions),
    trace,
    signal: served.controller.signal,
    credential: served.credential,
    // The token has admitted the request, and the operation never sees it.
    authorization: target.operation.allow === 'public' ? request.headers.authorization : undefined,
    signed_body: signed ? readSignedBody(request.headers, request.body) : undefined,
  })
  finishRequest(context, served, result)
}

/** Answers, unless the request has been answered: a result after the time limit is dropped. */
export function finishRequest(
  context: ListenerContext,
  served: ServedRequest,
  result: OperationResponse | Refusal,
  hadToken = false,
): void {
  if (served.isAnswered) return
  served.isAnswered = true
  const headers = responseHeaders(context, served)
  if (isRefusal(result)) {
    logRefusal(context, served, result)
    const more = served.surface?.challenge(joinHeaderFields(served.reply.request.headers))
    writeProblem(served.reply, headers, result, served.trace.trace_id, hadToken, more)
    return
  }
  if (!(result.body instanceof RawResponse)) {
    writeJson(served.reply, headers, result)
    return
  }
  Object.assign(headers, lowerCaseNames(result.body.headers), { 'content-type': result.body.content_type })
  if (typeof result.body.body === 'string') writeResponse(served.reply, result.status, headers, result.body.body)
  else void streamResponse(context, served, headers, result.status, result.body.body)
}

/**
 * Ends a request that took too long: aborts its signal and answers the client. A surface answers in its own format; if it
 * has not by the next sweep, the listener does.
 */
export function timeOutRequest(context: ListenerContext, served: ServedRequest): void {
  const refused = timeoutRefusal()
  const isAborted = served.controller.signal.aborted
  served.controller.abort(refused)
  if (!served.surface || isAborted) finishRequest(context, served, refused)
}

/** Ends the connection of a client that does not read its answer. */
export function cutOffReader({ log, roleContext }: ListenerContext, served: ServedRequest): void {
  served.outcome = 'aborted'
  served.reply.raw.destroy()
  const operation = served.target.address
  const times = roleContext.throttle(`slow reader ${operation}`)
  if (times !== undefined) log.warn('http.reader.slow', { operation, times })
}

/** A thrown error as a refusal; one that is not a refusal is logged once a minute for each cause, and answered `internal`. */
export function toRefusal(context: ListenerContext, operation: string, trace: Trace, error: unknown): Refusal {
  if (isRefusal(error)) return error
  const times = context.roleContext.throttle(`${operation} http ${findFailureCause(error)}`)
  if (times !== undefined) {
    const { trace_id, span_id } = trace
    const why = error instanceof Error ? error.stack : String(error)
    context.log.error('http.failed', { operation, times, error: why, trace_id, span_id })
  }
  return refuse('internal', 'the service failed; find the cause in its log by the trace id or the operation')
}

/** Runs once at the end of every request: answered, timed out, or its client gone, which aborts the operation. */
function endRequest({ requests, metrics, log, roleContext }: ListenerContext, served: ServedRequest): void {
  const { raw } = served.reply
  const operation = served.target.address
  requests.remove(served)
  // The source of a stream may still wait for its next event.
  if (served.isStream || !raw.writableFinished) served.controller.abort()
  const seconds = (performance.now() - served.started_ms) / 1000
  const status = raw.headersSent ? String(served.outcome ?? raw.statusCode) : 'aborted'
  metrics.count(httpRequests, { operation, status })
  if (!served.isStream) metrics.observe(httpSeconds, { operation }, seconds)
  const { trace_id, span_id } = served.trace
  log.debug('http.answered', { operation, status, seconds, trace_id, span_id })
  roleContext.spans?.end(requestSpan(served, status))
}
