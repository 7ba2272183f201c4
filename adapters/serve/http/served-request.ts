// The requests under way on a listener: how many, since when, and how to end them.
import type { FastifyReply } from 'fastify'
import type { Surface } from '../../../daemon/kernel/api/surface.ts'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import { isAnonymous } from '../../../daemon/kernel/identity/admit-caller.ts'
import type { DelegatingCredential } from '../../../daemon/kernel/identity/delegation.ts'
import type { Caller } from '../../../daemon/kernel/identity/identity.ts'
import { countedSource } from '../../../daemon/kernel/network/special-addresses.ts'
import { isLongRequest, type RequestTarget, type ServedRoute } from '../../../daemon/kernel/operation/operation.ts'
import { timeoutRefusal } from '../../../daemon/kernel/operation/until-aborted.ts'
import type { TraceSpan } from '../../../daemon/kernel/telemetry/spans.ts'
import type { Trace } from '../../../daemon/kernel/telemetry/trace.ts'
import { isBelowPace, type TransferPace } from '../../platform/http-server/transfer-pace.ts'
import type { ListenerLimits } from './limits.ts'
import type { RequestConditions } from './request-headers.ts'
import {
  admissionShares,
  largeBodyShares,
  refuseShare,
  requestShares,
  streamShares,
  unreadAnswerShares,
} from './request-shares.ts'
import { type Share, ShareLedger } from './shares.ts'
import { unreadAnswers } from './unread-answers.ts'

/** One request from its head to its end. A class, since one is made for every request. */
export class ServedRequest {
  /** The operation under which the request is counted; on a surface, once it is known. */
  target: RequestTarget
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
  /** Undefined until the request is admitted. */
  caller: Caller | undefined
  credential: DelegatingCredential | undefined
  conditions: RequestConditions | undefined
  /** The address that it is counted by; undefined on a socket file. */
  readonly source: string | undefined
  /** By its route; a request to a surface may become one once its body has been read. */
  isStream: boolean
  /** The response has begun or ended: a later one is dropped. */
  isAnswered = false
  /** The memory that a large answer takes its share of. */
  answer_shares: readonly Share[] = []
  /** Since when the client has had an answer to read, and the bytes of it that it has taken. */
  #answer: { readonly since_ms: number; read_bytes: number } | undefined
  readonly #holdings: ShareHolding[] = []

  constructor(target: ServedRoute, reply: FastifyReply, trace: Trace, surface?: Surface) {
    this.target = target
    this.route = target.operation.path
    this.reply = reply
    this.trace = trace
    this.surface = surface
    const { remoteAddress } = reply.request.raw.socket
    this.source = remoteAddress === undefined ? undefined : countedSource(remoteAddress)
    this.isStream = target.operation.streams === true
  }

  /** Takes the amount from each share until the request ends, or returns the share that has too little left. */
  take(ledger: ShareLedger, shares: readonly Share[], amount = 1): Share | undefined {
    const full = ledger.take(shares, amount)
    if (!full) this.#holdings.push({ ledger, shares, amount })
    return full
  }

  /** Counts an answer of so many bytes until the client has read it, or returns why it cannot be sent. */
  holdAnswer(bytes: number): Refusal | undefined {
    const { method } = this.reply.request
    if (method !== 'GET' && method !== 'HEAD') {
      // Its effect has happened: only its success may be reported.
      unreadAnswers.takeAnyway(this.answer_shares, bytes)
      this.#holdings.push({ ledger: unreadAnswers, shares: this.answer_shares, amount: bytes })
      return undefined
    }
    const full = this.take(unreadAnswers, this.answer_shares, bytes)
    return full && refuseShare(full, 'bytes of unread answers', 1)
  }

  /** Counts an event of so many bytes until it is given back; undefined when there is no memory for it. */
  holdEvent(bytes: number): (() => void) | undefined {
    if (unreadAnswers.take(this.answer_shares, bytes)) return undefined
    return () => unreadAnswers.give(this.answer_shares, bytes)
  }

  beginAnswer(): void {
    this.#answer = { since_ms: performance.now(), read_bytes: 0 }
  }

