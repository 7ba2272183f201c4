// Spans of public requests: decides once which requests have one, and holds ended spans until the next report of the thread.
import type { TraceSpan } from '../../../kernel/telemetry/spans.ts'
import { newTrace, type Trace, traceFromHeaders } from '../../../kernel/telemetry/trace.ts'
import type { ProxyConfig } from '../config.ts'
import { RequestSpan, type RequestSpanContext } from './request-span.ts'
import type { SpanOutcome } from './thread-report.ts'

/** Public requests with a span in a second, over all threads, however many callers request one. */
export const max_sampled_per_s = 100
/** Spans of a thread between two reports, five seconds apart: two for each request, with some room. */
export const max_held_spans = 1_024

const sampled_bit = 1

export type RequestSpansOptions = Omit<RequestSpanContext, 'end'> & {
  /** Share of `max_sampled_per_s` that this thread may use. */
  readonly share: number
  /** A number from 0 up to 1, for requests that begin a trace. */
  readonly draw: () => number
  /** Counts a span that is not recorded. */
  readonly onDropped: (outcome: SpanOutcome) => void
}

export class RequestSpans {
  readonly #options: RequestSpansOptions
  readonly #context: RequestSpanContext
  /** Requests that may still be sampled now. */
  #allowance = 0
  #refilled_ms = Number.NEGATIVE_INFINITY
  #held: TraceSpan[] = []

  constructor(options: RequestSpansOptions) {
    this.#options = options
    this.#context = { ...options, end: (span) => this.#hold(span) }
  }

  /**
   * Decides once for a request; undefined: it has no span. A caller decides only where its trace is adopted, and never beyond
   * the rate.
   */
  begin(method: string, rawHeaders: readonly string[], config: ProxyConfig): RequestSpan | undefined {
    const { trace_ratio, trace_mode } = config
    if (trace_ratio === 0) return undefined
    const parent = trace_mode === 'adopt' ? this.#joinCaller(rawHeaders) : undefined
    if (parent ? !isSampled(parent) : this.#options.draw() >= trace_ratio) return undefined
    if (!this.#takeAllowance()) {
      this.#options.onDropped('rate_limited')
      return undefined
    }
    return new RequestSpan(this.#context, parent ?? beginTrace(this.#options.random), method)
  }

  /** Ended spans since the last call. */
  take(): readonly TraceSpan[] {
    const all = this.#held
    this.#held = []
    return all
  }

  /** The trace of a single, well-formed header. `tracestate` is not read: nothing forwards it. */
  #joinCaller(rawHeaders: readonly string[]): Trace | undefined {
    const header = findSingleTraceparent(rawHeaders)
    if (header === undefined) return undefined
    const trace = traceFromHeaders(header, undefined, this.#options.random)
    return trace.parent_id === undefined ? undefined : trace
  }

  #takeAllowance(): boolean {
    const per_s = max_sampled_per_s * this.#options.share
    const now_ms = this.#options.now()
    const gained = ((now_ms - this.#refilled_ms) / 1_000) * per_s
    this.#allowance = Math.min(Math.max(1, per_s), this.#allowance + Math.max(0, gained))
    this.#refilled_ms = now_ms
    if (this.#allowance < 1) return false
    this.#allowance -= 1
    return true
  }

  #hold(span: TraceSpan): void {
    if (this.#held.length < max_held_spans) this.#held.push(span)
    else this.#options.onDropped('no_room')
  }
}

const max_traceparent_characters = 256

/** Undefined for none, for several, and for one that is too long to be read. */
function findSingleTraceparent(rawHeaders: readonly string[]): string | undefined {
  let found: string | undefined
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length !== 'traceparent'.length || name.toLowerCase() !== 'traceparent') continue
    if (found !== undefined) return undefined
    found = rawHeaders[at + 1] as string
  }
  return found === undefined || found.length > max_traceparent_characters ? undefined : found
}

const isSampled = ({ flags }: Trace) => (Number.parseInt(flags, 16) & sampled_bit) !== 0

/** A trace of its own, with the sampled flag. */
function beginTrace(random: RequestSpansOptions['random']): Trace {
  const trace = newTrace(random)
  return { ...trace, flags: (Number.parseInt(trace.flags, 16) | sampled_bit).toString(16).padStart(2, '0') }
}
