// The trace of a request by the policy of its listener: its beginning, and the refusal of a request without one.
import type { IncomingHttpHeaders } from 'node:http'
import { type Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { RequestTarget } from '../../../daemon/kernel/operation/operation.ts'
import type { Trace } from '../../../daemon/kernel/telemetry/trace.ts'
import { reportTraceFault, type TraceFault, traceOfRequest } from '../../../daemon/kernel/telemetry/trace-policy.ts'
import type { ListenerContext } from './handle-request.ts'

export function startTrace(
  { roleContext, trace_policy, log }: ListenerContext,
  { headers }: { readonly headers: IncomingHttpHeaders },
): Trace {
  const found = traceOfRequest(trace_policy, headers, roleContext.environment.random)
  reportTraceFault({ throttle: roleContext.throttle, log }, trace_policy, found)
  return roleContext.spans?.start(found.trace) ?? found.trace
}

/** Load balancers and collectors of metrics send no trace: what they request, and what is public, needs none. */
export function checkTraceHeader(
  { roleContext, trace_policy }: ListenerContext,
  { operation }: RequestTarget,
  headers: IncomingHttpHeaders,
): Refusal | undefined {
  if (trace_policy.mode !== 'require' || operation.allow === 'public' || operation.untraced) return undefined
  const { fault } = traceOfRequest(trace_policy, headers, roleContext.environment.random)
  const { header } = trace_policy
  const problems: Readonly<Record<TraceFault, string>> = {
    missing_traceparent: `the header ${header} is missing`,
    malformed_traceparent: `the header ${header} is malformed`,
  }
  return fault && refuse('malformed', `${problems[fault]}; send 00-<trace id>-<parent id>-<flags> (W3C Trace Context)`)
}
