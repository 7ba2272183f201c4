// The steps of a request that need nothing but its head: source, headers, prefix, normal form, rule, preflight, in this order.
import type { Rule } from '../allowlist/rule.ts'
import type { Config } from '../config.ts'
import type { EarlyReason } from '../reasons.ts'
import { readHeaders } from './headers.ts'
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
  /** The normal form without the prefix; of a denied request without one the path as it came, cut to 1,024 characters. */
  readonly path: string
  /** As it came, with its question mark; '' for none, and with `deny`. */
  readonly query: string
  /** Given with `read` and `write`. */
  readonly rule: Rule | undefined
  /** For `upstreamHeaders`: flat, chosen from the list; empty with `deny`. */
  readonly headers: readonly string[]
  /** Whether an answer may be kept: a cache is there, and the rule has not said cache=0. */
  readonly isCacheable: boolean
}

/** Costs about a microsecond. Never throws, whatever the bytes. */
export function judge(head: RequestHead, config: Config): Judgement {
  const headers = readHeaders(head.headers)
  const source = sourceOf(headers.forwarded, head.peer, config.depth, config.ipv6_prefix)
  void normalForm
  throw new Error(`not yet ${source.address}`)
}
