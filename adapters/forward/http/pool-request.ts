// One request to a pool: tries another member where the request has certainly, or harmlessly, not been served.
import type { MemberHealth, PoolMember } from '../../../daemon/kernel/forward/member-health.ts'
import type {
  ActiveRequest,
  ResponseSink,
  StreamedBody,
  Upstream,
  UpstreamFailure,
  UpstreamRequest,
} from '../../../daemon/kernel/forward/upstream.ts'
import { isStreamed } from './request-text.ts'
import { isIdempotent } from './upstream-transaction.ts'

export type UpstreamMember = PoolMember & {
  readonly client: Upstream
  health: MemberHealth
  active: number
}

/** The pool, which a request asks for members. */
export type PoolAttempts = {
  now(): number
  /** Undefined where every member is down or tried. */
  choose(tried: ReadonlySet<UpstreamMember>): UpstreamMember | undefined
  /** Evidence of the health of a member. */
  observe(member: UpstreamMember, isOk: boolean): void
}

/** With these a server in front of a member reports that it is unavailable. A member that fails fast is never busy. */
const unavailable_statuses: ReadonlySet<number> = new Set([502, 503, 504])

/** No byte of the request was sent. */
const unsentFailures: ReadonlySet<UpstreamFailure> = new Set(['address', 'connect', 'busy'])

/** No evidence against the member. */
const blamelessFailures: ReadonlySet<UpstreamFailure> = new Set(['busy', 'request'])

export class PoolRequest implements ActiveRequest {
  readonly sink: ResponseSink
  readonly #pool: PoolAttempts
  readonly #request: UpstreamRequest
  readonly #began_at: number
  readonly #tried = new Set<UpstreamMember>()
  /** The member that serves the request, until it is over there. */
  #member: UpstreamMember | undefined
  #active: ActiveRequest | undefined
  #hasHead = false
  /** Of a streamed body. Once it has begun it cannot be sent again. */
  #body: 'unsent' | 'begun' | 'sent'
  #isAborted = false
  #hasSwitched = false
  /** Directions that have not ended: both of a switched protocol, else the response alone. */
  #openDirections = 1

  constructor(pool: PoolAttempts, request: UpstreamRequest, sink: ResponseSink) {
    this.#pool = pool
    this.#request = isStreamed(request.body) ? { ...request, body: this.#watchBody(request.body) } : request
    this.#body = isStreamed(request.body) ? 'unsent' : 'sent'
    this.sink = sink
    this.#began_at = pool.now()
  }

  /** @throws Error as `Upstream.forward` does. */
  start(): void {
    if (this.#tryNext()) return
    queueMicrotask(() => {
      if (!this.#isAborted) this.sink.fail('no_member', 'no member of the pool is up')
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
    this.#body = 'sent'
    this.#active?.end()
    if (this.#hasSwitched) this.endDirection()
  }

  onHead(member: UpstreamMember, status: number): void {
    this.#hasHead = true
    this.#pool.observe(member, !unavailable_statuses.has(status))
    this.#hasSwitched = status === 101
    if (this.#hasSwitched) this.#openDirections = 2
  }

  endDirection(): void {
    this.#openDirections -= 1
    if (this.#openDirections === 0) this.#release()
  }

  onFailure(member: UpstreamMember, failure: UpstreamFailure, detail: string): void {
    if (this.#isEvidence(failure)) this.#pool.observe(member, false)
    this.#release()
    if (this.#mayTryAgain(failure) && this.#tryNext()) return
    this.sink.fail(failure, detail)
  }

  #watchBody(body: StreamedBody): StreamedBody {
    return {
      length: body.length,
      ready: () => {
        this.#body = 'begun'
        body.ready()
      },
      drained: () => body.drained(),
    }
  }

  /** False where no member is left. */
  #tryNext(): boolean {
    const member = this.#pool.choose(this.#tried)
    if (!member) return false
    this.#active = member.client.forward(this.#remainingRequest(), new MemberResponse(this, member))
    this.#tried.add(member)
    this.#member = member
    member.active += 1
    return true
  }

  /** The total limit is that of the request, whichever member serves it. */
  #remainingRequest(): UpstreamRequest {
    const limits = this.#request.limits
    if (limits?.total_ms === undefined || this.#tried.size === 0) return this.#request
    const total_ms = Math.max(0, limits.total_ms - (this.#pool.now() - this.#began_at))
    return { ...this.#request, limits: { ...limits, total_ms } }
  }

  /**
   * A connection that breaks within a response proves nothing: the member may have ended a stream on purpose. Nor is a time that
   * passes before the client has sent its body.
   */
  #isEvidence(failure: UpstreamFailure): boolean {
    if (this.#hasHead || blamelessFailures.has(failure)) return false
    return failure !== 'timeout' || this.#body !== 'begun'
  }

  /** A slow member is not a reason to load another one with the same request. */
  #mayTryAgain(failure: UpstreamFailure): boolean {
    if (this.#hasHead || (isStreamed(this.#request.body) && this.#body !== 'unsent')) return false
    return unsentFailures.has(failure) || (failure === 'closed' && isIdempotent(this.#request.method))
  }

  #release(): void {
    const member = this.#member
    this.#member = undefined
    if (member) member.active -= 1
  }
}

/** The response of one member, for the pool and the sink of the request. */
class MemberResponse implements ResponseSink {
  readonly #request: PoolRequest
  readonly #member: UpstreamMember

  constructor(request: PoolRequest, member: UpstreamMember) {
    this.#request = request
    this.#member = member
  }

  head(status: number, rawHeaders: string[], length: number | undefined, isFramed: boolean): void {
    this.#request.onHead(this.#member, status)
    this.#request.sink.head(status, rawHeaders, length, isFramed)
  }

  data(bytes: Buffer): boolean {
    return this.#request.sink.data(bytes)
  }

  flush(): void {
    this.#request.sink.flush()
  }

  end(): void {
    this.#request.endDirection()
    this.#request.sink.end()
  }

  fail(failure: UpstreamFailure, detail: string): void {
    this.#request.onFailure(this.#member, failure, detail)
  }
}
