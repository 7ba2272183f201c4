// The steps of a request that need nothing but its head: source, headers, prefix, normal form, rule, preflight, in this order.
import type { Rule } from '../allowlist/rule.ts'
import type { Config } from '../config.ts'
import type { EarlyReason } from '../reasons.ts'
import { type Headers, readHeaders } from './headers.ts'
import { normalForm } from './path.ts'
import { type Source, sourceOf } from './source.ts'

export type RequestHead = {
  readonly method: string
  /** The request target byte for byte, as the request line has it: one character for each byte. */
  readonly target: string
  /** Flat and raw: name, value, name, value; repeated ones each on their own. */
  readonly headers: readonly string[]
  /** Remote address of the connection. */
  readonly peer: string
}

/** In the order in which they are taken. `judge` takes those up to `preflight`; the others are the worker's. */
export const steps = [
  'source',
  'target',
  'prefix',
  'path',
  'rule',
  'headers',
  'preflight',
  'rate',
  'body',
  'write_rate',
  'cache',
  'token',
  'forward',
] as const
export type Step = (typeof steps)[number]

export type Judgement = {
  /** `deny`: answer the reason's status. `preflight`: answer 204 here. `read`: GET or HEAD, `write`: POST, go on. */
  readonly next: 'deny' | 'preflight' | 'read' | 'write'
  /** The step that denied; the last one taken otherwise. */
  readonly step: Step
  /** Given with `deny` alone. */
  readonly reason: EarlyReason | undefined
  readonly source: Source
  /**
   * The normal form without the prefix; of a denied request without one the path as it came, cut to 1,024 characters, with
   * escapes for bytes that are not printable.
   */
  readonly path: string
  /** As it came, with its question mark; '' for none, and with `deny` and `preflight`. */
  readonly query: string
  /** Given with `read` and `write`. */
  readonly rule: Rule | undefined
  /** For `upstreamHeaders`: flat, chosen from the list; empty with `deny`. */
  readonly headers: readonly string[]
  /** Whether an answer may be kept: a cache is there, and the rule has not said cache=0. */
  readonly isCacheable: boolean
}

/** Never throws, whatever the bytes. Costs about a microsecond. */
export function judge(head: RequestHead, config: Config): Judgement {
  const headers = readHeaders(head.headers)
  const source = sourceOf(headers.forwarded, head.peer, config.depth, config.ipv6_prefix)
  const { method, target } = head
  const { prefix } = config
  if (target.charCodeAt(0) !== slash) return denied('target', 'not_origin_form', source, shown(target))
  if (target.length > config.max_target_bytes) return denied('target', 'target_too_long', source, shown(target))
  if (target.charCodeAt(prefix.length) !== slash || !target.startsWith(prefix)) {
    return denied('prefix', 'outside_prefix', source, shown(target))
  }
  const normal = normalForm(target, prefix.length)
  if ('denied' in normal) return denied('path', normal.denied, source, shown(target))
  const { path, query } = normal
  const rule = config.match(method, path)
  if (rule === undefined) return denied('rule', 'no_rule', source, path)
  if (rule === 'method' && method !== 'OPTIONS') return denied('rule', 'method', source, path)
  if (headers.fault) return denied('headers', headers.fault, source, path)
  if (headers.hasBody && method !== 'POST') return denied('headers', 'body_on_read', source, path)
  if (rule === 'method') {
    return { ...denied('preflight', 'method', source, path), next: 'preflight', reason: undefined }
  }
  return admitted(rule, source, path, query, headers, config)
}

const slash = 47
const shown_characters = 1_024
const nothing: readonly string[] = []

function admitted(
  rule: Rule,
  source: Source,
  path: string,
  query: string,
  { kept, accept_encoding }: Headers,
  config: Config,
): Judgement {
  const isRead = rule.method !== 'POST'
  const isCacheable = isRead && config.cache_max_bytes > 0 && config.cache_ttl_ms > 0 && rule.cache_s !== 0
  // Kept answers serve every caller, so the upstream is asked for the one encoding that every caller understands.
  const encoding = isCacheable ? 'identity' : accept_encoding
  const headers = encoding === '' ? kept : [...kept, 'accept-encoding', encoding]
  const next = isRead ? 'read' : 'write'
  return { next, step: 'preflight', reason: undefined, source, path, query, rule, headers, isCacheable }
}

function denied(step: Step, reason: EarlyReason, source: Source, path: string): Judgement {
  return { next: 'deny', step, reason, source, path, query: '', rule: undefined, headers: nothing, isCacheable: false }
}

/**
 * Without the query: it is not matched, and may hold what nobody should keep. Bytes that are no printable ASCII are escaped,
 * since logs and terminals would act on them.
 */
function shown(target: string): string {
  const end = target.search(/[?#]/)
  const path = target.slice(0, end < 0 ? shown_characters : Math.min(end, shown_characters))
  return path.replaceAll(/[^!-~]/g, (byte) => encodedByte(byte.charCodeAt(0)))
}

function encodedByte(code: number): string {
  return `%${(code & 255).toString(16).toUpperCase().padStart(2, '0')}`
}
