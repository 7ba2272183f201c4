// Decides the state of a session from its policy and the standing opinions.
import * as z from 'zod'
import type { QuorumPolicy } from '../../../shared/quorum-policy/quorum-policy.ts'
import type { Combination } from './combination.ts'
import { combineSorted } from './combine.ts'
import { type Opinion, sortCanonically } from './opinion.ts'

/** The part of the policy that the decision depends on. */
export type DecisionPolicy = Pick<
  QuorumPolicy,
  'm' | 'n' | 'combination_method' | 'ratify_threshold' | 'conflict_threshold'
>

export const decision = z.enum(['match', 'non_match'])
export type SessionDecision = z.infer<typeof decision>

export const conflictReason = z.enum(['conflict', 'inconclusive', 'total_conflict'])
export type ConflictReason = z.infer<typeof conflictReason>

export type QuorumDecision =
  | { readonly state: 'PENDING_QUORUM'; readonly combination: Combination }
  | { readonly state: 'RATIFIED'; readonly decision: SessionDecision; readonly combination: Combination }
  | { readonly state: 'IN_CONFLICT'; readonly reason: ConflictReason; readonly combination: Combination }

/**
 * Absolute tolerance of every comparison with a threshold: sums of decimals differ from exact values in the last
 * bits.
 */
export const threshold_tolerance = 1e-12

/** Decides on opinions in any order: at most one per contributor, the standing one. */
export function decide(policy: DecisionPolicy, opinions: readonly Opinion[]): QuorumDecision {
  const contributors = new Set(opinions.map((opinion) => opinion.contributor_id))
  return decideSorted(policy, sortCanonically(opinions), contributors.size)
}

/** The same for a canonical list of which the caller knows the number of distinct contributors. */
export function decideSorted(
  policy: DecisionPolicy,
  sorted: readonly Opinion[],
  contributors = sorted.length,
): QuorumDecision {
  const combination = combineSorted(policy.combination_method, sorted)
  if (contributors < policy.m) return { state: 'PENDING_QUORUM', combination }

  const reason = findConflictReason(policy, combination)
  if (reason !== null) return { state: 'IN_CONFLICT', reason, combination }

  const decision = decideByScore(policy, combination.score)
  if (decision !== null) return { state: 'RATIFIED', decision, combination }

  if (contributors >= policy.n) return { state: 'IN_CONFLICT', reason: 'inconclusive', combination }
  return { state: 'PENDING_QUORUM', combination }
}

/** `decideSorted`, or the same with a timer around it. */
export type DecideSorted = typeof decideSorted

/** The reason of a conflict, if any. Total conflict comes first: it has no score to compare with a threshold. */
function findConflictReason(policy: DecisionPolicy, combination: Combination): 'total_conflict' | 'conflict' | null {
  if (combination.reason === 'total_conflict') return 'total_conflict'
  return combination.conflict >= policy.conflict_threshold - threshold_tolerance ? 'conflict' : null
}

function decideByScore(policy: DecisionPolicy, score: number | null): SessionDecision | null {
  if (score === null) return null
  if (score >= policy.ratify_threshold - threshold_tolerance) return 'match'
  return score <= 1 - policy.ratify_threshold + threshold_tolerance ? 'non_match' : null
}
