// The head of a public request, and the decision that follows from the head alone.
import type { AllowlistRule } from '../allowlist/rule.ts'
import type { HeadDenialReason } from '../reasons.ts'
import type { RequestSource } from './source.ts'

export type RequestHead = {
  readonly method: string
  /** The target of the request line byte for byte, one character for each byte. */
  readonly target: string
  /** Alternating names and values, as the client wrote them; repeated headers are separate. */
  readonly headers: readonly string[]
  /** Remote address of the connection. */
  readonly peer: string
}

/** Names of the steps in `serving/request-steps.ts`; also the names in the output of `platform proxy check`. */
export type RequestStepName =
  | 'source'
  | 'target'
  | 'prefix'
  | 'path'
  | 'rule'
  | 'headers'
  | 'preflight'
  | 'rate'
  | 'body'
  | 'write_rate'
  | 'cache'
  | 'token'
  | 'forward'

export type RequestDecision = {
  /** `deny`: answer with the status of `reason`. `preflight`: answer 204. `read` (GET, HEAD) and `write` (POST): continue. */
  readonly next: 'deny' | 'preflight' | 'read' | 'write'
  /** The step that denied the request; otherwise the last step that needs only the head. */
  readonly step: RequestStepName
  /** Set with `deny` only. */
  readonly reason: HeadDenialReason | undefined
  readonly source: RequestSource
  /**
   * The normal form without the prefix. For a denied request without a normal form: the path as received, cut to 1,024
   * characters, with escapes for bytes that are not printable.
   */
  readonly path: string
  /** The query as received, with its question mark; '' for none, and with `deny` and `preflight`. */
  readonly query: string
  /** Set with `read` and `write`. */
  readonly rule: AllowlistRule | undefined
  /**
   * Input of `buildUpstreamHeaders`: alternating names and values from the list of forwarded headers; empty with
   * `deny`.
   */
  readonly headers: readonly string[]
  /** Whether the response may be cached: a cache exists, and the rule does not have cache=0. */
  readonly isCacheable: boolean
}
