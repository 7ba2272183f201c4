// Why a public request ended as it did: one table for the status of the response, the audit record and the metric.

/** The verdict in the audit record, in the terms of the interface. */
export type RequestVerdict = 'allow' | 'denied' | 'method_not_allowed'

/** `status`: null where the response is that of the upstream or the cache, or the caller has left. */
export type ProxyReasonEntry = {
  readonly verdict: RequestVerdict
  readonly status: number | null
  readonly says: string
}

const allow = (status: number | null, says: string): ProxyReasonEntry => ({ verdict: 'allow', status, says })
const deny = (status: number, says: string): ProxyReasonEntry => ({ verdict: 'denied', status, says })
/** The response of an upstream that does not know the path, so that a probe learns nothing. */
const hide = (says: string): ProxyReasonEntry => deny(404, says)

export const reasons = {
  forwarded: allow(null, 'Forwarded, and answered by the upstream.'),
  cache_hit: allow(null, 'Answered from the cache.'),
  preflight: allow(204, 'A CORS preflight, answered here.'),
  upstream_unreachable: allow(502, 'No connection to the upstream.'),
  upstream_address: allow(502, 'The upstream’s name leads to an address that is private and not trusted.'),
  upstream_timeout: allow(504, 'The upstream did not answer in time.'),
  upstream_protocol: allow(502, 'The upstream’s answer is not sound HTTP.'),
  client_gone: allow(null, 'The caller left while the upstream was asked.'),

  not_origin_form: hide('The target does not begin with a slash (absolute, authority or asterisk form).'),
  target_too_long: hide('The target is longer than proxy.max_target_bytes.'),
  outside_prefix: hide('The path is not under the public prefix.'),
  path_character: hide('The path has a byte that no URI path may have unescaped.'),
  bad_escape: hide('A percent sign is not followed by two hexadecimal digits.'),
  control_escape: hide('An escape stands for a control character.'),
  encoded_slash: hide('An escaped slash: one segment to some, two to others.'),
  backslash: hide('A backslash, which some read as a slash.'),
  double_encoding: hide('An escaped percent sign that makes another escape when it is decoded again.'),
  bad_utf8: hide('The escapes are not valid UTF-8.'),
  lookalike: hide('A character that turns into a slash, dot or other delimiter when Unicode text is normalised.'),
  dot_id: hide('The last segment is . or .., where a name belongs.'),
  dot_parameter: hide('A segment is empty or dots once its ; parameters or trailing spaces are taken away.'),
  above_root: hide('Dot segments climb above the public prefix.'),
  query_character: hide('The query has a control byte, a space, or a byte beyond ASCII.'),
  fragment: hide('A fragment, which is not for servers.'),
  no_rule: hide('No rule of the allowlist names this path.'),
  method: { verdict: 'method_not_allowed', status: 404, says: 'A rule names the path, and none this method.' },

  duplicate_header: deny(400, 'A header that may stand once stands twice.'),
  header_character: deny(400, 'A header that would be forwarded has a byte beyond printable ASCII.'),
  framing: deny(400, 'Content-Length or Transfer-Encoding is unclear, or both are there.'),
  body_on_read: deny(400, 'GET, HEAD and OPTIONS take no body.'),
  malformed: deny(400, 'Not sound HTTP.'),
  expectation: deny(417, 'An expectation other than 100-continue.'),
  slow_client: deny(408, 'The request did not come in time.'),
  rate_limited: deny(429, 'The source has had its requests for this window.'),
  rule_rate_limited: deny(429, 'The source has had the requests for this window that the rule’s limit= gives.'),
  write_rate_limited: deny(429, 'The source has had its writes for this window.'),
  body_too_large: deny(413, 'The body is larger than WRITE_MAX_BODY_BYTES.'),
  client_left: {
    verdict: 'denied',
    status: null,
    says: 'The caller left before the request was whole, or before it could be forwarded.',
  },
  counter_unavailable: deny(503, 'The counters cannot be reached: nothing is let through uncounted.'),
  token_unavailable: deny(503, 'No service token can be had.'),
} as const satisfies Readonly<Record<string, ProxyReasonEntry>>

export type ProxyReason = keyof typeof reasons

/** Why a target has no normal form. */
export type PathDenialReason =
  | 'path_character'
  | 'bad_escape'
  | 'control_escape'
  | 'encoded_slash'
  | 'backslash'
  | 'double_encoding'
  | 'bad_utf8'
  | 'lookalike'
  | 'dot_id'
  | 'dot_parameter'
  | 'above_root'
  | 'query_character'
  | 'fragment'

/** Reasons of the head steps: nothing was counted, read or requested yet. */
export type HeadDenialReason =
  | PathDenialReason
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
