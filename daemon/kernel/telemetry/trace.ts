// The position of work in a distributed trace, and the headers that forward it (W3C Trace Context, level 2).

export type Trace = {
  /** 32 lower-case hexadecimal digits, shared by all work that one request, or one run of a worker, causes. */
  readonly trace_id: string
  /** 16 lower-case hexadecimal digits: the id of this work, and the parent of its requests. */
  readonly span_id: string
  /** The span that requested this work; absent where the work began by itself. */
  readonly parent_id?: string
  /** Two hexadecimal digits: bit 0 sampled, bit 1 the trace id is random. */
  readonly flags: string
  /** The list as received, since nothing is added; '' for none. */
  readonly tracestate: string
}

/** `bytes` random bytes as lower-case hexadecimal. */
type RandomHex = (bytes: number) => string

/** A header as HTTP libraries represent it: repeated fields are joined by commas, or a list. */
export type TraceHeaderValue = string | readonly string[] | undefined

const traceparentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const zero_trace_id = '0'.repeat(32)
const zero_span_id = '0'.repeat(16)
const known_flags = 3

export function newTrace(random: RandomHex): Trace {
  return { trace_id: random(16), span_id: random(8), flags: '02', tracestate: '' }
}

/** The trace of a request. Without a valid `traceparent` it is a new one, without `parent_id`, and `tracestate` is ignored. */
export function traceFromHeaders(
  traceparent: TraceHeaderValue,
  tracestate: TraceHeaderValue,
  random: RandomHex,
): Trace {
  const joined = typeof traceparent === 'string' ? joinTrace(traceparent, tracestate, random) : undefined
  return joined ?? newTrace(random)
}

/** The trace of work that was requested within this process. */
export function childTrace({ trace_id, span_id, flags, tracestate }: Trace, random: RandomHex): Trace {
  return { trace_id, span_id: random(8), parent_id: span_id, flags, tracestate }
}

/** Headers of a request that this work sends. */
export function traceHeaders(trace: Trace): Readonly<Record<string, string>> {
  const { tracestate } = trace
  return { traceparent: traceparentOf(trace), ...(tracestate === '' ? {} : { tracestate }) }
}

export function traceparentOf({ trace_id, span_id, flags }: Trace): string {
  return `00-${trace_id}-${span_id}-${flags}`
}

/** Joins the trace of a header. Versions after 00 may have further fields, which are ignored. */
function joinTrace(header: string, tracestate: TraceHeaderValue, random: RandomHex): Trace | undefined {
  const [, version, trace_id, parent_id, flags, rest] = traceparentPattern.exec(header) ?? []
  if (version === undefined || !trace_id || !parent_id || !flags) return undefined
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  if (trace_id === zero_trace_id || parent_id === zero_span_id) return undefined
  const known = (Number.parseInt(flags, 16) & known_flags).toString(16).padStart(2, '0')
  return { trace_id, span_id: random(8), parent_id, flags: known, tracestate: parseTracestate(tracestate) }
}

/**
 * One member between commas: a key, `=` and a value, or nothing, with optional space around. A value may begin with
 * spaces.
 */
const tracestateMemberPattern = /^[ \t]*(?:[a-z0-9][a-z0-9_\-*/@]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~][ \t]*)?$/
const max_members = 32

/** The specification requires at least 512. Half of the header limit of a listener leaves room for a token. */
const max_characters = 8_192
/** Members longer than this are removed from a list that is too long; 32 shorter ones always fit. */
const long_member_characters = 128

/**
 * Parses the list. A single invalid member drops the whole list. Duplicate keys stay: a participant that adds no
 * member must not choose between them.
 */
function parseTracestate(header: TraceHeaderValue): string {
  const list = typeof header === 'string' ? header : (header ?? []).join(',')
  if (!list.includes('=')) return ''
  const members = list.split(',')
  if (members.length > max_members || !members.every((each) => tracestateMemberPattern.test(each))) return ''
  if (list.length <= max_characters) return list
  return members.filter(({ length }) => length <= long_member_characters).join(',')
}
