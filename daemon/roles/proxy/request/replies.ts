// The proxy's own responses: short, and equal for every request of a status, so that they reveal nothing.
import { buildOwnHeaders } from '../response/headers.ts'

/** `headers`: alternating names and values, in lower case, without Content-Length; `body` in ASCII, not for HEAD. */
export type LocalReply = { readonly status: number; readonly headers: readonly string[]; readonly body: string }

/** Statuses of the table in `reasons.ts`, and those with which the listener answers bytes that are not a request. */
const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  404: 'Not Found',
  408: 'Request Timeout',
  413: 'Content Too Large',
  417: 'Expectation Failed',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** `retry_after_s`: for 429 and 503, when it is known. */
export function buildLocalReply(status: number, cors_origin: string, retry_after_s?: number): LocalReply {
  const body = `{"status":${status},"title":"${titles[status] ?? 'Error'}"}`
  const headers = ['content-type', 'application/json', ...buildOwnHeaders(cors_origin)]
  if (retry_after_s !== undefined) headers.push('retry-after', String(retry_after_s))
  return { status, headers, body }
}

const max_requested_characters = 1_024
const tokenPattern = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const tokenListPattern = new RegExp(`^${tokenPattern}(?:[ \\t]*,[ \\t]*${tokenPattern})*$`)

/**
 * The response to a preflight. It allows the requested headers, as the interface requires, although only those on the
 * list are forwarded. `raw`: headers of the request, alternating names and values.
 */
export function buildPreflightReply(raw: readonly string[], cors_origin: string, hasPost: boolean): LocalReply {
  const headers = [
    'access-control-allow-origin',
    cors_origin,
    'access-control-allow-methods',
    hasPost ? 'GET, HEAD, OPTIONS, POST' : 'GET, HEAD, OPTIONS',
    'access-control-max-age',
    '600',
    'vary',
    'Access-Control-Request-Headers',
  ]
  const at = raw.findIndex((name, place) => place % 2 === 0 && name.toLowerCase() === 'access-control-request-headers')
  const requested = at < 0 ? '' : (raw[at + 1] ?? '').trim()
  if (requested.length <= max_requested_characters && tokenListPattern.test(requested))
    headers.push('access-control-allow-headers', requested)
  return { status: 204, headers, body: '' }
}
