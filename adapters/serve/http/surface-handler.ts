// Serves a request to a surface: admitted like any other, answered by the surface, its operation performed as over REST.

import type { FastifyRequest } from 'fastify'
import type {
  HeaderFields,
  Surface,
  SurfaceCallOptions,
  SurfaceCallResult,
  SurfaceResponse,
  SurfaceStream,
} from '../../../daemon/kernel/api/surface.ts'
import { isRefusal, type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import { admitCaller } from '../../../daemon/kernel/identity/admit-caller.ts'
import { delegatingCredential } from '../../../daemon/kernel/identity/identity.ts'
import { type AddressedOperation, default_body_values } from '../../../daemon/kernel/operation/operation.ts'
import { performOperation } from '../../../daemon/kernel/operation/perform-operation.ts'
import type { OperationRequest, OperationResponse } from '../../../daemon/kernel/operation/role-context.ts'
import { untilAborted } from '../../../daemon/kernel/operation/until-aborted.ts'
import {
  finishRequest,
  joinHeaderFields,
  type ListenerContext,
  presentedCredential,
  readmitCaller,
  toRefusal,
} from './handle-request.ts'
import { parseBody } from './request-body.ts'
import { parseConditions } from './request-headers.ts'
import { checkTraceHeader, startTrace } from './request-trace.ts'
import { logRefusal, responseHeaders } from './response-headers.ts'
import type { ServedRequest } from './served-request.ts'
import { streamResponse } from './stream-response.ts'
import { countValues } from './untrusted-json.ts'
import { writeResponse } from './write-response.ts'

/** Hands admitted requests whose body has arrived to the surface, and writes its response. Never rejects. */
export function surfaceHandler(context: ListenerContext, surface: Surface) {
  return async (served: ServedRequest, request: FastifyRequest): Promise<void> => {
    const { caller } = served
    const body_bytes = Buffer.isBuffer(request.body) ? request.body.length : 0
    const body = await parseBody(served.target.operation, request.body)
    // A stream keeps the request for as long as it lasts, without a share for its body.
    request.body = undefined
    if (isRefusal(body) || !caller) {
      finishRequest(context, served, isRefusal(body) ? body : refuse('internal', 'the request was never admitted'))
      return
    }
    try {
      const answer = await surface.answer({
        method: request.method,
        path: request.url,
        headers: joinHeaderFields(request.headers),
        body,
        caller,
        signal: served.controller.signal,
        readmit: () => readmitCaller(context, served),
        perform: (target, input, options) =>
          performForSurface(
            context,
            { served, request, body_bytes },
            target,
            { surface: surface.name, fields: input },
            options,
          ),
      })
      if ('events' in answer) startSurfaceStream(context, served, answer)
      else writeSurfaceResponse(context, served, answer)
    } catch (error) {
      finishRequest(context, served, toRefusal(context, served.target.address, served.trace, error))
    }
  }
}

type SurfaceInput = NonNullable<OperationRequest['through']>

type SurfaceExchange = {
  readonly served: ServedRequest
  readonly request: FastifyRequest
  /** Of the message that holds the input of the operation. */
  readonly body_bytes: number
}

/** From here on the request counts as one for the operation: in metrics, in logs, in its trace. */
async function performForSurface(
  context: ListenerContext,
  exchange: SurfaceExchange,
  target: AddressedOperation,
  through: SurfaceInput,
  options: SurfaceCallOptions,
): Promise<SurfaceCallResult> {
  const { served } = exchange
  const sent = joinHeaderFields(exchange.request.headers)
  const traced = readMessageTrace(context, sent, options)
  const headers = { ...sent, ...options.headers, ...traced }
  served.target = target
  if (traced) served.trace = startTrace(context, { headers })
  const { cancelled } = options
  const signal = AbortSignal.any([served.controller.signal, ...(cancelled ? [cancelled] : [])])
  const { onProgress, client } = options
  const work = admitAndPerform(context, exchange, target, through, { headers, signal, onProgress, client }).catch(
    (error: unknown) => toRefusal(context, target.address, served.trace, error),
  )
  const outcome = await untilAborted(signal, work)
  if (cancelled?.aborted) served.outcome = 'aborted'
  else {
    if (isRefusal(outcome) && !served.reply.raw.destroyed) logRefusal(context, served, outcome)
    served.outcome = isRefusal(outcome) ? outcome.row.status : outcome.status
  }
  return { outcome, trace: served.trace }
}

/** The trace that the message has, under the names of the listener; undefined where the request has one itself. */
function readMessageTrace(
  { trace_policy }: ListenerContext,
  headers: HeaderFields,
  { trace: { traceparent, tracestate } }: SurfaceCallOptions,
): HeaderFields | undefined {
  const { header } = trace_policy
  if (traceparent === undefined || headers[header]) return undefined
  return { [header]: traceparent, ...(tracestate === undefined ? {} : { tracestate }) }
}

async function admitAndPerform(
  context: ListenerContext,
  { served, request, body_bytes }: SurfaceExchange,
  target: AddressedOperation,
  through: SurfaceInput,
  {
    headers,
    ...followed
  }: Pick<SurfaceCallOptions, 'headers' | 'onProgress' | 'client'> & { readonly signal: AbortSignal },
): Promise<OperationResponse | Refusal> {
  const { operation } = target
  const untraced = checkTraceHeader(context, target, headers)
  if (untraced) return untraced
  const presented = presentedCredential(context, request)
  const caller = await admitCaller(context.roleContext, target, presented)
  if (isRefusal(caller)) return caller
  const conditions = parseConditions(operation, headers)
  if (isRefusal(conditions)) return conditions
  const full = context.requests.takeShareOf(served, target)
  if (full) return full
  const limit_bytes = operation.max_body_bytes ?? context.limits.body_bytes
  if (body_bytes > limit_bytes) return refuse('too_large', 'the call is larger than this operation takes')
  // The route takes as many as the tool that takes most.
  const { max_body_values = default_body_values } = operation
  if (countValues(through.fields) > max_body_values)
    return refuse('too_large', `the call has more than the ${max_body_values} values that this operation takes`)
  const empty = { params: {}, query: {}, body: undefined }
  // Clients of a surface get structured answers; an explanation is a field of them.
  return await performOperation(context.roleContext, target, caller, {
    ...empty,
    through,
    accepts: ['application/json'],
    ...conditions,
    trace: served.trace,
    ...followed,
    credential: delegatingCredential(presented),
  })
}

function writeSurfaceResponse(
  context: ListenerContext,
  served: ServedRequest,
  { status, headers, text }: SurfaceResponse,
): void {
  if (served.isAnswered) return
  served.isAnswered = true
  writeResponse(served.reply, status, { ...responseHeaders(context, served), ...headers }, text)
}

function startSurfaceStream(context: ListenerContext, served: ServedRequest, answer: SurfaceStream): void {
  if (served.isAnswered) return
  const refused = served.isStream ? undefined : context.requests.becomeStream(served)
  if (refused) {
    finishRequest(context, served, refused)
    return
  }
  served.isAnswered = true
  const headers = { ...responseHeaders(context, served), ...answer.headers, 'content-type': 'text/event-stream' }
  void streamResponse(context, served, headers, answer.status, answer.events)
}
