// Turns a policy and the standing opinions into what the session becomes.

import type { QuorumPolicy } from '../../../kernel/quorum-policy.ts'
import type { Combination } from './combination.ts'
import { combineSorted } from './combine.ts'
import { canonical, type Opinion } from './opinion.ts'

/** The part of the policy that the decision depends on. */
export type Rules = Pick<QuorumPolicy, 'm' | 'n' | 'combination_method' | 'ratify_threshold' | 'conflict_threshold'>

export type Outcome = 'match' | 'non_match'
export type ConflictReason = 'conflict' | 'inconclusive' | 'total_conflict'

export type Decision =
  | { readonly state: 'PENDING_QUORUM'; readonly combination: Combination }
  | { readonly state: 'RATIFIED'; readonly decision: Outcome; readonly combination: Combination }
  | { readonly state: 'IN_CONFLICT'; readonly reason: ConflictReason; readonly combination: Combination }

/** Absolute slack of every comparison with a threshold: sums of decimals miss theirs by the last bits. */
export const tolerance = 1e-12

/** Decides on opinions in any order: at most one per contributor, the standing one. */
export function decide(policy: Rules, opinions: readonly Opinion[]): Decision {
  const contributors = new Set(opinions.map((opinion) => opinion.contributor_id))
  return decideSorted(policy, canonical(opinions), contributors.size)
}

/** The same for a canonical list of which the caller knows the number of distinct contributors. */
export function decideSorted(policy: Rules, sorted: readonly Opinion[], contributors = sorted.length): Decision {
  const combination = combineSorted(policy.combination_method, sorted)
  if (contributors < policy.m) return { state: 'PENDING_QUORUM', combination }

  const reason = conflictReason(policy, combination)
  if (reason !== null) return { state: 'IN_CONFLICT', reason, combination }

  const decision = outcome(policy, combination.score)
  if (decision !== null) return { state: 'RATIFIED', decision, combination }

  if (contributors >= policy.n) return { state: 'IN_CONFLICT', reason: 'inconclusive', combination }
  return { state: 'PENDING_QUORUM', combination }
}

/** Total conflict comes first: it has no score that a threshold could be held against. */
function conflictReason(policy: Rules, combination: Combination): 'total_conflict' | 'conflict' | null {
  if (combination.reason === 'total_conflict') return 'total_conflict'
  return combination.conflict >= policy.conflict_threshold - tolerance ? 'conflict' : null
}

function outcome(policy: Rules, score: number | null): Outcome | null {
  if (score === null) return null
  if (score >= policy.ratify_threshold - tolerance) return 'match'
  return score <= 1 - policy.ratify_threshold + tolerance ? 'non_match' : null
}
