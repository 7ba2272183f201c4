// The policy by which a listener takes over the trace of a request, or begins one.
import type { Log } from './log.ts'
import type { ReportThrottle } from './report-throttle.ts'
import { newTrace, type Trace, type TraceHeaderValue, traceFromHeaders } from './trace.ts'

export const traceModes = ['ignore', 'adopt', 'require'] as const

export type TracePolicy = {
  /** `ignore`: each request begins a trace. `adopt`: a valid header continues its trace. `require`: as well, and only so. */
  readonly mode: (typeof traceModes)[number]
  /** Lower-case name of the header with the trace, in the format of `traceparent`. */
  readonly header: string
}

export const defaultTracePolicy: TracePolicy = { mode: 'adopt', header: 'traceparent' }

/** Names of log events, too. */
export type TraceFault = 'missing_traceparent' | 'malformed_traceparent'

/** The trace of a request, and the fault of its header for which it is a new one. `headers`: by lower-case name. */
export function traceOfRequest(
  { mode, header }: TracePolicy,
  headers: Readonly<Record<string, TraceHeaderValue>>,
  random: (bytes: number) => string,
): { readonly trace: Trace; readonly fault?: TraceFault } {
  if (mode === 'ignore') return { trace: newTrace(random) }
  const trace = traceFromHeaders(headers[header], headers.tracestate, random)
  if (trace.parent_id !== undefined) return { trace }
  return { trace, fault: headers[header] === undefined ? 'missing_traceparent' : 'malformed_traceparent' }
}

/** The fault of a trace header in the log, once a minute; that of a client that sends none only at `debug`. */
export function reportTraceFault(
  { throttle, log }: { readonly throttle: ReportThrottle; readonly log: Log },
  { header, mode }: TracePolicy,
  { trace, fault }: { readonly trace: Trace; readonly fault?: TraceFault },
): void {
  const times = fault && throttle(fault)
  if (!fault || times === undefined) return
  const level = fault === 'malformed_traceparent' ? 'warn' : 'debug'
  log[level](fault, { times, header, mode, trace_id: trace.trace_id })
}
