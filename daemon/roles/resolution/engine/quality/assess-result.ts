// Judges a result: estimated precision and recall, without labels and by labels if there are some, doubtful clusters, and a
// verdict.
import { min_precision, min_recall, type QualityEstimate, type ResultQuality } from '../../fusion-run/result-quality.ts'
import type { Lens } from '../../lens/model.ts'
import { createComparisonScope } from '../block/lens-rules.ts'
import { computeMeanSizeByRecord } from '../cluster/cluster-sizes.ts'
import { findSwappedFields } from '../compare/swapped-fields.ts'
import { estimateByResultLabels } from '../labels/estimate-result.ts'
import type { LabelledRecords } from '../labels/known-labels.ts'
import type { LensRecords } from '../records/records.ts'
import type { Resolution } from '../resolve.ts'
import type { MatchWeights } from '../score/match-weights.ts'
import { logistic } from '../score/model.ts'
import { findDifferingName } from './differing-name.ts'
import { estimatePrecision } from './estimate-precision.ts'
import { estimateRecall } from './estimate-recall.ts'
import { createHeightReader, createLinkTest } from './heights.ts'
import { countLinkedPatterns, measureFieldBits, measureUnlikeShare } from './linked-patterns.ts'
import { boundedLogit } from './log-odds.ts'
import { roundFigure } from './round-figure.ts'
import { findSuspiciousClusters } from './suspicious-clusters.ts'

/**
 * Log-odds by which the truth of nine in ten labelled tables lay below and above the estimate, at most. The measured tables
 * and their errors are in docs/measurements.md.
 */
const precision_error = { below: 3.2, above: 1.7 }
const recall_error = { below: 2.4, above: 2.6 }
/** Standard deviations of the error of drawing a finite number of links. */
const drawing_deviations = 1.64

/**
 * In labelled tables, links of mostly unlike records were at most 0.47 of all, and under 0.1 but in texts; in tables of people
 * without a match, 0.96 to 1. Above it, such links count as wrong.
 */
const max_unlike_share = 0.7
const good_precision = 0.9
/** Few links cannot show more. */
const good_lowest_precision = 0.5
const good_recall = 0.8
/** Clusters of this size on average, and of this share of all records, hold records that the fields do not tell apart. */
const min_undivided_size = 20
const undivided_share = 0.1

/** Height of links that hold with any reasonable cut. */
const sure_height = 4
const max_listed_clusters = 10

export type AssessedResult = {
  readonly lens: Lens
  readonly records: LensRecords
  readonly resolution: Resolution
  /** Weights of its scores. */
  readonly weights: MatchWeights
  /** Share of the compared pairs that match. */
  readonly prior: number
  /** Number of each row's cluster in the files of a run; absent where clusters have no numbers. */
  readonly numbers?: Int32Array
  /** Pairs that people judged. */
  readonly labels?: readonly LabelledRecords[] | undefined
}

/** Assesses a result. Deterministic. */
export function assessResult(result: AssessedResult): ResultQuality {
  const { lens, records, resolution, weights, prior, numbers, labels } = result
  const { reason, training, scale, compared } = resolution
  const { sources } = createComparisonScope(lens, records)
  const linked = { ...compared, counts: countLinkedPatterns(resolution) }
  const observed = {
    ...countLinks(resolution),
    carried_by: measureFieldBits(records, resolution, linked, weights),
    route_reason: reason,
    // A likeness is not a sum of log-odds, and a lens may fix weights without a prior.
    ...(scale === 'log_odds' &&
      (training !== 'lens' || lens.prior !== undefined) && {
        prior: { share: roundFigure(prior), learnt_from: training },
      }),
    doubtful: listDoubtfulClusters(resolution, sources, numbers),
    ...(labels && { by_labels: estimateByResultLabels(records, resolution, labels) }),
  }
  const likely = estimatePrecision(records, resolution, sources)
  const recall = estimateRecall(records, resolution)
  if (likely === undefined || recall === undefined) return { verdict: 'no_links', ...observed }
  const swapped = findSwappedFields(lens, records.fields)
  const differing_name = findDifferingName(records, linked, swapped, weights)
  const precision = Math.min(likely, 1 - findWrongShare(linked, swapped, weights), 1 - (differing_name?.share ?? 0))
  const estimates = {
    precision: toInterval(precision, precision_error, observed.links),
    recall: toInterval(recall, recall_error, observed.links),
  }
  const { precision: known_precision, recall: known_recall } = observed.by_labels ?? {}
  const decisive = {
    precision: known_precision ?? estimates.precision,
    recall: known_recall ?? estimates.recall,
  }
  return {
    ...judgeEstimates(decisive, isDivided(records.rows, resolution.clusters)),
    ...estimates,
    ...observed,
    ...(differing_name && { differing_name }),
  }
}

/** The share of the links that count as wrong because their records are unlike. */
function findWrongShare(...parts: Parameters<typeof measureUnlikeShare>): number {
  const share = measureUnlikeShare(...parts)
  return share > max_unlike_share ? share : 0
}

function judgeEstimates(
  { precision, recall }: Readonly<Record<'precision' | 'recall', QualityEstimate>>,
  isDivided: boolean,
): Pick<ResultQuality, 'verdict' | 'poor_in'> {
  const poor_in = listFaults(precision.value, recall.value, isDivided)
  if (poor_in.length > 0) return { verdict: 'poor', poor_in }
  const isGood =
    precision.value >= good_precision && recall.value >= good_recall && precision.low >= good_lowest_precision
  return { verdict: isGood ? 'good' : 'fair' }
}

function countLinks(resolution: Resolution): Pick<ResultQuality, 'links' | 'sure_links'> {
  const [heightOf, isLinked] = [createHeightReader(resolution), createLinkTest(resolution)]
  let [links, sure_links] = [0, 0]
  for (let pair = 0; pair < resolution.compared.length; pair++) {
    if (!isLinked(pair)) continue
    links++
    if (heightOf(pair) >= sure_height) sure_links++
  }
  return { links, sure_links }
}

function listDoubtfulClusters(
  resolution: Resolution,
  sources: Int32Array | undefined,
  numbers: Int32Array | undefined,
): ResultQuality['doubtful'] {
  const suspicious = findSuspiciousClusters(resolution, sources)
  const worst = suspicious.slice(0, max_listed_clusters).map(({ row, size, doubts, density }) => {
    return { ...(numbers && { cluster: numbers[row]! }), size, doubts: [...doubts], density: roundFigure(density) }
  })
  return { count: suspicious.length, worst }
}

function listFaults(precision: number, recall: number, divided: boolean): NonNullable<ResultQuality['poor_in']> {
  return [
    ...(precision < min_precision ? (['precision'] as const) : []),
    ...(recall < min_recall ? (['recall'] as const) : []),
    ...(divided ? [] : (['division'] as const)),
  ]
}

/** Whether the records fall apart into clusters that are small beside all of them. */
function isDivided(rows: number, clusters: Int32Array): boolean {
  return computeMeanSizeByRecord(clusters) < Math.max(min_undivided_size, rows * undivided_share)
}

/** Widens an estimate by the error of the method, and by that of a finite number of links. */
function toInterval(value: number, error: { below: number; above: number }, links: number): QualityEstimate {
  const log_odds = boundedLogit(value)
  const probability = logistic(log_odds)
  const drawing = drawing_deviations / Math.sqrt(links * probability * (1 - probability))
  return {
    value: roundFigure(value),
    low: roundFigure(logistic(log_odds - Math.hypot(error.below, drawing))),
    high: roundFigure(logistic(log_odds + Math.hypot(error.above, drawing))),
  }
}
