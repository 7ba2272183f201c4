// Estimates the recall of links from the matches that the scores expect outside clusters, and from how the scores of links
// continue below the cut.
import type { LensRecords } from '../records/records.ts'
import { computeCompetingProbabilities } from '../score/competition.ts'
import { logistic } from '../score/model.ts'
import { createHeightReader, createLinkTest, type ScoredResult } from './heights.ts'
import { boundedLogit, meanByLogOdds } from './log-odds.ts'
import { estimateShareBelowZero } from './normal-tail.ts'

/** Heights above it say no more about the scores near the cut. */
const max_height = 30

/**
 * Both observations see compared pairs alone and are too high, so their mean is drawn toward the recall of typical
 * results: log-odds of recall by those of the observations, fitted to 34 labelled tables.
 */
const typical_log_odds = 0.53
const weight = 0.55

/** Estimates the share of matches that are linked; undefined without linked pairs. */
export function estimateRecall({ rows }: Pick<LensRecords, 'rows'>, result: ScoredResult): number | undefined {
  const { compared, scale, scores } = result
  const [heightOf, isLinked] = [createHeightReader(result), createLinkTest(result)]
  const evidence = scale === 'log_odds' ? scores : scores.map((_, pair) => heightOf(pair))
  const probabilities = computeCompetingProbabilities(rows, compared, evidence)
  let [found, missed] = [0, 0]
  let [count, sum, squares] = [0, 0, 0]
  for (let pair = 0; pair < compared.length; pair++) {
    if (!isLinked(pair)) {
      missed += probabilities[pair]!
      continue
    }
    found += probabilities[pair]!
    const height = Math.min(max_height, heightOf(pair))
    if (height <= 0) continue
    count++
    sum += height
    squares += height * height
  }
  if (found === 0) return undefined
  const observed = meanByLogOdds(found / (found + missed), 1 - estimateShareBelowZero({ count, sum, squares }))
  return logistic(typical_log_odds + weight * boundedLogit(observed))
}
