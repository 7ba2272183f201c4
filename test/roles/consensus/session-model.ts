// An independent model of a session in few lines, without the product's state machine.

import { combine } from '../../../daemon/roles/consensus/combine/combine.ts'
import type { SessionState } from '../../../daemon/roles/consensus/session/model.ts'
import type { QuorumPolicy } from '../../../daemon/shared/quorum-policy/quorum-policy.ts'

type ConflictReason = 'conflict' | 'inconclusive' | 'total_conflict'
type ModelVerdict = {
  state: 'RATIFIED' | 'IN_CONFLICT' | 'PENDING_QUORUM'
  decision?: 'match' | 'non_match'
  reason?: ConflictReason
}

export type ModelOpinion = {
  readonly who: string
  readonly score: number
  readonly accuracy: number
  readonly credibility: number
}

/** Mutable, as fast-check's models are. Refusals are the codes of the interface; undefined is a success. */
export class SessionModel {
  readonly policy: QuorumPolicy
  readonly standing = new Map<string, ModelOpinion>()
  readonly path: SessionState[] = ['PROPOSED']
  /** The event number of each step of the path. */
  readonly numbers: number[] = [1]
  events = 1
  contributions = 0
  decision: 'match' | 'non_match' | undefined
  reason: ConflictReason | undefined
  /** Dissent records ever made. */
  dissents = 0
  attested = false

  constructor(policy: QuorumPolicy) {
    this.policy = policy
  }

  get state(): SessionState {
    return this.path.at(-1) ?? 'PROPOSED'
  }

  get isClosed(): boolean {
    return this.state === 'RATIFIED' || this.state === 'WITHDRAWN'
  }

  contribute(opinion: ModelOpinion): string | undefined {
    const before = this.standing.get(opinion.who)
    if (before && JSON.stringify(before) === JSON.stringify(opinion)) return undefined
    if (this.isClosed) return 'session_closed'
    if (this.policy.contributors?.includes(opinion.who) === false) return 'not_contributor'
    if (!before && this.standing.size === this.policy.n) return 'quorum_full'
    this.standing.set(opinion.who, opinion)
    this.contributions += 1
    this.events += 1
    this.#become(this.#verdict(), false)
    return undefined
  }

  resolve(): string | undefined {
    if (this.isClosed) return 'session_closed'
    this.#become(this.#verdict(), true)
    return undefined
  }

  attest(decision: 'match' | 'non_match'): string | undefined {
    if (this.state !== 'IN_CONFLICT') return 'session_closed'
    this.attested = true
    this.#become({ state: 'RATIFIED', decision }, false)
    return undefined
  }

  cancel(): string | undefined {
    if (this.state === 'WITHDRAWN') return 'session_closed'
    this.#enter('WITHDRAWN')
    return undefined
  }

  deadlinePasses(): void {
    if (this.state !== 'PROPOSED' && this.state !== 'PENDING_QUORUM') return
    const verdict = this.#verdict()
    this.#become(verdict.state === 'PENDING_QUORUM' ? { state: 'IN_CONFLICT', reason: 'inconclusive' } : verdict, false)
  }

  /** The numbers come from the combiner, which has its own tests; the model covers the resulting states. */
  #verdict(): ModelVerdict {
    const { m, n, combination_method, ratify_threshold, conflict_threshold } = this.policy
    if (this.standing.size < m) return { state: 'PENDING_QUORUM' }
    const opinions = [...this.standing.values()].map(({ who, score, ...rest }) => ({
      contributor_id: who,
      pair_score: score,
      ...rest,
    }))
    const { score, conflict, reason } = combine(combination_method, opinions)
    const atLeast = (value: number, threshold: number) => value >= threshold - 1e-12
    if (reason === 'total_conflict') return { state: 'IN_CONFLICT', reason }
    if (atLeast(conflict, conflict_threshold)) return { state: 'IN_CONFLICT', reason: 'conflict' }
    if (score !== null && atLeast(score, ratify_threshold)) return { state: 'RATIFIED', decision: 'match' }
    if (score !== null && atLeast(1 - score, ratify_threshold)) return { state: 'RATIFIED', decision: 'non_match' }
    return this.standing.size < n ? { state: 'PENDING_QUORUM' } : { state: 'IN_CONFLICT', reason: 'inconclusive' }
  }

  #become({ state, decision, reason }: ModelVerdict, isResolve: boolean): void {
    const wasInConflict = this.state === 'IN_CONFLICT'
    if (state === 'RATIFIED') {
      this.decision = decision
      this.reason = undefined
      this.#enter(state)
    }
    if (state === 'IN_CONFLICT' && (!wasInConflict || isResolve)) {
      this.reason = reason
      this.dissents += 1
      if (!wasInConflict) this.#enter(state)
    }
    if (state === 'PENDING_QUORUM' && this.state === 'PROPOSED' && this.contributions > 0) this.#enter(state)
  }

  /** A step is one event, and its decision another. */
  #enter(state: SessionState): void {
    this.path.push(state)
    this.events += 1
    this.numbers.push(this.events)
    if (state === 'RATIFIED' || state === 'IN_CONFLICT') this.events += 1
  }
}
