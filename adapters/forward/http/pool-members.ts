// The members of a pool of upstreams: which one serves a request, their probes, and changes of membership. No I/O of its own.
import {
  chooseMember,
  type EjectionLimits,
  findMemberState,
  healthyMember,
  type MemberState,
  recordOutcome,
  recordProbe,
} from '../../../daemon/kernel/forward/member-health.ts'
import type { ActiveRequest, ResponseSink, Upstream, UpstreamRequest } from '../../../daemon/kernel/forward/upstream.ts'
import type { CoarseClock } from './coarse-clock.ts'
import type { UpstreamOrigin } from './dial.ts'
import { type PoolAttempts, PoolRequest, type UpstreamMember } from './pool-request.ts'
import { probeMember } from './probe-member.ts'

export type PoolLimits = EjectionLimits & {
  /** Path that a healthy member answers with a status below 400. */
  readonly probe_path: string
  readonly probe_interval_ms: number
  /** For the whole answer to a probe. */
  readonly probe_ms: number
}

type PoolMembersOptions = {
  readonly origins: readonly UpstreamOrigin[]
  readonly limits: PoolLimits
  readonly clock: CoarseClock
  readonly open: (origin: UpstreamOrigin) => Upstream
}

type ProbedMember = UpstreamMember & {
  readonly origin: UpstreamOrigin
  probed_at: number
  probe: ActiveRequest | undefined
}

export class PoolMembers implements PoolAttempts {
  readonly #options: PoolMembersOptions
  #members: readonly ProbedMember[] = []
  #turn = 0
  #isClosed = false
  readonly #stopTicks: () => void

  constructor(options: PoolMembersOptions) {
    this.#options = options
    this.replaceMembers(options.origins)
    this.#stopTicks = options.clock.onTick(() => this.#probe())
  }

  forward(request: UpstreamRequest, sink: ResponseSink): ActiveRequest {
    const pooled = new PoolRequest(this, request, sink)
    pooled.start()
    return pooled
  }

  /** Members that stay keep their connections and the history of their health. Does nothing after `close`. */
  replaceMembers(origins: readonly UpstreamOrigin[]): void {
    if (this.#isClosed) return
    const before = new Map(this.#members.map((member) => [memberKey(member.origin), member]))
    const after = new Map<string, ProbedMember>()
    for (const origin of origins) {
      const key = memberKey(origin)
      if (!after.has(key)) after.set(key, before.get(key) ?? this.#openMember(origin))
      before.delete(key)
    }
    this.#members = [...after.values()]
    for (const removed of before.values()) closeMember(removed)
  }

  now(): number {
    return this.#options.clock.now()
  }

  choose(tried: ReadonlySet<UpstreamMember>): UpstreamMember | undefined {
    // A client that is closed has no time limits for new connections.
    if (this.#isClosed) return undefined
    const at = chooseMember(this.#members, { now: this.now(), turn: this.#turn, limits: this.#options.limits, tried })
    if (at === undefined) return undefined
    this.#turn = at + 1
    return this.#members[at]
  }

  observe(member: UpstreamMember, isOk: boolean): void {
    member.health = recordOutcome(member.health, isOk, this.now(), this.#options.limits)
  }

  /** Of the present members. */
  counts() {
    const all = this.#members.map(({ client }) => client.counts())
    const sum = (name: 'connections' | 'idle' | 'waiting') => all.reduce((total, counts) => total + counts[name], 0)
    return { connections: sum('connections'), idle: sum('idle'), waiting: sum('waiting') }
  }

  listMembers(): { readonly host: string; readonly port: number; readonly state: MemberState }[] {
    const now = this.now()
    return this.#members.map(({ origin: { host, port }, health }) => ({
      host,
      port,
      state: findMemberState(health, now, this.#options.limits),
    }))
  }

  close(): void {
    this.#isClosed = true
    this.#stopTicks()
    for (const member of this.#members) closeMember(member)
  }

  #openMember(origin: UpstreamOrigin): ProbedMember {
    const client = this.#options.open(origin)
    return { origin, client, health: healthyMember, active: 0, probed_at: this.now(), probe: undefined }
  }

  #probe(): void {
    const now = this.now()
    for (const member of this.#members) {
      if (member.probe || now - member.probed_at < this.#options.limits.probe_interval_ms) continue
      member.probed_at = now
      member.probe = probeMember(member.client, member.origin, this.#options.limits, (isOk) => {
        member.probe = undefined
        if (isOk !== undefined) member.health = recordProbe(member.health, isOk)
      })
    }
  }
}

/** Another port, other TLS or another authority is another member. */
const memberKey = ({ host, port, tls }: UpstreamOrigin) => JSON.stringify([host, port, tls])

/** Requests under way go on. */
function closeMember({ probe, client }: ProbedMember): void {
  probe?.abort()
  client.close()
}
