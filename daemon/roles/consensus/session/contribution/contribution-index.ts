// Index over the standing contributions of a session: sorted for the combiner, found by contributor and by id.

import { insertSorted, supersedeSorted } from '../../combine/canonical-list.ts'
import type { Opinion } from '../../combine/opinion.ts'
import type { StoredSession } from '../model.ts'
import type { Contribution } from './model.ts'
import { expandRecentAt } from './recent-contribution.ts'

/** The read-only part of an index that the rules use. */
export type ContributionView = {
  /** In canonical order. */
  readonly sorted: readonly Opinion[]
  readonly by_contributor: Pick<ReadonlyMap<string, Contribution>, 'get' | 'has' | 'size'>
  /** Digest by id, for every id ever accepted, superseded contributions included: identifies a repeat. */
  readonly digests: Pick<ReadonlyMap<string, string>, 'get'>
  /** Number of full pages known to be stored. */
  readonly pages_stored: number
}

/** Mutable, because re-sorting a thousand opinions for each new one would dominate its cost. */
export type ContributionIndex = {
  /** `chain` of the session state that this index describes. */
  chain: string
  /** Number of contributions in the record of that state. */
  contributions: number
  sorted: readonly Opinion[]
  readonly by_contributor: Map<string, Contribution>
  readonly digests: Map<string, string>
  pages_stored: number
}

type IndexedSession = Pick<StoredSession, 'chain' | 'contributions' | 'contributors' | 'recent'>
type Superseding = Pick<Contribution, 'federation'>

export function emptyContributionIndex(chain: string): ContributionIndex {
  return { chain, contributions: 0, sorted: [], by_contributor: new Map(), digests: new Map(), pages_stored: 0 }
}

/** Whether a contribution replaces the contributor's earlier one: not when it is an older message of the same source. */
export function supersedes(contribution: Superseding, before: Superseding | undefined): boolean {
  if (!before?.federation || !contribution.federation) return true
  if (before.federation.peer !== contribution.federation.peer) return true
  const { epoch, seq } = before.federation
  return (
    contribution.federation.epoch > epoch ||
    (contribution.federation.epoch === epoch && contribution.federation.seq > seq)
  )
}

/** Adds an accepted contribution, in the order of the record; `sorted`: the result of `withOpinion`, where it is known. */
export function addToIndex(
  index: ContributionIndex,
  contribution: Contribution,
  chain: string,
  sorted = withOpinion(index, contribution),
): void {
  index.chain = chain
  index.contributions++
  index.digests.set(contribution.id, contribution.digest)
  index.sorted = sorted
  if (supersedes(contribution, index.by_contributor.get(contribution.contributor_id)))
    index.by_contributor.set(contribution.contributor_id, contribution)
}

/** The sorted opinions as they would be with one more contribution. */
export function withOpinion(
  { sorted, by_contributor }: Pick<ContributionView, 'sorted' | 'by_contributor'>,
  contribution: Opinion & Superseding,
): readonly Opinion[] {
  return sortWith(sorted, contribution, by_contributor.get(contribution.contributor_id))
}

function sortWith(sorted: readonly Opinion[], contribution: Opinion & Superseding, before: Superseding | undefined) {
  if (!supersedes(contribution, before)) return sorted
  const { contributor_id, pair_score, accuracy, credibility } = contribution
  const opinion = { contributor_id, pair_score, accuracy, credibility }
  return before ? supersedeSorted(sorted, opinion) : insertSorted(sorted, opinion)
}

/**
 * The index as of this state of its session, without changing it: contributions that the index does not hold yet come
 * from the session's recent ones. Undefined when the index describes a later state, or one too long ago.
 */
export function viewSession(index: ContributionIndex, session: IndexedSession): ContributionView | undefined {
  const missing = session.contributions - index.contributions
  if (missing === 0) return index.chain === session.chain ? index : undefined
  const first = session.recent.length - missing
  if (missing < 0 || first < 0) return undefined
  const place_by_contributor = new Map<string, number>()
  let sorted = index.sorted
  for (let at = first; at < session.recent.length; at++) {
    const contribution = session.recent[at]
    if (!contribution) continue
    const place = place_by_contributor.get(contribution.contributor_id)
    const before = place === undefined ? index.by_contributor.get(contribution.contributor_id) : session.recent[place]
    sorted = sortWith(sorted, contribution, before)
    if (supersedes(contribution, before)) place_by_contributor.set(contribution.contributor_id, at)
  }
  return {
    sorted,
    by_contributor: {
      get: (id) => expandRecentAt(session, place_by_contributor.get(id)) ?? index.by_contributor.get(id),
      has: (id) => place_by_contributor.has(id) || index.by_contributor.has(id),
      size: session.contributors,
    },
    digests: {
      get: (id) => {
        const place = session.recent.findLastIndex((contribution) => contribution.id === id)
        return place < first ? index.digests.get(id) : expandRecentAt(session, place)?.digest
      },
    },
    pages_stored: index.pages_stored,
  }
}
