// Inserts into and removes from a canonically sorted list, so that a session need not be sorted for each contribution.
import { compareCanonically, isSameVoter, type Opinion } from './opinion.ts'

/** A new list with the opinion in its place. `sorted` must be in canonical order. */
export function insertSorted(sorted: readonly Opinion[], opinion: Opinion): readonly Opinion[] {
  return sorted.toSpliced(indexAfterEquals(sorted, opinion), 0, opinion)
}

/** A new list without the opinion of this voter; the same list where there is none. */
export function removeSorted(
  sorted: readonly Opinion[],
  voter: Pick<Opinion, 'contributor_id' | 'source'>,
): readonly Opinion[] {
  const at = sorted.findIndex((opinion) => isSameVoter(opinion, voter))
  return at < 0 ? sorted : sorted.toSpliced(at, 1)
}

/** A new list in which the opinion replaces the contributor's earlier one. */
export function supersedeSorted(sorted: readonly Opinion[], opinion: Opinion): readonly Opinion[] {
  return insertSorted(removeSorted(sorted, opinion), opinion)
}

function indexAfterEquals(sorted: readonly Opinion[], opinion: Opinion): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const existing = sorted[middle]
    if (existing !== undefined && compareCanonically(existing, opinion) <= 0) low = middle + 1
    else high = middle
  }
  return low
}
