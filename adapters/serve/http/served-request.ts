// The requests under way on a listener: how many, since when, and how to end them.
import type { FastifyReply } from 'fastify'
import type { Surface } from '../../../daemon/kernel/api/surface.ts'
import { Refusal, refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Caller } from '../../../daemon/kernel/identity/identity.ts'
import type { ServedRoute } from '../../../daemon/kernel/operation/operation.ts'
import type { TraceSpan } from '../../../daemon/kernel/telemetry/spans.ts'
import type { Trace } from '../../../daemon/kernel/telemetry/trace.ts'
import type { ListenerLimits } from './limits.ts'
import type { RequestConditions } from './request-headers.ts'

/** One request from its head to its end. A class, since one is made for every request. */
export class ServedRequest {
  /** The operation under which the request is counted; on a surface, once it is known. */
  target: ServedRoute
  readonly reply: FastifyReply
  trace: Trace
  /** The declared path of the route that received it. */
  readonly route: string
  /** The surface that received it, if not REST. */
  readonly surface: Surface | undefined
  /** The status to count it under, when it differs from the status of the response. */
  outcome: number | 'aborted' | undefined
  /** Milliseconds of `performance.now()`. */
  readonly started_ms = performance.now()
  readonly controller = new AbortController()
  caller: Caller | undefined
  conditions: RequestConditions | undefined
  /** Bytes reserved for its body from the memory for large bodies. */
  reserved_bytes = 0
  /** The response has begun or ended: a later one is dropped. */
  isAnswered = false

  constructor(target: ServedRoute, reply: FastifyReply, trace: Trace, surface?: Surface) {
    this.target = target
    this.route = target.operation.path
    this.reply = reply
    this.trace = trace
    this.surface = surface
  }

  get isStream(): boolean {
    return this.target.operation.streams === true
  }
}

export class ServedRequests {
  /** In order of arrival, so that the oldest come first. */
  readonly plain = new Set<ServedRequest>()
  readonly streams = new Set<ServedRequest>()
  isClosing = false
  readonly #limits: ListenerLimits
  #whenEmpty: (() => void) | undefined

  constructor(limits: ListenerLimits) {
    this.#limits = limits
  }

  /** Registers a request, or returns the limit that refuses it. */
  add(served: ServedRequest): Refusal | undefined {
    if (this.isClosing) return new Refusal('unavailable', 'the service is stopping', [], 2)
    const [set, most] = served.isStream ? [this.streams, this.#limits.streams] : [this.plain, this.#limits.in_flight]
    if (set.size >= most) return new Refusal('unavailable', 'the service has too many requests in progress', [], 1)
    set.add(served)
    return undefined
  }

  /** Limits the streams of one caller, so that others can open theirs. */
  limitStreams(served: ServedRequest): Refusal | undefined {
    if (!served.isStream) return undefined
    const most = this.#limits.streams_per_caller
    const own = [...this.streams].filter(({ caller }) => isSameCaller(caller, served.caller)).length
    if (own <= most) return undefined
    return new Refusal('rate_limited', `this caller has ${most} streams open, which is the most`, [], 5)
  }

  /** Reserves memory for a large body of so many bytes, or returns why there is none. */
  reserveBody(served: ServedRequest, bytes: number): Refusal | undefined {
    const { body_bytes, large_bodies_bytes: most, large_bodies_bytes_per_caller: most_own } = this.#limits
    if (bytes <= body_bytes) return undefined
    const large = this.all().filter(({ reserved_bytes }) => reserved_bytes > 0)
    const own = large.filter(({ caller }) => isSameCaller(caller, served.caller))
    // A single large body is accepted up to the limit of its operation.
    const isFull = (held: readonly ServedRequest[], limit: number) =>
      held.length > 0 && totalReservedBytes(held) + bytes > limit
    if (isFull(large, most) || isFull(own, most_own)) {
      return new Refusal('unavailable', 'the service is reading large bodies', [], 1)
    }
    served.reserved_bytes = bytes
    return undefined
  }

  remove(served: ServedRequest): void {
    ;(served.isStream ? this.streams : this.plain).delete(served)
    if (this.#whenEmpty && this.isEmpty) this.#whenEmpty()
  }

  get isEmpty(): boolean {
    return this.plain.size + this.streams.size === 0
  }

  all(): ServedRequest[] {
    return [...this.plain, ...this.streams]
  }

  /** Requests past their time limit, each to be answered `timeout`. All have the same limit: the oldest expire first. */
  overdue(now_ms: number): ServedRequest[] {
    const late: ServedRequest[] = []
    for (const served of this.plain) {
      if (now_ms - served.started_ms < this.#limits.request_ms) break
      if (!served.isAnswered) late.push(served)
    }
    return late
  }

  /** Refuses new requests; resolves when the last one has ended. */
  drain(): Promise<void> {
    this.isClosing = true
    if (this.isEmpty) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenEmpty = resolve
    })
  }
}

function totalReservedBytes(requests: readonly ServedRequest[]): number {
  return requests.reduce((sum, { reserved_bytes }) => sum + reserved_bytes, 0)
}

function isSameCaller(one: Caller | undefined, other: Caller | undefined): boolean {
  return one !== undefined && one.subject === other?.subject && one.tenant_id === other.tenant_id
}

export const timeoutRefusal = (): Refusal => refuse('timeout', 'the operation took too long and was given up')

/** The span of the request. `status`: the one that it is counted under. */
export function requestSpan({ trace, target, route, reply, started_ms }: ServedRequest, status: string): TraceSpan {
  const { timeOrigin } = performance
  return {
    trace,
    name: target.address,
    kind: 'server',
    started_ms: timeOrigin + started_ms,
    ended_ms: timeOrigin + performance.now(),
    isError: Number(status) >= 500,
    attributes: {
      'http.request.method': reply.request.method,
      'http.route': route,
      ...(status === 'aborted' ? {} : { 'http.response.status_code': Number(status) }),
    },
  }
}
