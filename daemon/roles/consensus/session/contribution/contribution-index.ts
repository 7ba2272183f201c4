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
  /** The standing contributions by `voterOf`. */
  readonly by_voter: Pick<ReadonlyMap<string, Contribution>, 'get' | 'has' | 'size'>
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
  readonly by_voter: Map<string, Contribution>
  readonly digests: Map<string, string>
  pages_stored: number
}

type IndexedSession = Pick<StoredSession, 'chain' | 'contributions' | 'recent'>
type Superseding = Pick<Contribution, 'federation'>

/**
 * Names who votes: a contributor of this site, or a peer as its tenant. The names of both are chosen apart from each other, so that
 * one must never take the place of the other.
 */
export function voterKey(contributor_id: string, source?: Opinion['source']): string {
  return `${source ?? 'local'}:${contributor_id}`
}

export function voterOf({ contributor_id, federation }: Superseding & Pick<Contribution, 'contributor_id'>): string {
  return voterKey(contributor_id, sourceOf(federation))
}

function sourceOf(federation: Contribution['federation']): Opinion['source'] {
  return federation ? 'peer' : undefined
}

export function emptyContributionIndex(chain: string): ContributionIndex {
  return { chain, contributions: 0, sorted: [], by_voter: new Map(), digests: new Map(), pages_stored: 0 }
}

/** Whether a contribution replaces the voter's earlier one: not when it is an older message of the same source. */
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
  const voter = voterOf(contribution)
  if (supersedes(contribution, index.by_voter.get(voter))) index.by_voter.set(voter, contribution)
}

/** The sorted opinions as they would be with one more contribution. */
export function withOpinion(
  { sorted, by_voter }: Pick<ContributionView, 'sorted' | 'by_voter'>,
  contribution: Opinion & Superseding,
): readonly Opinion[] {
  return sortWith(sorted, contribution, by_voter.get(voterOf(contribution)))
}

function sortWith(sorted: readonly Opinion[], contribution: Opinion & Superseding, before: Superseding | undefined) {
  if (!supersedes(contribution, before)) return sorted
  const { contributor_id, pair_score, accuracy, credibility, federation } = contribution
  const source = sourceOf(federation)
  const opinion = { contributor_id, pair_score, accuracy, credibility, ...(source ? { source } : {}) }
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
  const place_by_voter = new Map<string, number>()
  let sorted = index.sorted
  for (let at = first; at < session.recent.length; at++) {
    const contribution = session.recent[at]
    if (!contribution) continue
    const voter = voterOf(contribution)
    const place = place_by_voter.get(voter)
    const before = place === undefined ? index.by_voter.get(voter) : session.recent[place]
    sorted = sortWith(sorted, contribution, before)
    if (supersedes(contribution, before)) place_by_voter.set(voter, at)
  }
  return {
    sorted,
    by_voter: {
      get: (voter) => expandRecentAt(session, place_by_voter.get(voter)) ?? index.by_voter.get(voter),
      has: (voter) => place_by_voter.has(voter) || index.by_voter.has(voter),
      size: sorted.length,
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
