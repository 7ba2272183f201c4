// Finds the smallest set of contributors whose removal lets a session in conflict ratify.
import * as z from 'zod'
import { type DecisionPolicy, decideSorted, decision, type QuorumDecision, type SessionDecision } from './decide.ts'
import { type Opinion, weight } from './opinion.ts'
import { createSubsetFilter } from './subset-filter.ts'

export const smallestSetResult = z.strictObject({
  contributor_ids: z.array(z.string()).nullable().meta({ description: 'null where there is no such set' }),
  decision: decision.nullable().meta({ description: 'The decision that the others would ratify' }),
  exact: z
    .boolean()
    .meta({ description: 'True when no smaller set exists; the search is greedy beyond 16 contributors' }),
})

export type SmallestSet = z.output<typeof smallestSetResult>

/** Largest number of contributors for which all sets are tried: at most 2^16 of them. */
const exactContributorsMax = 16

/**
 * The fewest contributors without whom the others would ratify, with at least m of them left. Of several sets of that
 * size the one with the least weight, then the first in the given order. Beyond 16 contributors a greedy search with
 * about three or four decisions per contributor: the set that it finds leads to a ratification and has no unnecessary
 * member, but a smaller set may exist. `opinions`: one per contributor, in canonical order. A computation for
 * `runInSlices`: each step takes about a millisecond at most.
 */
export function* searchSmallestSet(
  policy: DecisionPolicy,
  opinions: readonly Opinion[],
): Generator<undefined, SmallestSet> {
  const exact = opinions.length <= exactContributorsMax
  const removed = yield* exact ? searchExhaustively(policy, opinions) : searchGreedily(policy, opinions)
  if (removed === null) return { contributor_ids: null, decision: null, exact }
  const contributor_ids = opinions.filter((opinion) => removed.has(opinion)).map((opinion) => opinion.contributor_id)
  return { contributor_ids, decision: decisionWithout(policy, opinions, removed), exact }
}

type RemovedOpinions = ReadonlySet<Opinion>
type SetSearch = Generator<undefined, RemovedOpinions | null>

/** Sets that are tried in one step: about a millisecond. */
const sets_per_step = 1_024

/** Of the sets that may ratify, the lightest is decided first: nearly always the only decision of a size. */
function* searchExhaustively(policy: DecisionPolicy, opinions: readonly Opinion[]): SetSearch {
  const filter = createSubsetFilter(policy, opinions)
  for (let size = 1; size <= opinions.length - policy.m; size++) {
    const candidates: { readonly mask: number; readonly weight: number }[] = []
    let tried = 0
    for (const mask of masksOfSize(size, opinions.length)) {
      if (filter.mayRatify(mask)) candidates.push({ mask, weight: filter.weightOf(mask) })
      if (++tried % sets_per_step === 0) yield
    }
    candidates.sort((a, b) => a.weight - b.weight)
    for (const { mask } of candidates) {
      const removed = new Set(opinions.filter((_, at) => ((mask >>> at) & 1) === 1))
      if (decisionWithout(policy, opinions, removed) !== null) return removed
      yield
    }
  }
  return null
}

/** All masks with `size` of `width` bits, ascending: Gosper's hack (HAKMEM, item 175). */
function* masksOfSize(size: number, width: number): Generator<number> {
  for (let mask = (1 << size) - 1; mask < 1 << width; ) {
    yield mask
    const lowest = mask & -mask
    const ripple = mask + lowest
    mask = (((ripple ^ mask) >>> 2) / lowest) | ripple
  }
}

function* searchGreedily(policy: DecisionPolicy, opinions: readonly Opinion[]): SetSearch {
  let best: RemovedOpinions | null = null
  for (const outcome of ['match', 'non_match'] as const) {
    for (const order of removalOrders(policy, opinions, outcome)) {
      const most: number = (best?.size ?? opinions.length) - 1
      const removal = yield* removeUntilRatified(policy, opinions, order, most)
      if (removal !== null) best = yield* restoreUnneeded(policy, opinions, removal)
    }
  }
  return best
}

/** Two orders in which to remove the opinions against the outcome: by pull, and by distance. */
function removalOrders(policy: DecisionPolicy, opinions: readonly Opinion[], outcome: SessionDecision): Opinion[][] {
  const against = opinions.filter((opinion) => pull(policy, opinion, outcome) > 0)
  const byPull = against.toSorted((a, b) => compareDescending(pull(policy, a, outcome), pull(policy, b, outcome)))
  const byDistance = outcome === 'match' ? against : against.toReversed()
  return [byPull, byDistance]
}

/**
 * How strongly an opinion pulls the score away from the outcome. For the average it is the share of the missing sum,
 * so removal by pull is optimal for the score. For Dempster's rule it is the logarithm of plausibilities, which add
 * up.
 */
function pull(policy: DecisionPolicy, opinion: Opinion, outcome: SessionDecision): number {
  const w = weight(opinion)
  const score = outcome === 'match' ? opinion.pair_score : 1 - opinion.pair_score
  if (policy.combination_method === 'weighted_average') return w * (policy.ratify_threshold - score)
  return Math.log((1 - w * score) / (1 - w * (1 - score)))
}

/** Compares without subtraction: the pull of certain opinions is infinite. */
function compareDescending(a: number, b: number): number {
  if (a === b) return 0
  return a > b ? -1 : 1
}

function* removeUntilRatified(
  policy: DecisionPolicy,
  opinions: readonly Opinion[],
  order: readonly Opinion[],
  atMost: number,
): SetSearch {
  const removed = new Set<Opinion>()
  for (const opinion of order.slice(0, Math.min(atMost, opinions.length - policy.m))) {
    removed.add(opinion)
    if (decisionWithout(policy, opinions, removed) !== null) return removed
    yield
  }
  return null
}

/**
 * Puts back contributors whose removal is not needed, the last removed first. Conflict may fall when one comes back, so that
 * another is no longer needed either: it ends with a pass that puts nobody back.
 */
function* restoreUnneeded(
  policy: DecisionPolicy,
  opinions: readonly Opinion[],
  removal: RemovedOpinions,
): Generator<undefined, RemovedOpinions> {
  const removed = new Set(removal)
  for (let before = removed.size + 1; removed.size < before && removed.size > 1; ) {
    before = removed.size
    for (const opinion of [...removal].reverse()) {
      if (removed.size === 1 || !removed.delete(opinion)) continue
      if (decisionWithout(policy, opinions, removed) === null) removed.add(opinion)
      yield
    }
  }
  return removed
}

function decisionWithout(
  policy: DecisionPolicy,
  opinions: readonly Opinion[],
  removed: RemovedOpinions,
): SessionDecision | null {
  const remaining = opinions.filter((opinion) => !removed.has(opinion))
  return ratifiedDecision(decideSorted(policy, remaining))
}

function ratifiedDecision(decision: QuorumDecision): SessionDecision | null {
  return decision.state === 'RATIFIED' ? decision.decision : null
}
