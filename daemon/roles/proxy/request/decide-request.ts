// The steps of a request that need nothing but its head: source, headers, prefix, normal form, rule, preflight, in this order.
import type { AllowlistRule } from '../allowlist/rule.ts'
import type { ProxyConfig } from '../config.ts'
import type { HeadDenialReason } from '../reasons.ts'
import { type ProxyRequestHeaders, readRequestHeaders } from './headers.ts'
import { normaliseTarget } from './path.ts'
import { identifySource, type RequestSource } from './source.ts'

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
export const requestSteps = [
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
export type RequestStepName = (typeof requestSteps)[number]

export type RequestDecision = {
  /** `deny`: answer the reason's status. `preflight`: answer 204 here. `read`: GET or HEAD, `write`: POST, go on. */
  readonly next: 'deny' | 'preflight' | 'read' | 'write'
  /** The step that denied; the last one taken otherwise. */
  readonly step: RequestStepName
  /** Given with `deny` alone. */
  readonly reason: HeadDenialReason | undefined
  readonly source: RequestSource
  /**
   * The normal form without the prefix; of a denied request without one the path as it came, cut to 1,024 characters, with
   * escapes for bytes that are not printable.
   */
  readonly path: string
  /** As it came, with its question mark; '' for none, and with `deny` and `preflight`. */
  readonly query: string
  /** Given with `read` and `write`. */
  readonly rule: AllowlistRule | undefined
  /** For `buildUpstreamHeaders`: flat, chosen from the list; empty with `deny`. */
  readonly headers: readonly string[]
  /** Whether an answer may be kept: a cache is there, and the rule has not said cache=0. */
  readonly isCacheable: boolean
}

/** Never throws, whatever the bytes. Costs about a microsecond. */
export function decideRequest(head: RequestHead, config: ProxyConfig): RequestDecision {
  const headers = readRequestHeaders(head.headers)
  const source = identifySource(headers.forwarded_for, head.peer, config.depth, config.ipv6_prefix)
  const { method, target } = head
  const { prefix } = config
  if (target.charCodeAt(0) !== slash_code)
    return denyRequest('target', 'not_origin_form', source, printableTarget(target))
  if (target.length > config.max_target_bytes)
    return denyRequest('target', 'target_too_long', source, printableTarget(target))
  if (target.charCodeAt(prefix.length) !== slash_code || !target.startsWith(prefix)) {
    return denyRequest('prefix', 'outside_prefix', source, printableTarget(target))
  }
  const normal = normaliseTarget(target, prefix.length)
  if ('denied' in normal) return denyRequest('path', normal.denied, source, printableTarget(target))
  const { path, query } = normal
  const rule = config.match(method, path)
  if (rule === undefined) return denyRequest('rule', 'no_rule', source, path)
  if (rule === 'method' && method !== 'OPTIONS') return denyRequest('rule', 'method', source, path)
  if (headers.fault) return denyRequest('headers', headers.fault, source, path)
  if (headers.hasBody && method !== 'POST') return denyRequest('headers', 'body_on_read', source, path)
  if (rule === 'method') {
    return { ...denyRequest('preflight', 'method', source, path), next: 'preflight', reason: undefined }
  }
  return admitRequest(rule, source, path, query, headers, config)
}

const slash_code = 47
const max_shown_characters = 1_024
const noHeaders: readonly string[] = []

function admitRequest(
  rule: AllowlistRule,
  source: RequestSource,
  path: string,
  query: string,
  { allowed, accept_encoding }: ProxyRequestHeaders,
  config: ProxyConfig,
): RequestDecision {
  const isRead = rule.method !== 'POST'
  const isCacheable = isRead && config.cache_max_bytes > 0 && config.cache_ttl_ms > 0 && rule.cache_s !== 0
  // Kept answers serve every caller, so the upstream is asked for the one encoding that every caller understands.
  const encoding = isCacheable ? 'identity' : accept_encoding
  const headers = encoding === '' ? allowed : [...allowed, 'accept-encoding', encoding]
  const next = isRead ? 'read' : 'write'
  return { next, step: 'preflight', reason: undefined, source, path, query, rule, headers, isCacheable }
}

function denyRequest(
  step: RequestStepName,
  reason: HeadDenialReason,
  source: RequestSource,
  path: string,
): RequestDecision {
  return {
    next: 'deny',
    step,
    reason,
    source,
    path,
    query: '',
    rule: undefined,
    headers: noHeaders,
    isCacheable: false,
  }
}

/**
 * Without the query: it is not matched, and may hold what nobody should keep. Bytes that are no printable ASCII are escaped,
 * since logs and terminals would act on them.
 */
function printableTarget(target: string): string {
  const end = target.search(/[?#]/)
  const path = target.slice(0, end < 0 ? max_shown_characters : Math.min(end, max_shown_characters))
  return path.replaceAll(/[^!-~]/g, (byte) => escapeByte(byte.charCodeAt(0)))
}

function escapeByte(code: number): string {
  return `%${(code & 255).toString(16).toUpperCase().padStart(2, '0')}`
}
