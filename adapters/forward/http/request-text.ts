// The text of a request for an upstream: its head, and a body that is known whole.

import { findMethodFault, isForwardedPath } from '../../../daemon/kernel/forward/request-line.ts'
import type { StreamedBody, UpstreamRequest } from '../../../daemon/kernel/forward/upstream.ts'

const namePattern = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
/** One character a byte: of a character above them the lower byte alone would be sent, a line break perhaps. */
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/
/** Methods that announce even an empty body (RFC 9110, section 8.6). */
const methodsWithContent: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

/** Framing, and fields of this connection. */
const ownNames: ReadonlySet<string> = new Set(['connection', 'content-length', 'transfer-encoding', 'upgrade'])

/** What in the request servers could read differently; undefined for a request that may be sent. */
export function findRequestFault({ method, path, headers }: UpstreamRequest): string | undefined {
  if (findMethodFault(method)) return `the method ${JSON.stringify(method.slice(0, 32))} is not forwarded`
  if (!isForwardedPath(path)) return 'the path is not one, or holds bytes that are not allowed in a path'
  let hosts = 0
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string
    // Without the value: it may be a secret.
    if (!namePattern.test(name) || !valuePattern.test(headers[at + 1] as string))
      return `the header ${JSON.stringify(name)} holds bytes that are not allowed in a header`
    const lower = name.toLowerCase()
    if (ownNames.has(lower)) return `the header ${JSON.stringify(name)} is written by the client of the upstream alone`
    if (lower === 'host') hosts += 1
  }
  return hosts === 1 ? undefined : `the header "host" is given ${hosts} times; exactly one is allowed`
}

/** One character a byte. The request has no fault. */
export function formatRequest({ method, path, headers, body, upgrade }: UpstreamRequest): string {
  let text = `${method} ${path} HTTP/1.1\r\n`
  for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`
  if (upgrade) return `${text}connection: Upgrade\r\nupgrade: ${upgrade}\r\n\r\n`
  if (isStreamed(body)) return `${text}${formatFraming(body)}\r\n\r\n`
  if (body) return `${text}content-length: ${body.length}\r\n\r\n${body.toString('latin1')}`
  return methodsWithContent.has(method) ? `${text}content-length: 0\r\n\r\n` : `${text}\r\n`
}

export const isStreamed = (body: UpstreamRequest['body']): body is StreamedBody => body !== undefined && 'ready' in body

const formatFraming = ({ length }: StreamedBody) =>
  length === undefined ? 'transfer-encoding: chunked' : `content-length: ${length}`
