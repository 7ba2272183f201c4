// A request in transit: its bytes, and the progress of its response.
import type { ActiveRequest, ResponseSink, UpstreamRequest } from '../../../daemon/kernel/forward/upstream.ts'
import type { UpstreamConnection } from './upstream-connection.ts'

/** Characters that would end a line or a head early. */
const lineBreakPattern = /[\0\r\n]/
const pathPattern = /^\/[\x21-\x7e]*$/

export class UpstreamTransaction implements ActiveRequest {
  /** The whole request, one character per byte. */
  readonly text: string
  readonly method: UpstreamRequest['method']
  readonly sink: ResponseSink
  hasHead = false
  /** Retried on a new connection, for the last time. */
  isRetry = false
  isAborted = false
  /** The connection that carries it; none while it is queued. */
  connection: UpstreamConnection | undefined
  /** Deadline for getting a connection. */
  wait_deadline = 0

  /** @throws Error when a part holds a byte that would end a line. */
  constructor(request: UpstreamRequest, sink: ResponseSink) {
    this.text = formatRequest(request)
    this.method = request.method
    this.sink = sink
  }

  abort(): void {
    if (this.isAborted) return
    this.isAborted = true
    this.connection?.abort(this)
  }

  resume(): void {
    this.connection?.resume(this)
  }
}

function formatRequest({ method, path, headers, body }: UpstreamRequest): string {
  if (!pathPattern.test(path)) throw new Error('the path holds bytes that are not allowed in a path')
  let text = `${method} ${path} HTTP/1.1\r\n`
  for (let at = 0; at < headers.length; at += 2) {
    const field = `${headers[at]}: ${headers[at + 1]}`
    // Without the value: it may be a secret.
    if (lineBreakPattern.test(field))
      throw new Error(`${JSON.stringify(headers[at])} holds bytes that are not allowed in a header field`)
    text += `${field}\r\n`
  }
  if (method !== 'POST') return `${text}\r\n`
  return body
    ? `${text}content-length: ${body.length}\r\n\r\n${body.toString('latin1')}`
    : `${text}content-length: 0\r\n\r\n`
}
