// Health of the members of a pool of upstreams: which may receive a request, after probes and after outcomes of requests.

export type MemberHealth = {
  /** Failed requests in a row. */
  readonly failures: number
  /** Ejections since the last success. */
  readonly ejections: number
  /** Receives no requests before this time. */
  readonly ejected_until: number
  /** Failed probes in a row. */
  readonly failed_probes: number
}

export const healthyMember: MemberHealth = {
  failures: 0,
  ejections: 0,
  ejected_until: Number.NEGATIVE_INFINITY,
  failed_probes: 0,
}

export type EjectionLimits = {
  /** Failures in a row that eject a member, and failed probes in a row that take it down. */
  readonly failures: number
  /** Of the first ejection; each further one in a row lasts twice as long, up to the maximum. */
  readonly ejection_ms: number
  readonly max_ejection_ms: number
}

export type PoolMember = {
  readonly health: MemberHealth
  /** Requests that it serves or that wait for it. */
  readonly active: number
}

/** `down`: by its probes. `ejected`: by failed requests, for a time. `recovering`: one request at a time tries it. */
export const memberStates = ['up', 'recovering', 'ejected', 'down'] as const
export type MemberState = (typeof memberStates)[number]

export function findMemberState(
  { failures, ejected_until, ejections, failed_probes }: MemberHealth,
  now: number,
  limits: EjectionLimits,
): MemberState {
  if (failed_probes >= limits.failures) return 'down'
  if (now < ejected_until) return 'ejected'
  return ejections > 0 && failures > 0 ? 'recovering' : 'up'
}

/** A member that was ejected before is ejected by its first failure. */
export function recordOutcome(health: MemberHealth, isOk: boolean, now: number, limits: EjectionLimits): MemberHealth {
  if (isOk) return { ...healthyMember, failed_probes: health.failed_probes }
  const failures = health.failures + 1
  // Requests that were under way when the member was ejected are no further evidence.
  if (now < health.ejected_until || failures < limits.failures) return { ...health, failures }
  const ejection_ms = Math.min(limits.max_ejection_ms, limits.ejection_ms * 2 ** health.ejections)
  return { ...health, failures, ejections: health.ejections + 1, ejected_until: now + ejection_ms }
}

/** A member whose probe succeeds is up at once, whatever its requests were. */
export function recordProbe(health: MemberHealth, isOk: boolean): MemberHealth {
  return isOk ? healthyMember : { ...health, failed_probes: health.failed_probes + 1 }
}

/**
 * Position of the member for the next request: of those that are up the one with the fewest active requests, the next in turn
 * where several have as few. Without a member that is up, those that are ejected are used: requests that fail by their own
 * content must not close the pool.
 * @param tried those that have failed for this request.
 * @returns undefined where every member is down or tried.
 */
export function chooseMember(
  members: readonly PoolMember[],
  choice: {
    readonly now: number
    readonly turn: number
    readonly limits: EjectionLimits
    readonly tried: ReadonlySet<PoolMember>
  },
): number | undefined {
  const { now, turn, limits, tried } = choice
  let best: number | undefined
  let best_rank = Number.POSITIVE_INFINITY
  for (let step = 0; step < members.length; step++) {
    const at = (turn + step) % members.length
    const member = members[at] as PoolMember
    const { health, active } = member
    const state = findMemberState(health, now, limits)
    if (tried.has(member) || state === 'down') continue
    const isUp = state === 'up' || (state === 'recovering' && active === 0)
    const rank = isUp ? active : active + last_resort_rank
    if (rank < best_rank) [best, best_rank] = [at, rank]
  }
  return best
}

/** More than a member can have of active requests. */
const last_resort_rank = 2 ** 40
