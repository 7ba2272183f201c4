// A request in transit: its bytes, and the progress of its response.
import type {
  ActiveRequest,
  ForwardLimits,
  ResponseSink,
  StreamedBody,
  UpstreamRequest,
} from '../../../daemon/kernel/forward/upstream.ts'
import type { CoarseClock } from './coarse-clock.ts'
import type { UpstreamConnection } from './upstream-connection.ts'

/** Characters that would end a line or a head early. */
const lineBreakPattern = /[\0\r\n]/
const pathPattern = /^\/[\x21-\x7e]*$/
const methodPattern = /^[!#$%&'*+\-.^_`|~\dA-Za-z]{1,32}$/
const refusedMethods: ReadonlySet<string> = new Set(['CONNECT', 'TRACE'])
/** Methods that announce even an empty body (RFC 9110, section 8.6). */
const methodsWithContent: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])
/** A second execution changes nothing more at the upstream (RFC 9110, section 9.2.2). */
const idempotentMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

export const isIdempotent = (method: string): boolean => idempotentMethods.has(method)

export class UpstreamTransaction implements ActiveRequest {
  /** All that is sent at once, one character per byte: the head, and a body that is known whole. */
  readonly text: string
  readonly method: string
  readonly upgrade: UpstreamRequest['upgrade']
  readonly limits: ForwardLimits | undefined
  readonly sink: ResponseSink
  /** The body that follows `text`, if it is streamed. */
  readonly streamed: StreamedBody | undefined
  hasHead = false
  /** Retried on a new connection, for the last time. */
  isRetry = false
  isAborted = false
  /** The connection that carries it; none while it is queued. */
  connection: UpstreamConnection | undefined
  /** Deadline for getting a connection. */
  wait_deadline = 0
  /** Deadline of the whole response. */
  readonly end_deadline: number

  /** @throws Error when the method is not forwarded, or a part holds a byte that would end a line. */
  constructor(request: UpstreamRequest, sink: ResponseSink, clock: Pick<CoarseClock, 'now'>) {
    this.text = formatRequest(request)
    this.method = request.method
    this.upgrade = request.upgrade
    this.limits = request.limits
    this.sink = sink
    this.streamed = isStreamed(request.body) ? request.body : undefined
    const total_ms = request.limits?.total_ms
    this.end_deadline = total_ms === undefined ? Number.POSITIVE_INFINITY : clock.now() + total_ms
  }

  /** May be sent a second time where the upstream has answered no byte: nothing of it is lost, and nothing happens twice. */
  get isRepeatable(): boolean {
    return !this.isRetry && !this.streamed && isIdempotent(this.method)
  }

  abort(): void {
    if (this.isAborted) return
    this.isAborted = true
    this.connection?.abort(this)
  }

  resume(): void {
    this.connection?.resume(this)
  }

  write(bytes: Buffer): boolean {
    return this.connection?.write(this, bytes) ?? true
  }

  end(): void {
    this.connection?.end(this)
  }
}

function formatRequest({ method, path, headers, body, upgrade }: UpstreamRequest): string {
  if (!methodPattern.test(method) || refusedMethods.has(method))
    throw new Error(`the method ${JSON.stringify(method.slice(0, 32))} is not forwarded`)
  if (!pathPattern.test(path)) throw new Error('the path holds bytes that are not allowed in a path')
  let text = `${method} ${path} HTTP/1.1\r\n`
  for (let at = 0; at < headers.length; at += 2) {
    const field = `${headers[at]}: ${headers[at + 1]}`
    // Without the value: it may be a secret.
    if (lineBreakPattern.test(field))
      throw new Error(`${JSON.stringify(headers[at])} holds bytes that are not allowed in a header field`)
    text += `${field}\r\n`
  }
  if (upgrade) return `${text}connection: Upgrade\r\nupgrade: ${upgrade}\r\n\r\n`
  if (isStreamed(body)) return `${text}${formatFraming(body)}\r\n\r\n`
  if (body) return `${text}content-length: ${body.length}\r\n\r\n${body.toString('latin1')}`
  return methodsWithContent.has(method) ? `${text}content-length: 0\r\n\r\n` : `${text}\r\n`
}

export const isStreamed = (body: UpstreamRequest['body']): body is StreamedBody => body !== undefined && 'ready' in body

const formatFraming = ({ length }: StreamedBody) =>
  length === undefined ? 'transfer-encoding: chunked' : `content-length: ${length}`
