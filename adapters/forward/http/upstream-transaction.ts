// A request on its way: its bytes, and how far its answer has come.
import type { ActiveRequest, ResponseSink, UpstreamRequest } from '../../../daemon/kernel/forward/upstream.ts'
import type { UpstreamConnection } from './upstream-connection.ts'

/** What would end a line, or a head, where it does not end. */
const lineBreakPattern = /[\0\r\n]/
const pathPattern = /^\/[\x21-\x7e]*$/

export class UpstreamTransaction implements ActiveRequest {
  /** The whole request, one character a byte. */
  readonly text: string
  readonly method: UpstreamRequest['method']
  readonly sink: ResponseSink
  hasHead = false
  /** It goes on a connection of its own, and for the last time. */
  isRetry = false
  isAborted = false
  /** What carries it; none while it waits for one. */
  connection: UpstreamConnection | undefined
  /** When it has waited too long for a connection. */
  wait_deadline = 0

  /** @throws Error where a part would break the lines. */
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
  if (!pathPattern.test(path)) throw new Error('the path holds bytes that no path may have')
  let text = `${method} ${path} HTTP/1.1\r\n`
  for (let at = 0; at < headers.length; at += 2) {
    const field = `${headers[at]}: ${headers[at + 1]}`
    // Without the value: it may be a secret.
    if (lineBreakPattern.test(field))
      throw new Error(`${JSON.stringify(headers[at])} holds bytes that no field may have`)
    text += `${field}\r\n`
  }
  if (method !== 'POST') return `${text}\r\n`
  return body
    ? `${text}content-length: ${body.length}\r\n\r\n${body.toString('latin1')}`
    : `${text}content-length: 0\r\n\r\n`
}
