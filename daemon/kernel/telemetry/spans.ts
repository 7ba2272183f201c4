// What is told of a piece of work that has ended, where something gathers traces.
import type { Trace } from './trace.ts'

export type TraceSpan = {
  readonly trace: Trace
  /** An address, or a few words: never anything that differs from request to request. */
  readonly name: string
  readonly kind: 'server' | 'consumer' | 'internal'
  /** Epoch milliseconds, with fractions. */
  readonly started_ms: number
  readonly ended_ms: number
  readonly isError: boolean
  /** Names of the OpenTelemetry conventions where there is one. Never content, a credential, or who asked. */
  readonly attributes: Readonly<Record<string, string | number>>
}

export interface SpanRecorder {
  /** The trace, with the decision whether its spans are told in its flags, so that others decide alike. */
  start(trace: Trace): Trace
  /** Never throws and waits for nothing: what there is no room for is dropped. */
  end(span: TraceSpan): void
}

/** What to tell of a piece of work, before its end is known. */
export type SpanStart = Pick<TraceSpan, 'trace' | 'name' | 'kind' | 'attributes'>

/** Does the work and tells of it. `now`: epoch milliseconds. A throw is an error, too. */
export async function runInSpan<T>(
  spans: SpanRecorder | undefined,
  begun: SpanStart,
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
    spans.end({ ...begun, started_ms, ended_ms: now(), isError: failed })
  }
}
