// Forwards one exchange to an upstream: body and response stream in both directions, and each side slows the other down.
import type { BodyFailure, BodySink, Exchange, ResponseProducer } from './exchange.ts'
import { removeHopHeaders } from './hop-headers.ts'
import type { ActiveRequest, ForwardLimits, ResponseSink, StreamedBody, Upstream, UpstreamFailure } from './upstream.ts'

export type ForwardFailure = UpstreamFailure | BodyFailure

/** What a role decides about one request before it is forwarded, and what it learns of the response. */
export type ForwardRoute = {
  /** Path and query at the upstream. */
  readonly path: string
  /** For the upstream, alternating names and values: `host`, and the client's headers that `removeHopHeaders` leaves. */
  readonly headers: readonly string[]
  /** A body that the role has read whole. Absent: the body of the exchange is sent as it arrives. */
  readonly body?: Buffer | undefined
  /** Of a body that is sent as it arrives. */
  readonly max_body_bytes: number
  /** Absent: the limits of the upstream. */
  readonly limits?: ForwardLimits | undefined
  /**
   * Headers of the response for the client, from those of the upstream without the headers of its connection: names in lower
   * case, in a list that the role may keep and change.
   */
  answerHeaders(status: number, headers: string[]): readonly string[]
  /**
   * The upstream answers; the parameters are those of `ResponseSink.head`. Called once at most. The response is held until
   * `release`.
   */
  onAnswer(status: number, rawHeaders: readonly string[], length: number | undefined, isFramed: boolean): void
  /** Bytes of the response's body, which are overwritten after the call. */
  onData?(bytes: Buffer): void
  /**
   * The last call. Without a failure the response was complete, or both sides of the switched protocol have ended. After a
   * failure without `onAnswer` the role replies; no client reads a reply to `gone`.
   */
  onEnd(failure: ForwardFailure | undefined): void
}

/** A request that was forwarded. */
export type ForwardedExchange = {
  /** Begins the response to the client: at once, or when the role has recorded it. Does nothing before `onAnswer`. */
  release(): void
  /** Ends the exchange: when the credential of its caller expires, for example. */
  cut(): void
}

/**
 * Forwards the request, and answers with the response of the upstream. An early response is passed on while the body is still
 * being sent; the body ends with the response. No function of the route but `onEnd` is called before this returns.
 */
export function forwardExchange(exchange: Exchange, upstream: Upstream, route: ForwardRoute): ForwardedExchange {
  const relay = new ExchangeRelay(exchange, route)
  relay.start(upstream)
  return relay
}

/** Characters of a response that are held until its release. The upstream is paused beyond. */
const max_held_bytes = 65_536

class ExchangeRelay implements ForwardedExchange, ResponseSink, ResponseProducer {
  readonly #exchange: Exchange
  readonly #route: ForwardRoute
  #active: ActiveRequest | undefined
  #state: 'waiting' | 'held' | 'streaming' = 'waiting'
  /** The bytes of one read of the upstream, its head among them, are still coming. */
  #isReading = false
  /** Released while reading: what the read brings goes out with the head, in one write. */
  #isReleased = false
  #status = 0
  #headers: readonly string[] = []
  #length: number | undefined
  /** Bytes that were not sent yet, one character each, so that they go in one write with the head. */
  #held = ''
  /** The upstream's side was complete, or broke off, before the release. */
  #heldEnd: 'complete' | 'broken' | undefined
  /** The body of the client that follows the release: bytes of the protocol that is switched to. */
  #heldBody: BodySink | undefined
  /** Of the directions that must end; both of a switched protocol, else the response alone. */
  #openDirections = 1
  #isOver = false

  constructor(exchange: Exchange, route: ForwardRoute) {
    this.#exchange = exchange
    this.#route = route
  }

  start(upstream: Upstream): void {
    const { path, headers, limits, body, max_body_bytes } = this.#route
    const { method, framing, upgrade, isOver } = this.#exchange
    if (isOver) this.#end('gone')
    else if (!body && framing !== 'chunked' && framing > max_body_bytes) this.#end('too_large')
    else {
      const sent = body ?? (framing === 0 && !upgrade ? undefined : this.#streamedBody())
      this.#active = upstream.forward({ method, path, headers, body: sent, upgrade, limits }, this)
      this.#exchange.answering = this
    }
  }

  head(status: number, rawHeaders: readonly string[], length: number | undefined, isFramed: boolean): void {
    this.#status = status
    this.#length = length
    this.#headers = this.#route.answerHeaders(status, removeHopHeaders(rawHeaders))
    if (status === 101) this.#openDirections = 2
    this.#state = 'held'
    this.#isReading = true
    this.#route.onAnswer(status, rawHeaders, length, isFramed)
  }

  data(bytes: Buffer): boolean {
    this.#route.onData?.(bytes)
    if (this.#state === 'streaming') return this.#exchange.write(bytes)
    this.#held += bytes.toString('latin1')
    if (this.#held.length < max_held_bytes) return true
    // Released, all of it goes out now; else the upstream waits for the release.
    const isReleased = this.#isReleased
    this.#endReading()
    return isReleased
  }

  flush(): void {
    this.#endReading()
  }

  end(): void {
    this.#endDirection()
    if (this.#state === 'streaming') this.#exchange.end()
    else {
      this.#heldEnd = 'complete'
      this.#endReading()
    }
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

  release(): void {
    if (this.#state !== 'held') return
    if (this.#isReading) {
      this.#isReleased = true
      return
    }
    this.#state = 'streaming'
    const held = this.#held
    this.#held = ''
    if (this.#heldEnd === 'complete' && this.#status !== 101) this.#replyWhole(held)
    else this.#begin(held)
  }

  #endReading(): void {
    this.#isReading = false
    if (this.#isReleased) this.release()
  }

  #replyWhole(body: string): void {
    if (this.#exchange.method !== 'HEAD') this.#exchange.replyText(this.#status, this.#headers, body)
    else {
      this.#exchange.begin(this.#status, this.#headers, this.#length)
      this.#exchange.end()
    }
  }

  #begin(held: string): void {
    if (this.#status === 101) this.#exchange.switchProtocols(this.#headers)
    else this.#exchange.begin(this.#status, this.#headers, this.#length)
    const isTaken = held === '' || this.#exchange.write(held)
    if (this.#heldEnd === 'broken') this.#exchange.cut()
    else if (this.#heldEnd === 'complete') this.#exchange.end()
    else if (isTaken) this.#active?.resume()
    if (this.#heldBody) this.#exchange.streamBody(Number.POSITIVE_INFINITY, this.#heldBody)
  }

  #streamedBody(): StreamedBody {
    const { framing, upgrade } = this.#exchange
    const sink: BodySink = {
      data: (bytes) => this.#active?.write(bytes) ?? false,
      end: () => this.#endBody(),
      fail: (failure) => this.#breakOff(failure),
    }
    return {
      length: framing === 'chunked' ? undefined : framing,
      ready: () => {
        if (!upgrade) this.#exchange.streamBody(this.#route.max_body_bytes, sink)
        else if (this.#state === 'streaming') this.#exchange.streamBody(Number.POSITIVE_INFINITY, sink)
        else this.#heldBody = sink
      },
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
    if (!failure) return
    if (this.#state === 'streaming') this.#exchange.cut()
    else {
      this.#heldEnd = 'broken'
      this.#endReading()
    }
  }
}
