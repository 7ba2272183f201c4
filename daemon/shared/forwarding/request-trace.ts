// The trace of a request that is forwarded, by the policy of its listener.
import { type Refusal, refuse } from '../../kernel/error/errors.ts'
import { type Trace, traceparentOf } from '../../kernel/telemetry/trace.ts'
import { type TraceFault, type TracePolicy, traceOfRequest } from '../../kernel/telemetry/trace-policy.ts'

export type ForwardTrace = {
  readonly trace: Trace
  /** The trace of the client goes on to the service: this hop is not a participant of it, and keeps its parent. */
  readonly isJoined: boolean
  /** The client's `tracestate` goes on as it came. */
  readonly isStateKept: boolean
  readonly fault?: TraceFault
}

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
  const isJoined = trace.parent_id !== undefined
  const isStateKept = isJoined && [found.tracestate ?? []].flat().join(',') === trace.tracestate
  return { trace, isJoined, isStateKept, ...(fault ? { fault } : {}) }
}

/** Headers for the service: with this trace where that of the client was absent, malformed or ignored. */
export function buildTraceHeaders(headers: readonly string[], header: string, found: ForwardTrace): readonly string[] {
  const { trace, isJoined, isStateKept } = found
  if (isJoined && isStateKept) return headers
  const isReplaced = (name: string | undefined) =>
    name === 'tracestate' || (!isJoined && (name === header || name === 'traceparent'))
  const kept = headers.filter((_, at) => !isReplaced(headers[at - (at % 2)]))
  if (!isJoined) kept.push(header, traceparentOf(trace))
  if (trace.tracestate !== '') kept.push('tracestate', trace.tracestate)
  return kept
}

/** Headers of the response: with a trace that began here, unless the service names the trace itself. */
export function buildTracedAnswer(headers: string[], header: string, { trace, isJoined }: ForwardTrace): string[] {
  const isNamed = isJoined || headers.some((name, at) => at % 2 === 0 && name === header)
  if (!isNamed) headers.push(header, traceparentOf(trace))
  return headers
}

/** Where each request must bring its trace. Callers of the public prefix bring none. */
export function refuseTrace({ fault }: ForwardTrace, { mode, header }: TracePolicy): Refusal | undefined {
  if (mode !== 'require' || !fault) return undefined
  const problem = fault === 'missing_traceparent' ? 'missing' : 'malformed'
  return refuse('malformed', `the header ${header} is ${problem}; send 00-<trace id>-<parent id>-<flags>`)
}
