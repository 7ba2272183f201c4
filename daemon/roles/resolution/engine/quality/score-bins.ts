// Counts the compared pairs by score, with those that are linked and the matches that the scores expect.
import { computeCompetingProbabilities } from '../score/competition.ts'
import { createHeightReader, createLinkTest, type ScoredResult } from './heights.ts'

/** Pairs with a score in one interval. `expected`: sum of their match probabilities. */
export type ScoreBin = { readonly pairs: number; readonly linked: number; readonly expected: number }

/** Intervals of equal width from the lowest score to the highest, ascending. */
export type ScoreBins = { readonly from: number; readonly to: number; readonly bins: ScoreBin[] }

const bin_count = 120
/** Bits or likeness; a histogram of one score has a width, too. */
const min_width = 1e-6

/** Counts the pairs. The cut is the border of two bins, so that sums above it are exact. */
export function countScoreBins(rows: number, result: ScoredResult): ScoreBins {
  const { compared, scores, scale, cut } = result
  const isLinked = createLinkTest(result)
  const heightOf = createHeightReader(result)
  const evidence = scale === 'log_odds' ? scores : scores.map((_, pair) => heightOf(pair))
  const probabilities = computeCompetingProbabilities(rows, compared, evidence, result.clusters)
  let [lowest, highest] = [cut, cut]
  for (const score of scores) {
    if (score < lowest) lowest = score
    if (score > highest) highest = score
  }
  const width = Math.max(min_width, (highest - lowest) / (bin_count - 1))
  const below = Math.ceil((cut - lowest) / width)
  const from = cut - below * width
  const bins = Array.from({ length: bin_count }, () => ({ pairs: 0, linked: 0, expected: 0 }))
  for (let pair = 0; pair < compared.length; pair++) {
    const at =
      scores[pair]! >= cut
        ? below + Math.floor((scores[pair]! - cut) / width)
        : Math.floor((scores[pair]! - from) / width)
    const bin = bins[Math.max(0, Math.min(scores[pair]! >= cut ? bin_count - 1 : below - 1, at))]!
    bin.pairs++
    if (isLinked(pair)) bin.linked++
    bin.expected += probabilities[pair]!
  }
  const rounded = bins.map((bin) => ({ ...bin, expected: Number(bin.expected.toFixed(3)) }))
  return { from, to: from + bin_count * width, bins: rounded }
}
