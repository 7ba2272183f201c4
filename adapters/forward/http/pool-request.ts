// One request to a pool: tries another member where the request has certainly, or harmlessly, not been served.
import type {
  ActiveRequest,
  ResponseSink,
  StreamedBody,
  UpstreamFailure,
  UpstreamRequest,
} from '../../../daemon/kernel/forward/upstream.ts'
import { isIdempotent, isStreamed } from './upstream-transaction.ts'

/** The pool, which a request asks for members. */
export type PoolAttempts = {
  now(): number
  /** Undefined where every member is down or tried. */
  choose(tried: ReadonlySet<number>): number | undefined
  /** @throws Error as `Upstream.forward` does. */
  begin(member: number, request: UpstreamRequest, sink: ResponseSink): ActiveRequest
  /** Evidence of the health of a member. */
  observe(member: number, isOk: boolean): void
  /** The request is over at the member. */
  finish(member: number): void
}

/** With these a server in front of a member reports that it is unavailable. A member that fails fast is never busy. */
const unavailable_statuses: ReadonlySet<number> = new Set([502, 503, 504])

/** No byte of the request was sent. */
const unsentFailures: ReadonlySet<UpstreamFailure> = new Set(['address', 'connect', 'busy'])

export class PoolRequest implements ActiveRequest {
  readonly #pool: PoolAttempts
  readonly #request: UpstreamRequest
  readonly #sink: ResponseSink
  readonly #began_at: number
  readonly #tried = new Set<number>()
  #member: number | undefined
  #active: ActiveRequest | undefined
  #hasHead = false
  /** The streamed body has begun: it cannot be sent again. */
  #hasBegunBody = false
  #isAborted = false
  #hasSwitched = false
  /** Directions that have not ended: both of a switched protocol, else the response alone. */
  #openDirections = 1

  constructor(pool: PoolAttempts, request: UpstreamRequest, sink: ResponseSink) {
    this.#pool = pool
    this.#request = isStreamed(request.body) ? { ...request, body: this.#watchBody(request.body) } : request
    this.#sink = sink
    this.#began_at = pool.now()
  }

  /** @throws Error as `Upstream.forward` does. */
  start(): void {
    if (this.#tryNext()) return
    queueMicrotask(() => {
      if (!this.#isAborted) this.#sink.fail('no_member', 'no member of the pool is up')
    })
  }

  abort(): void {
    this.#isAborted = true
    this.#active?.abort()
    this.#release()
  }

  resume(): void {
    this.#active?.resume()
  }

  write(bytes: Buffer): boolean {
    return this.#active?.write(bytes) ?? true
  }

  end(): void {
    this.#active?.end()
    if (!this.#hasSwitched) return
    this.#openDirections -= 1
    if (this.#openDirections === 0) this.#release()
  }

  #watchBody(body: StreamedBody): StreamedBody {
    return {
      length: body.length,
      ready: () => {
        this.#hasBegunBody = true
        body.ready()
      },
      drained: () => body.drained(),
    }
  }

  /** False where no member is left. */
  #tryNext(): boolean {
    const member = this.#pool.choose(this.#tried)
    if (member === undefined) return false
    this.#active = this.#pool.begin(member, this.#remainingRequest(), this.#memberSink(member))
    this.#tried.add(member)
    this.#member = member
    return true
  }

  /** The total limit is that of the request, whichever member serves it. */
  #remainingRequest(): UpstreamRequest {
    const limits = this.#request.limits
    if (limits?.total_ms === undefined) return this.#request
    const total_ms = Math.max(0, limits.total_ms - (this.#pool.now() - this.#began_at))
    return { ...this.#request, limits: { ...limits, total_ms } }
  }

  #memberSink(member: number): ResponseSink {
    const sink = this.#sink
    return {
      head: (status, rawHeaders, length, isFramed) => {
        this.#hasHead = true
        this.#pool.observe(member, !unavailable_statuses.has(status))
        this.#hasSwitched = status === 101
        if (this.#hasSwitched) this.#openDirections = 2
        sink.head(status, rawHeaders, length, isFramed)
      },
      data: (bytes) => sink.data(bytes),
      flush: () => sink.flush(),
      end: () => {
        this.#openDirections -= 1
        if (this.#openDirections === 0) this.#release()
        sink.end()
      },
      fail: (failure, detail) => this.#onFailure(member, failure, detail),
    }
  }

  #onFailure(member: number, failure: UpstreamFailure, detail: string): void {
    // A connection that breaks within a response is no evidence: the member may have ended a stream on purpose.
    if (!this.#hasHead && failure !== 'busy') this.#pool.observe(member, false)
    this.#release()
    if (this.#mayTryAgain(failure) && this.#tryNext()) return
    this.#sink.fail(failure, detail)
  }

  /** A slow member is not a reason to load another one with the same request. */
  #mayTryAgain(failure: UpstreamFailure): boolean {
    if (this.#hasHead || this.#hasBegunBody) return false
    return unsentFailures.has(failure) || (failure === 'closed' && isIdempotent(this.#request.method))
  }

  #release(): void {
    const member = this.#member
    this.#member = undefined
    if (member !== undefined) this.#pool.finish(member)
  }
}
