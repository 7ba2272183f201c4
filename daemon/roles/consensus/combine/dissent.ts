// Analyses a disagreement: positions, the support of each decision, the most divergent pair, and the opinions that prevent a ratification.
import * as z from 'zod'
import { combinationMethod } from '../../../shared/quorum-policy/quorum-policy.ts'
import { fraction } from '../fields.ts'
import { combination } from './combination.ts'
import { conflictReason, type DecisionPolicy, type QuorumDecision } from './decide.ts'
import { type Influence, influence, influenceOf } from './influence.ts'
import type { Opinion } from './opinion.ts'
import {
  type ContributorPosition,
  decisionSupport,
  divergentPair,
  findMostDivergentPair,
  position,
  positionOf,
  summarizeSupport,
} from './positions.ts'
import { searchSmallestSet, smallestSetResult } from './smallest-set.ts'

/** Strict. Lists of contributors are in canonical order, by id where the numbers are equal. */
export const dissentBody = z.strictObject({
  reason: conflictReason,
  method: combinationMethod,
  score: combination.shape.score,
  conflict: combination.shape.conflict,
  total_weight: combination.shape.total_weight,
  belief: combination.shape.belief,
  plausibility: combination.shape.plausibility,
  K: combination.shape.K,
  thresholds: z.strictObject({ ratify_threshold: fraction, conflict_threshold: fraction }),
  quorum: z.strictObject({
    m: z.int(),
    n: z.int(),
    contributors: z.int().meta({ description: 'Number of contributors with a standing opinion' }),
  }),
  positions: z.array(position),
  camps: z.strictObject({ match: decisionSupport, non_match: decisionSupport }),
  most_divergent_pair: divergentPair
    .nullable()
    .meta({ description: 'Lowest and highest score that carry weight; null where all agree' }),
  influence: z.array(influence).meta({ description: 'Leave-one-out: the result without each contributor' }),
  smallest_set: smallestSetResult.meta({ description: 'Fewest contributors without whom the session would ratify' }),
})

export type DissentBody = z.output<typeof dissentBody>

export type ConflictAnalysis = Pick<DissentBody, 'influence' | 'smallest_set'>
export type ConflictDescription = Omit<DissentBody, keyof ConflictAnalysis>

/** The cause: a decision of IN_CONFLICT, or an undecided session whose deadline has passed. */
export type DissentCause = Pick<Extract<QuorumDecision, { state: 'IN_CONFLICT' }>, 'reason' | 'combination'>

/** The part of the body whose cost is of the order of n, for opinions in canonical order, by id where equal. */
export function describeConflict(
  policy: DecisionPolicy,
  sorted: readonly Opinion[],
  { reason, combination: combined }: DissentCause,
): ConflictDescription {
  const { method, reason: _scoreless, ...figures } = combined
  const named = nameApart(sorted)
  const positions = named.map((opinion) => positionOf(opinion, figures.score))
  return {
    reason,
    method,
    ...figures,
    thresholds: { ratify_threshold: policy.ratify_threshold, conflict_threshold: policy.conflict_threshold },
    quorum: { m: policy.m, n: policy.n, contributors: sorted.length },
    positions,
    camps: {
      match: summarizeSupport(named, positions, 'match'),
      non_match: summarizeSupport(named, positions, 'non_match'),
    },
    most_divergent_pair: findMostDivergentPair(positions),
  }
}

/**
 * The opinions under names that are different: a record names contributors by their names alone, and that of a peer's tenant
 * belongs to the peer.
 */
function nameApart(sorted: readonly Opinion[]): readonly Opinion[] {
  const names = new Set(sorted.map(({ contributor_id }) => contributor_id))
  if (names.size === sorted.length) return sorted
  const ofPeers = new Set(sorted.flatMap(({ contributor_id, source }) => (source ? contributor_id : [])))
  return sorted.map((opinion) => {
    if (opinion.source || !ofPeers.has(opinion.contributor_id)) return opinion
    let contributor_id = opinion.contributor_id
    do contributor_id += ' (local)'
    while (names.has(contributor_id))
    names.add(contributor_id)
    return { ...opinion, contributor_id }
  })
}

/**
 * The part of the body whose cost is of the order of n^2, half a second for a thousand contributors: a computation for
 * `runInSlices` or a thread. It follows from the description alone.
 */
export function* analyseConflict(
  policy: DecisionPolicy,
  { positions, method, score, conflict }: ConflictDescription,
): Generator<undefined, ConflictAnalysis> {
  const sorted = positions.map(opinionOf)
  const influence: Influence[] = []
  for (const at of sorted.keys()) {
    influence.push(influenceOf({ method, score, conflict }, sorted, at))
    yield
  }
  return { influence, smallest_set: yield* searchSmallestSet(policy, sorted) }
}

/** A position states the weight alone, and no sum reads its factors. The order of the positions is that of the sums. */
export function opinionOf({ contributor_id, pair_score, weight }: ContributorPosition): Opinion {
  return { contributor_id, pair_score, accuracy: weight, credibility: 1 }
}
