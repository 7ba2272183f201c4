// A request in transit: its bytes, and the progress of its response.
import type {
  ActiveRequest,
  ForwardLimits,
  ResponseSink,
  StreamedBody,
  UpstreamRequest,
} from '../../../daemon/kernel/forward/upstream.ts'
import type { CoarseClock } from './coarse-clock.ts'
import { formatRequest, isStreamed } from './request-text.ts'
import type { UpstreamConnection } from './upstream-connection.ts'

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
