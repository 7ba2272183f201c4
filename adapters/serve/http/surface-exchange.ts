// A request to a surface: admitted like any other, answered by the surface, and what it asks for performed as over REST.

import type { FastifyRequest } from 'fastify'
import type {
  HeaderFields,
  Surface,
  SurfaceCallOptions,
  SurfaceCallResult,
  SurfaceResponse,
} from '../../../daemon/kernel/api/surface.ts'
import { isRefusal, Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import { admitCaller } from '../../../daemon/kernel/identity/admit-caller.ts'
import type { AddressedOperation } from '../../../daemon/kernel/operation/operation.ts'
import { type OperationResponse, performOperation } from '../../../daemon/kernel/operation/perform-operation.ts'
import { write } from './answer.ts'
import { certificateOf } from './client-certificate.ts'
import { type Desk, finish, headersOf, headFields, refusedFrom, report, traceOfRequest } from './exchange.ts'
import { type Flight, outOfTime } from './flight.ts'
import { parseBody } from './request-body.ts'
import { bearerOf, conditionsOf } from './request-headers.ts'

/** Hands admitted requests whose body has arrived to the surface, and writes what it answers. Never rejects. */
export function presentTo(desk: Desk, surface: Surface) {
  return async (flight: Flight, request: FastifyRequest): Promise<void> => {
    const { caller } = flight
    const body = parseBody(flight.target.operation, request.body)
    if (isRefusal(body) || !caller) {
      finish(desk, flight, isRefusal(body) ? body : refuse('internal', 'the request was never admitted'))
      return
    }
    try {
      const answer = await surface.answer({
        method: request.method,
        path: request.url,
        headers: headFields(request.headers),
        body,
        caller,
        perform: (target, input, asked) => performed(desk, flight, request, target, input, asked),
      })
      writeAnswer(desk, flight, answer)
    } catch (error) {
      finish(desk, flight, refusedFrom(desk, flight.target.address, flight.trace, error))
    }
  }
}

/** From here on the request counts as one for the operation: in metrics, in logs, in its trace. */
async function performed(
  desk: Desk,
  flight: Flight,
  request: FastifyRequest,
  target: AddressedOperation,
  input: Readonly<Record<string, unknown>>,
  asked: SurfaceCallOptions,
): Promise<SurfaceCallResult> {
  const headers = { ...headFields(request.headers), ...asked.headers }
  flight.target = target
  if (asked.headers.traceparent) flight.trace = traceOfRequest(desk, { headers })
  const { cancelled } = asked
  const signal = AbortSignal.any([flight.controller.signal, ...(cancelled ? [cancelled] : [])])
  const work = outcomeOf(desk, flight, request, target, input, { headers, signal }).catch((error: unknown) =>
    refusedFrom(desk, target.address, flight.trace, error),
  )
  const outcome = await untilAborted(signal, work)
  if (cancelled?.aborted) flight.outcome = 'aborted'
  else {
    if (isRefusal(outcome) && !flight.reply.raw.destroyed) report(desk, flight, outcome)
    flight.outcome = isRefusal(outcome) ? outcome.row.status : outcome.status
  }
  return { outcome, trace: flight.trace }
}

async function outcomeOf(
  { workshop, limits }: Desk,
  { trace }: Flight,
  request: FastifyRequest,
  target: AddressedOperation,
  fields: Readonly<Record<string, unknown>>,
  { headers, signal }: { readonly headers: HeaderFields; readonly signal: AbortSignal },
): Promise<OperationResponse | Refusal> {
  const { operation } = target
  const caller = await admitCaller(
    workshop,
    operation,
    bearerOf(headers.authorization),
    certificateOf(request.raw.socket),
  )
  if (isRefusal(caller)) return caller
  const conditions = conditionsOf(operation, headers)
  if (isRefusal(conditions)) return conditions
  const limit_bytes = operation.max_body_bytes ?? limits.body_bytes
  if ((request.body as Buffer).length > limit_bytes) {
    return refuse('too_large', 'the call is larger than this operation takes')
  }
  const empty = { params: {}, query: {}, body: undefined }
  // Structured answers are what such clients want; prose is in them where it is wanted.
  return await performOperation(workshop, target, caller, {
    ...empty,
    fields,
    accepts: ['application/json'],
    ...conditions,
    trace,
    signal,
  })
}

/** The outcome, or why it is not waited for any longer. */
async function untilAborted(
  signal: AbortSignal,
  work: Promise<OperationResponse | Refusal>,
): Promise<OperationResponse | Refusal> {
  const given_up = new Promise<Refusal>((resolve) => {
    const give = () => resolve(signal.reason instanceof Refusal ? signal.reason : outOfTime())
    if (signal.aborted) give()
    else signal.addEventListener('abort', give, { once: true })
  })
  return await Promise.race([work, given_up])
}

function writeAnswer(desk: Desk, flight: Flight, { status, headers, text }: SurfaceResponse): void {
  if (flight.isAnswered) return
  flight.isAnswered = true
  write(flight.reply, status, { ...headersOf(desk, flight), ...headers }, text)
}
