// The part of a contribution that a combiner uses: three numbers, and the order in which they are summed.

/** One contributor's standing opinion of the pair. All three numbers are in [0, 1]. */
export type Opinion = {
  readonly contributor_id: string
  readonly pair_score: number
  readonly accuracy: number
  readonly credibility: number
  /** The vote of a peer, under the name of its tenant; absent: of a contributor of this site, which may have the same name. */
  readonly source?: 'peer'
}

/** Whether both are votes of one contributor. */
export function isSameVoter(a: Voter, b: Voter): boolean {
  return a.contributor_id === b.contributor_id && a.source === b.source
}

type Voter = Pick<Opinion, 'contributor_id' | 'source'>

/** The weight of an opinion, in [0, 1]: accuracy x credibility. */
export function weight(opinion: Opinion): number {
  return opinion.accuracy * opinion.credibility
}

/**
 * The order in which every sum is taken. Ids never take part: opinions that compare equal hold the same numbers,
 * so that any order of arrival, local or federated, gives the same bits.
 */
export function compareCanonically(a: Opinion, b: Opinion): number {
  return a.pair_score - b.pair_score || a.accuracy - b.accuracy || a.credibility - b.credibility
}

/** Canonical order, and by id where the numbers are equal: for lists that name contributors, never for sums. */
export function compareCanonicallyThenById(a: Opinion, b: Opinion): number {
  return compareCanonically(a, b) || compareCodeUnits(a.contributor_id, b.contributor_id)
}

export function sortCanonically(opinions: readonly Opinion[]): readonly Opinion[] {
  return opinions.toSorted(compareCanonically)
}

/** Code unit order: a locale would make the record differ from one machine to the next. */
function compareCodeUnits(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
