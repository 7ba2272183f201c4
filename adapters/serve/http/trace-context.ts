// Joins a request to the trace of its caller (W3C Trace Context level 2), or starts one.

export type Trace = {
  /** 32 lower-case hexadecimal digits. */
  readonly trace_id: string
  /** Two hexadecimal digits: bit 0 sampled, bit 1 the trace id is random. */
  readonly flags: string
}

const shape = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const noTrace = '0'.repeat(32)
const noSpan = '0'.repeat(16)

/** The caller's trace; `undefined` for a header that the specification calls invalid. A later version may say more. */
export function parseTraceparent(header: string): Trace | undefined {
  const [, version, trace_id, span, flags, rest] = shape.exec(header) ?? []
  if (version === undefined || trace_id === undefined || flags === undefined) return undefined
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  if (trace_id === noTrace || span === noSpan) return undefined
  return { trace_id, flags: (Number.parseInt(flags, 16) & 3).toString(16).padStart(2, '0') }
}

/** The trace of a request; an absent or invalid header starts a new one, whose id is random and says so. */
export function traceOf(
  header: string | readonly string[] | undefined,
  from: { random(bytes: number): string },
): Trace {
  const given = typeof header === 'string' ? parseTraceparent(header) : undefined
  return given ?? { trace_id: from.random(16), flags: '02' }
}

/** The header that names this request's own span within its trace. */
export function traceparent(trace: Trace, span_id: string): string {
  return `00-${trace.trace_id}-${span_id}-${trace.flags}`
}
