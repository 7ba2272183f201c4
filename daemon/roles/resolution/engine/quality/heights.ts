// How far scores lie above the cut: the evidence for a link beyond what the result required, whatever the scale of scores.
import { likeness_per_nat } from '../../explain/review-worth.ts'
import type { Resolution } from '../resolve.ts'
import { min_threshold } from '../score/null-threshold.ts'

/** The part of a resolution by which its quality is estimated. */
export type ScoredResult = Pick<Resolution, 'route' | 'reason' | 'scale' | 'clusters' | 'scores' | 'cut'> & {
  readonly compared: Pick<Resolution['compared'], 'length' | 'lefts' | 'rights'>
}

const even_odds = 0

/**
 * Returns a function that computes the height of a pair's score above the cut, in natural log-odds. Where most records have
 * a match, the data may set a cut at which every link passes: heights are then measured from the lowest cut that is
 * evidence. A cut that a lens sets says nothing about the data: below that, heights are measured from even odds.
 */
export function createHeightReader({ reason, scale, scores, cut }: ScoredResult): (pair: number) => number {
  const unit = scale === 'likeness' ? likeness_per_nat : 1
  const lowest = reason === 'lens' ? even_odds : min_threshold
  const base = scale === 'log_odds' && cut < min_threshold ? lowest : cut
  return (pair) => (scores[pair]! - base) / unit
}

/** Returns a function that checks whether a pair is linked. */
export function createLinkTest({ clusters, compared }: ScoredResult): (pair: number) => boolean {
  const { lefts, rights } = compared
  return (pair) => clusters[lefts[pair]!] === clusters[rights[pair]!]
}
