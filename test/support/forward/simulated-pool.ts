// A pool whose members are simulated, and a model that judges each of its choices.
import { expect } from 'vitest'
import type { UpstreamOrigin } from '../../../adapters/forward/http/dial.ts'
import { type PoolLimits, PoolMembers } from '../../../adapters/forward/http/pool-members.ts'
import type {
  ActiveRequest,
  ResponseSink,
  UpstreamFailure,
  UpstreamRequest,
} from '../../../daemon/kernel/forward/upstream.ts'
import { type ManualCoarseClock, manualCoarseClock } from '../clock/manual-coarse-clock.ts'
import { type MemberEvidence, modelCandidates, modelMemberState } from './member-model.ts'
import { memberPorts, type PoolOperation } from './pool-operations.ts'

const limits: PoolLimits = {
  ...{ failures: 3, ejection_ms: 1_000, max_ejection_ms: 4_000 },
  ...{ probe_path: '/probe', probe_interval_ms: 2_000, probe_ms: 500 },
}
const originOf = (port: number): UpstreamOrigin => ({ host: 'member', port })

type SimulatedMember = {
  readonly port: number
  readonly evidence: MemberEvidence[]
  isClosed: boolean
}

/** A request, or a probe, at one member. */
type Attempt = {
  readonly member: SimulatedMember
  readonly request: UpstreamRequest
  readonly sink: ResponseSink
  /** Undefined for a probe. */
  readonly sent: SentRequest | undefined
  state: 'open' | 'answered' | 'over'
  status: number
  body: 'unsent' | 'begun' | 'sent'
  failure: UpstreamFailure | undefined
}

type SentRequest = {
  readonly method: string
  readonly isStreamed: boolean
  active: ActiveRequest | undefined
  readonly attempts: Attempt[]
  readonly events: string[]
  isAborted: boolean
}

export class SimulatedPool {
  readonly seen = { retries: 0, ejected: 0, down: 0, recovering: 0, no_member: 0, removed: 0 }
  readonly #clock: ManualCoarseClock = manualCoarseClock()
  readonly #pool: PoolMembers
  #present: SimulatedMember[] = []
  readonly #attempts: Attempt[] = []
  readonly #sent: SentRequest[] = []

  constructor() {
    const origins = memberPorts.slice(0, 3).map(originOf)
    this.#pool = new PoolMembers({ origins, limits, clock: this.#clock, open: (origin) => this.#open(origin) })
  }

  async perform(operation: PoolOperation): Promise<void> {
    if (operation.kind === 'send') this.#send(operation.method, operation.isStreamed)
    else if (operation.kind === 'advance') this.#clock.advance(operation.ms)
    else if (operation.kind === 'replace') this.#replace(operation.members)
    else this.#act(operation)
    await Promise.resolve()
    this.#compareStates()
  }

