// The pairs worth a question, in strata by the height of their score.

import { likeness_per_nat } from '../../explain/review-worth.ts'
import { assignAcrossSources, listSides } from '../cluster/clean-sources.ts'
import type { LensRecords } from '../records/records.ts'
import type { Resolution } from '../resolve.ts'

/** Heights above the cut, in natural log-odds, between which strata lie: narrow near the cut, where labels decide most. */
const stratum_edges = [-6, -3, -1.5, -0.5, 0.5, 1.5, 3, 6] as const
export const stratum_count = stratum_edges.length + 1

/** Returns a function that finds the stratum of a pair, by the height of its score above the cut. */
export function createStratumFinder({ scores, cut, scale }: Pick<Resolution, 'scores' | 'cut' | 'scale'>) {
  const unit = scale === 'likeness' ? likeness_per_nat : 1
  return (pair: number): number => {
    const height = (scores[pair]! - cut) / unit
    const at = stratum_edges.findIndex((edge) => height < edge)
    return at < 0 ? stratum_edges.length : at
  }
}

/**
 * Returns the pairs whose label can change the result, in ascending order. Between records with one match: those that the
 * scores would link with the lowest cut. Otherwise: the best pair of each record.
 */
export function listDecisivePairs(
  { rows, sources }: Pick<LensRecords, 'rows' | 'sources'>,
  { route, compared, scores }: Pick<Resolution, 'route' | 'compared' | 'scores'>,
): Int32Array {
  if (route === 'links') return assignAcrossSources(listSides(sources), compared, scores).sort()
  const bestOf = new Int32Array(rows).fill(-1)
  for (let pair = 0; pair < compared.length; pair++) {
    for (const row of [compared.lefts[pair]!, compared.rights[pair]!]) {
      if (bestOf[row]! < 0 || scores[pair]! > scores[bestOf[row]!]!) bestOf[row] = pair
    }
  }
  return Int32Array.from(new Set(bestOf.filter((pair) => pair >= 0))).sort()
}
