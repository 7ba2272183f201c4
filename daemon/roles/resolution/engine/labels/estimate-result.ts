// Estimates precision and recall of a result from labelled pairs, each of which stands for the pairs of its score that the
// result treats alike.
import type { QualityEstimate, ResultQuality } from '../../fusion-run/result-quality.ts'
import { createHeightReader, createLinkTest } from '../quality/heights.ts'
import { boundedLogit } from '../quality/log-odds.ts'
import { roundFigure } from '../quality/round-figure.ts'
import type { LensRecords } from '../records/records.ts'
import type { Resolution } from '../resolve.ts'
import { computeCompetingProbabilities } from '../score/competition.ts'
import { logistic, logit } from '../score/model.ts'
import { findPairs, type LabelledRecords } from './known-labels.ts'
import { createStratumFinder, listDecisivePairs, stratum_count } from './label-strata.ts'

/** With fewer labels, chance decides most of an estimate. */
const min_estimate_labels = 10
/** Standard deviation of the error of what the scores expect, in natural log-odds: the prior drifts by a factor of ten (0087). */
const expectation_deviation = Math.log(10)
/** Standard deviations of an interval that holds nine in ten. */
const interval_deviations = 1.64
const fit_rounds = 30
/** A longer step may overshoot where labels contradict a sure expectation. */
const max_fit_step = 1

/** Pairs that the scores expect to match with one mean probability. */
type PairGroup = { pairs: number; expected: number }
/** Pairs of a stratum on one side of the result: those that labels are drawn from, the others, and the labels. */
type LabelCell = { readonly drawn: PairGroup; readonly others: PairGroup; labels: number; matches: number }

type LabelQuality = NonNullable<ResultQuality['by_labels']>

/** Estimates from the labels of compared pairs; the others do not count. */
export function estimateByResultLabels(
  records: Pick<LensRecords, 'rows' | 'sources'>,
  resolution: Resolution,
  labels: readonly LabelledRecords[],
): LabelQuality {
  const found = findPairs(records.rows, resolution.compared, labels)
  const known = new Map(found.flatMap((pair, at) => (pair < 0 ? [] : [[pair, labels[at]!.isMatch] as const])))
  const counts = { labels: known.size, matches: [...known.values()].filter(Boolean).length }
  const { linked, unlinked } = divideIntoCells(records, resolution, known)
  const links = linked.reduce((sum, { drawn, others }) => sum + drawn.pairs + others.pairs, 0)
  if (known.size < min_estimate_labels || links === 0) return counts
  const [right, missed] = [measureMatches(linked), measureMatches(unlinked)]
  const matches = right.matches + missed.matches
  const variance = missed.matches ** 2 * right.variance + right.matches ** 2 * missed.variance
  return {
    ...counts,
    precision: toEstimate(right.matches / links, right.variance / links ** 2),
    recall: toEstimate(right.matches / matches, variance / matches ** 4),
  }
}

/**
 * Divides the compared pairs. Labels are drawn from the links, and from the pairs that decide the result; the other pairs
 * of a stratum match less often, and share its error.
 */
function divideIntoCells(
  records: Pick<LensRecords, 'rows' | 'sources'>,
  resolution: Resolution,
  known: ReadonlyMap<number, boolean>,
): Readonly<Record<'linked' | 'unlinked', LabelCell[]>> {
  const { compared, scale, scores, clusters } = resolution
  const [heightOf, isLinked] = [createHeightReader(resolution), createLinkTest(resolution)]
  const evidence = scale === 'log_odds' ? scores : scores.map((_, pair) => heightOf(pair))
  const probabilities = computeCompetingProbabilities(records.rows, compared, evidence, clusters)
  const stratumOf = createStratumFinder(resolution)
  const decisive = new Uint8Array(compared.length)
  for (const pair of listDecisivePairs(records, resolution)) decisive[pair] = 1
  const [linked, unlinked] = [createCells(), createCells()]
  for (let pair = 0; pair < compared.length; pair++) {
    const cell = (isLinked(pair) ? linked : unlinked)[stratumOf(pair)]!
    const isMatch = known.get(pair)
    const group = isLinked(pair) || decisive[pair] || isMatch !== undefined ? cell.drawn : cell.others
    group.pairs++
    group.expected += probabilities[pair]!
    if (isMatch !== undefined) cell.labels++
    if (isMatch) cell.matches++
  }
  return { linked, unlinked }
}

function createCells(): LabelCell[] {
  const group = () => ({ pairs: 0, expected: 0 })
  return Array.from({ length: stratum_count }, () => ({ drawn: group(), others: group(), labels: 0, matches: 0 }))
}

/** Estimated number of matches among the pairs of all cells, and its variance. */
function measureMatches(cells: readonly LabelCell[]) {
  let [matches, variance] = [0, 0]
  for (const cell of cells) {
    const { shift, deviation } = fitExpectationShift(cell)
    let slope = 0
    for (const { pairs, expected } of [cell.drawn, cell.others]) {
      if (pairs === 0) continue
      const share = logistic(boundedExpectation(expected / pairs) + shift)
      matches += pairs * share
      slope += pairs * share * (1 - share)
    }
    variance += (slope * deviation) ** 2
  }
  return { matches, variance }
}

/** The error of the expectation that the labels of a cell make most probable, in log-odds, by Newton's method. */
function fitExpectationShift({ drawn, labels, matches }: LabelCell) {
  const precision = 1 / expectation_deviation ** 2
  if (labels === 0) return { shift: 0, deviation: expectation_deviation }
  const expected = boundedExpectation(drawn.expected / drawn.pairs)
  let shift = 0
  let curvature = precision
  for (let round = 0; round < fit_rounds; round++) {
    const share = logistic(expected + shift)
    curvature = labels * share * (1 - share) + precision
    const step = (matches - labels * share - precision * shift) / curvature
    shift += Math.max(-max_fit_step, Math.min(max_fit_step, step))
  }
  return { shift, deviation: 1 / Math.sqrt(curvature) }
}

/** Log-odds of a mean probability; no expectation is surer than one in a million. */
function boundedExpectation(probability: number): number {
  return logit(Math.max(1e-6, Math.min(1 - 1e-6, probability)))
}

function toEstimate(value: number, variance: number): QualityEstimate {
  const log_odds = boundedLogit(value)
  const probability = logistic(log_odds)
  const reach = (interval_deviations * Math.sqrt(variance)) / (probability * (1 - probability))
  return {
    value: roundFigure(value),
    low: roundFigure(Math.min(value, logistic(log_odds - reach))),
    high: roundFigure(Math.max(value, logistic(log_odds + reach))),
  }
}
