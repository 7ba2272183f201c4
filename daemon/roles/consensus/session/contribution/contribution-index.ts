// The standing contributions of a session as its rules need them: sorted for the combiner, found by contributor and id.

import { insertSorted, supersedeSorted } from '../../combine/canonical-list.ts'
import type { Opinion } from '../../combine/opinion.ts'
import type { Contribution } from './model.ts'

/** Mutable, because re-sorting a thousand opinions for each new one would dominate its cost. */
export type ContributionIndex = {
  /** `forgeChain` of the session that this is the standing of; anything else makes it stale. */
  chain: string
  /** In canonical order. */
  sorted: readonly Opinion[]
  readonly by_contributor: Map<string, Contribution>
  /** Every id ever accepted, superseded ones included, with its digest: a repeat is known by it. */
  readonly digests: Map<string, string>
  /** Full pages known to be stored. */
  pages_stored: number
}

export function emptyContributionIndex(chain: string): ContributionIndex {
  return { chain, sorted: [], by_contributor: new Map(), digests: new Map(), pages_stored: 0 }
}

/** Whether a contribution replaces what its contributor said before: not when it is an older message of the same source. */
export function supersedes(given: Pick<Contribution, 'federation'>, before: Contribution | undefined): boolean {
  if (!before?.federation || !given.federation) return true
  if (before.federation.peer !== given.federation.peer) return true
  const { epoch, seq } = before.federation
  return given.federation.epoch > epoch || (given.federation.epoch === epoch && given.federation.seq > seq)
}

/** Adds an accepted contribution, in the order of the record; `sorted` is what `withOpinion` gave, where it is at hand. */
export function addToIndex(
  standing: ContributionIndex,
  given: Contribution,
  chain: string,
  sorted = withOpinion(standing, given),
): void {
  standing.chain = chain
  standing.digests.set(given.id, given.digest)
  standing.sorted = sorted
  if (supersedes(given, standing.by_contributor.get(given.contributor_id)))
    standing.by_contributor.set(given.contributor_id, given)
}

/** The sorted opinions as they would be with one more contribution. */
export function withOpinion(standing: ContributionIndex, given: Contribution): readonly Opinion[] {
  const before = standing.by_contributor.get(given.contributor_id)
  if (!supersedes(given, before)) return standing.sorted
  const { contributor_id, pair_score, accuracy, credibility } = given
  const opinion = { contributor_id, pair_score, accuracy, credibility }
  return before ? supersedeSorted(standing.sorted, opinion) : insertSorted(standing.sorted, opinion)
}
