// Reasons for the end of a public request: one table for the status of the response, the audit record and the metric.
import type { TargetFault } from '../../kernel/forward/normal-target.ts'

/** The verdict in the audit record, in the terms of the interface. */
export type RequestVerdict = 'allow' | 'denied' | 'method_not_allowed'

/** `status`: null where the response is that of the upstream or the cache, or the caller has disconnected. */
export type ProxyReasonEntry = {
  readonly verdict: RequestVerdict
  readonly status: number | null
  readonly description: string
}

const allow = (status: number | null, description: string): ProxyReasonEntry => ({
  verdict: 'allow',
  status,
  description,
})
const deny = (status: number, description: string): ProxyReasonEntry => ({ verdict: 'denied', status, description })
/** Denies with the response of an upstream that does not know the path, so that probes reveal nothing. */
const hide = (says: string): ProxyReasonEntry => deny(404, says)

export const reasons = {
  forwarded: allow(null, 'The upstream answered the forwarded request.'),
  cache_hit: allow(null, 'Answered from the cache.'),
  preflight: allow(204, 'A CORS preflight, answered here.'),
  upstream_unreachable: allow(502, 'No connection to the upstream could be established.'),
  upstream_address: allow(502, 'The upstream’s name leads to an address that is private and not trusted.'),
  upstream_timeout: allow(504, 'The upstream did not answer in time.'),
  upstream_protocol: allow(502, 'The response of the upstream is not valid HTTP.'),
  client_gone: allow(null, 'The caller disconnected before the upstream answered.'),

  not_origin_form: hide('The target does not begin with a slash (absolute, authority or asterisk form).'),
  target_too_long: hide('The target is longer than proxy.max_target_bytes.'),
  outside_prefix: hide('The path is not under the public prefix.'),
  path_character: hide('The path has a byte that must be escaped in a URI path.'),
  bad_escape: hide('A percent sign is not followed by two hexadecimal digits.'),
  control_escape: hide('An escape stands for a control, format or separator character, or for none that is assigned.'),
  encoded_slash: hide('The path has an escaped slash, which servers interpret differently.'),
  backslash: hide('The path has a backslash, which some servers read as a slash.'),
  double_encoding: hide('The path has an escaped percent sign that yields another escape when decoded twice.'),
  bad_utf8: hide('The escapes are not valid UTF-8.'),
  lookalike: hide('The path has a character that Unicode normalisation turns into a delimiter such as a slash or dot.'),
  dot_id: hide('The last segment is . or .., where a name belongs.'),
  dot_parameter: hide('A segment without its ; parameters and trailing spaces is empty or dots.'),
  above_root: hide('Dot segments lead above the public prefix.'),
  query_character: hide('The query has a control byte, a space, or a byte beyond ASCII.'),
  fragment: hide('The target has a fragment, which clients must not send.'),
  no_rule: hide('No rule of the allowlist names this path.'),
  method: {
    verdict: 'method_not_allowed',
    status: 404,
    description: 'Rules name the path, but none allows this method.',
  },

  duplicate_header: deny(400, 'A header that must be unique occurs twice.'),
  header_character: deny(400, 'A header that would be forwarded has a byte beyond printable ASCII.'),
  framing: deny(400, 'Content-Length or Transfer-Encoding is ambiguous, or both are present.'),
  body_on_read: deny(400, 'GET, HEAD and OPTIONS must not have a body.'),
  malformed: deny(400, 'The request is not valid HTTP.'),
  expectation: deny(417, 'The Expect header is not 100-continue.'),
  slow_client: deny(408, 'The request did not arrive in time.'),
  rate_limited: deny(429, 'The source has reached its limit of requests for this window.'),
  rule_rate_limited: deny(429, 'The source has reached the limit= of the rule for this window.'),
  write_rate_limited: deny(429, 'The source has reached its limit of writes for this window.'),
  body_too_large: deny(413, 'The body is larger than WRITE_MAX_BODY_BYTES.'),
  client_left: {
    verdict: 'denied',
    status: null,
    description: 'The caller disconnected before the request was complete, or before it could be forwarded.',
  },
  counter_unavailable: deny(503, 'The counters cannot be reached; requests that cannot be counted are refused.'),
  token_unavailable: deny(503, 'No service token can be obtained.'),
} as const satisfies Readonly<Record<string, ProxyReasonEntry>>

export type ProxyReason = keyof typeof reasons

/** Reasons of the head steps: nothing was counted, read or requested yet. */
export type HeadDenialReason =
  | TargetFault
  | 'not_origin_form'
  | 'target_too_long'
  | 'outside_prefix'
  | 'no_rule'
  | 'method'
  | 'duplicate_header'
  | 'header_character'
  | 'framing'
  | 'body_on_read'

export function lookUpReason(reason: ProxyReason): ProxyReasonEntry {
  return reasons[reason]
}
