// Spans of finished work, for a collector of traces.
import type { Trace } from './trace.ts'

export type TraceSpan = {
  readonly trace: Trace
  /** An address, or a few words: never text that differs from request to request. */
  readonly name: string
  readonly kind: 'server' | 'client' | 'consumer' | 'internal'
  /** Epoch milliseconds, with fractions. */
  readonly started_ms: number
  readonly ended_ms: number
  readonly isError: boolean
  /** Names follow the OpenTelemetry conventions where these have one. Never content, a credential or a caller. */
  readonly attributes: Readonly<Record<string, string | number>>
}

export interface SpanRecorder {
  /** The trace, with the sampling decision in its flags, so that other services decide alike. */
  start(trace: Trace): Trace
  /** Never throws and never waits. False: the span was dropped, since the queue has no room for it. */
  end(span: TraceSpan): boolean
}

/** Name, kind and attributes of a span, known before its work ends. */
export type SpanStart = Pick<TraceSpan, 'trace' | 'name' | 'kind' | 'attributes'>

/** Runs the work in a span. `now`: epoch milliseconds. A throw counts as an error, too. */
export async function runInSpan<T>(
  spans: SpanRecorder | undefined,
  start: SpanStart,
  now: () => number,
  isError: (result: T) => boolean,
  act: () => Promise<T>,
): Promise<T> {
  if (!spans) return await act()
  const started_ms = now()
  let failed = true
  try {
    const result = await act()
    failed = isError(result)
    return result
  } finally {
    spans.end({ ...start, started_ms, ended_ms: now(), isError: failed })
  }
}
