// The trace of a request that is forwarded, by the policy of its listener.
import { type Refusal, refuse } from '../../kernel/error/errors.ts'
import type { Trace } from '../../kernel/telemetry/trace.ts'
import { type TraceFault, type TracePolicy, traceOfRequest } from '../../kernel/telemetry/trace-policy.ts'

/** `isJoined`: the headers of the client go on to the service as they are. */
export type ForwardTrace = { readonly trace: Trace; readonly isJoined: boolean; readonly fault?: TraceFault }

export function findForwardTrace(
  rawHeaders: readonly string[],
  policy: TracePolicy,
  random: (bytes: number) => string,
): ForwardTrace {
  const found: Record<string, string | string[]> = {}
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase()
    if (name !== policy.header && name !== 'tracestate') continue
    const value = rawHeaders[at + 1] as string
    const before = found[name]
    found[name] = before === undefined ? value : [before, value].flat()
  }
  const { trace, fault } = traceOfRequest(policy, found, random)
  return { trace, isJoined: trace.parent_id !== undefined, ...(fault ? { fault } : {}) }
}

/** Where each request must bring its trace. Callers of the public prefix bring none. */
export function refuseTrace({ fault }: ForwardTrace, { mode, header }: TracePolicy): Refusal | undefined {
  if (mode !== 'require' || !fault) return undefined
  const problem = fault === 'missing_traceparent' ? 'missing' : 'malformed'
  return refuse('malformed', `the header ${header} is ${problem}; send 00-<trace id>-<parent id>-<flags>`)
}
