// Headers that every response carries, and the log line of a refusal.
import type { Refusal } from '../../../daemon/kernel/error/errors.ts'
import { traceparentOf } from '../../../daemon/kernel/telemetry/trace.ts'
import type { ListenerContext } from './handle-request.ts'
import type { ServedRequest } from './served-request.ts'
import { commonHeaders, type ResponseHeaders } from './write-response.ts'

/** Headers of a response without an operation: for an unknown path, or an unreadable request. */
export function unroutedHeaders(context: ListenerContext): ResponseHeaders {
  return context.requests.isClosing ? { ...commonHeaders, connection: 'close' } : { ...commonHeaders }
}

export function responseHeaders(context: ListenerContext, { trace }: ServedRequest): ResponseHeaders {
  const headers = unroutedHeaders(context)
  headers[context.trace_policy.header] = traceparentOf(trace)
  return headers
}

/** A log line for failures of the service, once a minute for each cause; `internal` has been logged with its own. */
export function logRefusal(
  { log, roleContext }: ListenerContext,
  { target, trace }: ServedRequest,
  refused: Refusal,
): void {
  const { status } = refused.row
  if (status < 500 || refused.code === 'internal') return
  const times = roleContext.throttle(`${target.address} ${refused.code}`)
  if (times === undefined) return
  log.warn('http.refused', {
    times,
    operation: target.address,
    code: refused.code,
    status,
    detail: refused.message,
    trace_id: trace.trace_id,
    span_id: trace.span_id,
  })
}

export function lowerCaseNames(headers: Readonly<Record<string, string>>): ResponseHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
