// A pool of upstreams that serve the same: probes them, ejects those that fail, and sends each request to the least busy one.
import {
  chooseMember,
  type EjectionLimits,
  findMemberState,
  healthyMember,
  type MemberHealth,
  type MemberState,
  recordOutcome,
  recordProbe,
} from '../../../daemon/kernel/forward/member-health.ts'
import type { ActiveRequest, ResponseSink, Upstream, UpstreamRequest } from '../../../daemon/kernel/forward/upstream.ts'
import type { UpstreamOrigin } from './dial.ts'
import { type PoolAttempts, PoolRequest } from './pool-request.ts'
import { probeMember } from './probe-member.ts'
import { type UpstreamOptions, upstream } from './upstream.ts'

export type PoolLimits = EjectionLimits & {
  /** Path that a healthy member answers with a status below 400. */
  readonly probe_path: string
  readonly probe_interval_ms: number
  /** For the whole answer to a probe. */
  readonly probe_ms: number
}

export const defaultPoolLimits: PoolLimits = {
  failures: 3,
  ejection_ms: 10_000,
  max_ejection_ms: 300_000,
  probe_path: '/health',
  probe_interval_ms: 5_000,
  probe_ms: 3_000,
}

type UpstreamPoolOptions = Omit<UpstreamOptions, 'origin'> & {
  readonly origins: readonly UpstreamOrigin[]
  readonly pool: PoolLimits
}

export type UpstreamPool = Upstream & {
  members(): readonly { readonly host: string; readonly port: number; readonly state: MemberState }[]
}

type UpstreamMember = {
  readonly origin: UpstreamOrigin
  readonly client: Upstream
  health: MemberHealth
  active: number
}

/** `limits`, such as the number of connections, are those of each member. */
export function upstreamPool(options: UpstreamPoolOptions): UpstreamPool {
  const pool = new UpstreamMembers(options)
  return {
    forward: (request, sink) => pool.forward(request, sink),
    counts: () => pool.counts(),
    members: () => pool.listMembers(),
    close: () => pool.close(),
  }
}

class UpstreamMembers implements PoolAttempts {
  readonly #options: UpstreamPoolOptions
  readonly #members: readonly UpstreamMember[]
  readonly #probes = new Map<UpstreamMember, ActiveRequest>()
  #turn = 0
  #probed_at: number
  readonly #stopTicks: () => void

  constructor(options: UpstreamPoolOptions) {
    const { origins, clock } = options
    this.#options = options
    this.#members = origins.map((origin) => {
      const client = upstream({ ...options, origin })
      return { origin, client, health: healthyMember, active: 0 }
    })
    this.#probed_at = clock.now()
    this.#stopTicks = clock.onTick(() => this.#probe())
  }

  forward(request: UpstreamRequest, sink: ResponseSink): ActiveRequest {
    const pooled = new PoolRequest(this, request, sink)
    pooled.start()
    return pooled
  }

  now(): number {
    return this.#options.clock.now()
  }

  choose(tried: ReadonlySet<number>): number | undefined {
    const { pool } = this.#options
    const chosen = chooseMember(this.#members, { now: this.now(), turn: this.#turn, limits: pool, tried })
    if (chosen !== undefined) this.#turn = chosen + 1
    return chosen
  }

  begin(at: number, request: UpstreamRequest, sink: ResponseSink): ActiveRequest {
    const member = this.#members[at] as UpstreamMember
    const active = member.client.forward(request, sink)
    member.active += 1
    return active
  }

  observe(at: number, isOk: boolean): void {
    const member = this.#members[at] as UpstreamMember
    member.health = recordOutcome(member.health, isOk, this.now(), this.#options.pool)
  }

  finish(at: number): void {
    const member = this.#members[at] as UpstreamMember
    member.active -= 1
  }

  counts() {
    const all = this.#members.map(({ client }) => client.counts())
    const sum = (name: 'connections' | 'idle' | 'waiting') => all.reduce((total, counts) => total + counts[name], 0)
    return { connections: sum('connections'), idle: sum('idle'), waiting: sum('waiting') }
  }

  listMembers() {
    const now = this.now()
    return this.#members.map(({ origin: { host, port }, health }) => ({
      host,
      port,
      state: findMemberState(health, now, this.#options.pool),
    }))
  }

  close(): void {
    this.#stopTicks()
    for (const probe of this.#probes.values()) probe.abort()
    for (const { client } of this.#members) client.close()
  }

  #probe(): void {
    const now = this.now()
    const { probe_interval_ms } = this.#options.pool
    if (now - this.#probed_at < probe_interval_ms) return
    this.#probed_at = now
    for (const member of this.#members) if (!this.#probes.has(member)) this.#probeMember(member)
  }

  #probeMember(member: UpstreamMember): void {
    const { pool } = this.#options
    const probe = probeMember(member.client, member.origin, pool, (isOk) => {
      this.#probes.delete(member)
      if (isOk !== undefined) member.health = recordProbe(member.health, isOk)
    })
    this.#probes.set(member, probe)
  }
}