  /** Ends all that is open, and compares the outcome of each request with that of its last attempt. */
  async finish(): Promise<void> {
    for (let open = this.#open_attempts(); open.length > 0; open = this.#open_attempts()) {
      const [first] = open as [Attempt]
      if (first.state === 'open') this.#answer(first, 200)
      this.#end(first)
    }
    await Promise.resolve()
    for (const { events, isAborted, attempts } of this.#sent) {
      const last = attempts.at(-1)
      const outcome = last?.failure ?? (last ? 'end' : 'no_member')
      const head = last && last.status > 0 ? [`head ${last.status}`] : []
      if (isAborted) expect([...head, outcome].slice(0, events.length)).toEqual(events)
      else expect(events).toEqual([...head, outcome])
    }
    this.#pool.close()
    expect(this.#present.map(({ isClosed }) => isClosed)).not.toContain(false)
  }

  #open(origin: UpstreamOrigin) {
    expect(this.#present.map(({ port }) => port)).not.toContain(origin.port)
    const member: SimulatedMember = { port: origin.port, evidence: [], isClosed: false }
    this.#present.push(member)
    return {
      forward: (request: UpstreamRequest, sink: ResponseSink) => this.#receive(member, request, sink),
      counts: () => ({ connections: 0, idle: 0, waiting: 0 }),
      close: () => {
        expect(member.isClosed).toBe(false)
        member.isClosed = true
      },
    }
  }

  #send(method: string, isStreamed: boolean): void {
    const sent: SentRequest = { method, isStreamed, active: undefined, attempts: [], events: [], isAborted: false }
    const note = (event: string) => {
      expect([sent.isAborted, sent.events.some((each) => !each.startsWith('head'))]).toEqual([false, false])
      sent.events.push(event)
    }
    const body = { length: undefined, ready: () => undefined, drained: () => undefined }
    const request = { method, path: `/${this.#sent.length}`, headers: [], ...(isStreamed ? { body } : {}) }
    this.#sent.push(sent)
    sent.active = this.#pool.forward(request, {
      head: (status) => note(`head ${status}`),
      data: () => true,
      flush: () => undefined,
      end: () => note('end'),
      fail: (failure) => note(failure),
    })
    if (sent.attempts.length > 0) return
    this.seen.no_member += 1
    expect(this.#candidates(sent)).toEqual([])
  }

  /** The pool has chosen a member. */
  #receive(member: SimulatedMember, request: UpstreamRequest, sink: ResponseSink): ActiveRequest {
    expect([this.#present.includes(member), member.isClosed]).toEqual([true, false])
    const sent = request.path === limits.probe_path ? undefined : this.#sent[Number(request.path.slice(1))]
    if (sent) this.#judgeChoice(member, sent)
    const attempt: Attempt = {
      ...{ member, request, sink, sent, state: 'open', status: 0, failure: undefined },
      body: sent?.isStreamed ? 'unsent' : 'sent',
    }
    sent?.attempts.push(attempt)
    this.#attempts.push(attempt)
    return {
      abort: () => {
        attempt.state = 'over'
      },
      resume: () => undefined,
      write: () => true,
      end: () => {
        attempt.body = 'sent'
      },
    }
  }

  #judgeChoice(member: SimulatedMember, sent: SentRequest): void {
    const before = sent.attempts.at(-1)
    if (before) {
      this.seen.retries += 1
      expect(before).toMatchObject({ state: 'over', status: 0 })
      if (sent.isStreamed) expect(before.body).toBe('unsent')
      const isUnsent = ['address', 'connect', 'busy'].includes(before.failure ?? '')
      expect(isUnsent || (before.failure === 'closed' && sent.method !== 'POST')).toBe(true)
    }
    expect(this.#candidates(sent)).toContain(member)
  }

  #candidates({ attempts }: SentRequest): SimulatedMember[] {
    const untried = this.#present.filter((each) => !attempts.some(({ member }) => member === each))
    return modelCandidates(untried, { state: (member) => this.#state(member), load: (member) => this.#load(member) })
  }

  #state(member: SimulatedMember) {
    return modelMemberState(member.evidence, this.#clock.now(), limits)
  }

  #load(member: SimulatedMember): number {
    return this.#attempts.filter((each) => each.member === member && each.sent && each.state !== 'over').length
  }

  #replace(members: readonly number[]): void {
    const before = this.#present
    this.#present = before.filter(({ port }) => members.includes(port))
    this.#pool.replaceMembers(members.map(originOf))
    const removed = before.filter((member) => !this.#present.includes(member))
    expect(removed.map(({ isClosed }) => isClosed)).not.toContain(false)
    expect(new Set(this.#present.map(({ port }) => port))).toEqual(new Set(members))
    for (const { member, sent, state } of this.#attempts) {
      if (!removed.includes(member) || state === 'over') continue
      this.seen.removed += 1
      // A probe of a member that is removed is given up; its requests go on.
      expect(sent).toBeDefined()
    }
  }

  #act(operation: Extract<PoolOperation, { readonly pick: number }>): void {
    const open = this.#open_attempts()
    const attempt = open[operation.pick % Math.max(1, open.length)]
    if (!attempt) return
    if (operation.kind === 'answer') this.#answer(attempt, operation.status)
    else if (operation.kind === 'fail') this.#fail(attempt, operation.failure)
    else if (operation.kind === 'end') this.#end(attempt)
    else if (operation.kind === 'body' && attempt.body === 'unsent') this.#beginBody(attempt)
    else if (operation.kind === 'body_end' && attempt.body === 'begun') attempt.sent?.active?.end()
    else if (operation.kind === 'abort' && attempt.sent) {
      attempt.sent.isAborted = true
      attempt.sent.active?.abort()
      expect(attempt.state).toBe('over')
    }
  }

  #beginBody(attempt: Attempt): void {
    attempt.body = 'begun'
    const { body } = attempt.request
    if (body && 'ready' in body) body.ready()
  }

  #answer(attempt: Attempt, status: number): void {
    if (attempt.state !== 'open') return
    attempt.state = 'answered'
    attempt.status = status
    if (attempt.sent) this.#learn(attempt, 'request', ![502, 503, 504].includes(status))
    attempt.sink.head(status, [], 0, true)
  }

  #end(attempt: Attempt): void {
    if (attempt.state !== 'answered') return
    attempt.state = 'over'
    if (!attempt.sent) this.#learn(attempt, 'probe', attempt.status < 400)
    attempt.sink.end()
  }

  #fail(attempt: Attempt, failure: UpstreamFailure): void {
    const { state } = attempt
    attempt.state = 'over'
    attempt.failure = failure
    const isOfClient = failure === 'timeout' && attempt.body === 'begun'
    const isEvidence =
      failure !== 'busy' && (!attempt.sent || (state === 'open' && failure !== 'request' && !isOfClient))
    if (isEvidence) this.#learn(attempt, attempt.sent ? 'request' : 'probe', false)
    attempt.sink.fail(failure, '')
  }

  #learn({ member }: Attempt, from: MemberEvidence['from'], isOk: boolean): void {
    member.evidence.push({ from, isOk, at: this.#clock.now() })
  }

  #open_attempts(): Attempt[] {
    return this.#attempts.filter(({ state }) => state !== 'over')
  }

  #compareStates(): void {
    const states = this.#pool.listMembers().map(({ port, state }) => [port, state] as const)
    const expected = this.#present.map((member) => [member.port, this.#state(member)] as const)
    expect(new Map(states)).toEqual(new Map(expected))
    for (const [, state] of states) if (state !== 'up') this.seen[state] += 1
  }
}
