// Forwards one exchange to an upstream: body and response stream in both directions, and each side slows the other down.
import type { BodyFailure, BodySink, Exchange, ResponseProducer } from './exchange.ts'
import { removeHopHeaders } from './hop-headers.ts'
import type {
  ActiveRequest,
  ForwardLimits,
  ResponseSink,
  StreamedBody,
  Upstream,
  UpstreamFailure,
  UpstreamRequest,
} from './upstream.ts'

export type ForwardFailure = UpstreamFailure | BodyFailure

/** What a role decides about one request before it is forwarded. */
export type ForwardRoute = {
  /** Path and query at the upstream. */
  readonly path: string
  /** For the upstream, alternating names and values: `host`, and the client's headers that `removeHopHeaders` leaves. */
  readonly headers: readonly string[]
  readonly max_body_bytes: number
  readonly limits: ForwardLimits
  /** Headers of the response for the client, from those of the upstream without the headers of its connection. */
  answerHeaders(status: number, headers: readonly string[]): readonly string[]
  /** The upstream answers with this status. Called once at most. */
  onAnswer(status: number): void
  /**
   * The last call. Without a failure the response was complete, or both sides of the switched protocol have ended. After a
   * failure without `onAnswer` the role replies, with `failureStatuses` for example; no client reads a reply to `gone`.
   */
  onEnd(failure: ForwardFailure | undefined): void
}

/** Statuses of replies to failures. */
export const failureStatuses: Readonly<Record<ForwardFailure, number>> = {
  address: 502,
  connect: 502,
  busy: 503,
  no_member: 503,
  timeout: 504,
  closed: 502,
  protocol: 502,
  too_large: 413,
  too_slow: 408,
  malformed: 400,
  gone: 499,
}

/**
 * Why an exchange may not be forwarded whatever its route: a fault of the request; a method whose answer would be a tunnel or
 * show the headers that a role adds; a body of a method that has none, which another server could take for a request.
 * @returns the status of the reply; undefined for a request that may be forwarded.
 */
export function findForwardFault({ fault, method, framing }: Exchange): number | undefined {
  if (fault) return fault.status
  if (method === 'CONNECT' || method === 'TRACE') return 405
  return framing !== 0 && (method === 'GET' || method === 'HEAD') ? 400 : undefined
}

/**
 * Forwards the request, and answers with the response of the upstream. An early response is passed on while the body is still
 * being sent; the body ends with the response.
 * @returns a function that ends the exchange: when the credential of its caller expires, for example.
 * @throws Error as `Upstream.forward` does; nothing was answered then.
 */
export function forwardExchange(exchange: Exchange, upstream: Upstream, route: ForwardRoute): () => void {
  const relay = new ExchangeRelay(exchange, route)
  relay.start(upstream)
  return () => relay.cut()
}

class ExchangeRelay implements ResponseSink, ResponseProducer {
  readonly #exchange: Exchange
  readonly #route: ForwardRoute
  #active: ActiveRequest | undefined
  #status = 0
  /** Of the directions that must end; both of a switched protocol, else the response alone. */
  #openDirections = 1
  #isOver = false

  constructor(exchange: Exchange, route: ForwardRoute) {
    this.#exchange = exchange
    this.#route = route
  }

  start(upstream: Upstream): void {
    const { path, headers, limits, max_body_bytes } = this.#route
    const { method, framing, upgrade } = this.#exchange
    if (framing !== 'chunked' && framing > max_body_bytes) {
      this.#end('too_large')
      return
    }
    const request: UpstreamRequest = { method, path, headers, limits }
    const body = framing === 0 && !upgrade ? {} : { body: this.#streamedBody() }
    this.#exchange.answering = this
    this.#active = upstream.forward({ ...request, ...body, ...(upgrade ? { upgrade } : {}) }, this)
  }

  head(status: number, rawHeaders: readonly string[], length: number | undefined): void {
    this.#status = status
    this.#route.onAnswer(status)
    const headers = this.#route.answerHeaders(status, removeHopHeaders(rawHeaders))
    if (status === 101) {
      this.#openDirections = 2
      this.#exchange.switchProtocols(headers)
    } else this.#exchange.begin(status, headers, length)
  }

  data(bytes: Buffer): boolean {
    return this.#exchange.write(Buffer.from(bytes))
  }

  /** Nothing is held back. */
  flush(): void {}

  end(): void {
    this.#exchange.end()
    this.#endDirection()
  }

  fail(failure: UpstreamFailure): void {
    this.#end(failure)
  }

  gone(): void {
    this.#breakOff('gone')
  }

  drained(): void {
    this.#active?.resume()
  }

  cut(): void {
    this.#breakOff('gone')
    this.#exchange.cut()
  }

  #streamedBody(): StreamedBody {
    const { framing, upgrade } = this.#exchange
    const max_bytes = upgrade ? Number.POSITIVE_INFINITY : this.#route.max_body_bytes
    const sink: BodySink = {
      data: (bytes) => this.#active?.write(bytes) ?? false,
      end: () => this.#endBody(),
      fail: (failure) => this.#breakOff(failure),
    }
    return {
      length: framing === 'chunked' ? undefined : framing,
      ready: () => this.#exchange.streamBody(max_bytes, sink),
      drained: () => this.#exchange.resumeBody(),
    }
  }

  #endBody(): void {
    this.#active?.end()
    if (this.#status === 101) this.#endDirection()
  }

  #endDirection(): void {
    this.#openDirections -= 1
    if (this.#openDirections === 0) this.#end(undefined)
  }

  #breakOff(failure: BodyFailure): void {
    this.#active?.abort()
    this.#end(failure)
  }

  #end(failure: ForwardFailure | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#route.onEnd(failure)
    if (failure && this.#status !== 0) this.#exchange.cut()
  }
}