  recordRead(bytes: number): void {
    if (this.#answer) this.#answer.read_bytes = bytes
  }

  /** The client reads its answer too slowly, or not at all. */
  isReadTooSlowly(now_ms: number, pace: TransferPace): boolean {
    return this.#answer !== undefined && isBelowPace(this.#answer.read_bytes, now_ms - this.#answer.since_ms, pace)
  }

  giveAll(): void {
    for (const { ledger, shares, amount } of this.#holdings.splice(0)) ledger.give(shares, amount)
  }
}

type ShareHolding = { readonly ledger: ShareLedger; readonly shares: readonly Share[]; readonly amount: number }

export class ServedRequests {
  readonly plain = new Set<ServedRequest>()
  readonly streams = new Set<ServedRequest>()
  isClosing = false
  readonly #limits: ListenerLimits
  readonly #ledger = new ShareLedger()
  #whenEmpty: (() => void) | undefined

  constructor(limits: ListenerLimits) {
    this.#limits = limits
  }

  /** Registers a request whose caller is not known yet, or returns why there is no place for it. */
  add(served: ServedRequest): Refusal | undefined {
    if (this.isClosing) return stoppingRefusal()
    const full = served.take(this.#ledger, admissionShares(served.source, this.#limits))
    if (full) return refuseShare(full, 'requests that wait for their admission', 1)
    ;(served.isStream ? this.streams : this.plain).add(served)
    return undefined
  }

  /** Takes the shares of an admitted request in place of those of its admission. `body_bytes`: of the body to be read. */
  admit(served: ServedRequest, { caller, body_bytes }: { caller: Caller | undefined; body_bytes: number }) {
    served.giveAll()
    const origin = { caller, source: served.source }
    served.answer_shares = unreadAnswerShares(origin, this.#limits)
    const unread = unreadAnswers.findFull(served.answer_shares)
    if (unread) return refuseShare(unread, 'bytes of unread answers', 1)
    if (served.isStream) return this.#takeStream(served, caller)
    const isLong = isLongRequest(served.target.operation)
    const full = served.take(this.#ledger, requestShares(origin, { hasBody: body_bytes > 0, isLong }, this.#limits))
    if (full) return refuseRequest(full, isLong)
    if (body_bytes <= this.#limits.body_bytes) return undefined
    const large = served.take(this.#ledger, largeBodyShares(origin, this.#limits), body_bytes)
    return large && new Refusal('unavailable', 'the service is reading large bodies', [], 1)
  }

  /**
   * Makes a stream of a request whose body has been read: it takes the shares of a stream in place of its own, and has no
   * time limit from then on. Returns why it cannot; a request that has ended takes nothing.
   */
  becomeStream(served: ServedRequest): Refusal | undefined {
    if (this.isClosing) return stoppingRefusal()
    if (served.controller.signal.aborted) return timeoutRefusal()
    served.giveAll()
    const full = this.#takeStream(served, served.caller && !isAnonymous(served.caller) ? served.caller : undefined)
    if (full) return full
    this.plain.delete(served)
    this.streams.add(served)
    served.isStream = true
    return undefined
  }

  /**
   * Takes the share of a long request in place of that of a request to a surface, whose body has been read, once its
   * operation is known and has a longer time limit. Returns why it cannot; a request that has ended takes nothing.
   */
  takeShareOf(served: ServedRequest, { operation }: RequestTarget): Refusal | undefined {
    const { caller, source } = served
    if (!isLongRequest(operation) || !caller || isAnonymous(caller)) return undefined
    if (served.controller.signal.aborted) return timeoutRefusal()
    served.giveAll()
    const shares = requestShares({ caller, source }, { hasBody: true, isLong: true }, this.#limits)
    const full = served.take(this.#ledger, shares)
    return full && refuseRequest(full, true)
  }

  #takeStream(served: ServedRequest, caller: Caller | undefined): Refusal | undefined {
    const full = served.take(this.#ledger, streamShares({ caller, source: served.source }, this.#limits))
    return full && refuseShare(full, 'streams open', 5)
  }

  remove(served: ServedRequest): void {
    served.giveAll()
    ;(served.isStream ? this.streams : this.plain).delete(served)
    if (this.#whenEmpty && this.isEmpty) this.#whenEmpty()
  }

  get isEmpty(): boolean {
    return this.plain.size + this.streams.size === 0
  }

  all(): ServedRequest[] {
    return [...this.plain, ...this.streams]
  }

  /** Requests past the time limits of their operations, each to be answered `timeout`. */
  overdue(now_ms: number): ServedRequest[] {
    return [...this.plain].filter(({ isAnswered, started_ms, target: { operation } }) => {
      return !isAnswered && now_ms - started_ms >= (operation.time_limit_ms ?? this.#limits.request_ms)
    })
  }

  /** Requests whose clients read their answers too slowly. Streams are checked by their heartbeat. */
  readTooSlowly(now_ms: number): ServedRequest[] {
    return [...this.plain].filter((served) => served.isReadTooSlowly(now_ms, this.#limits.answer_pace))
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

/** The next attempt may wait as long as a long request lasts. */
function refuseRequest(full: Share, isLong: boolean): Refusal {
  return isLong ? refuseShare(full, 'long requests in progress', 5) : refuseShare(full, 'requests in progress', 1)
}

const stoppingRefusal = (): Refusal => new Refusal('unavailable', 'the service is stopping', [], 2)

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
