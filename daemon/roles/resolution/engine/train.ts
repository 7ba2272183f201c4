// Estimates the weights of levels, with or without labels, in the form that a lens stores.
import type { Lens } from '../lens/model.ts'
import type { PairComparer } from './compare/pair-comparer.ts'
import { type ComparedPairs, PairList } from './compare/patterns.ts'
import type { EngineProgressListener } from './progress.ts'
import { LensFault, type LensRecords } from './records/records.ts'
import { createResolutionContext, resolveRecords } from './resolve.ts'
import { createUntrainedModel, em_rounds, gatherCandidates } from './resolve-clusters.ts'
import {
  computeOutcomeFrequencies,
  computeProbabilities,
  computeWeights,
  estimateModel,
  type MatchModel,
  scorePatterns,
} from './score/model.ts'

/** `m` and `u` of each level of a field, and the bits that they make. */
export type TrainedField = {
  readonly field: string
  readonly m: readonly number[]
  readonly u: readonly number[]
  readonly bits: readonly number[]
}

export type TrainingResult = {
  readonly fields: readonly TrainedField[]
  /** Probability that a candidate is a match. */
  readonly prior: number
  readonly pairs_compared: number
}

/** Labels: pairs that match or do not; or the true cluster of every record. */
export type TrainingLabels =
  | { readonly kind: 'pairs'; readonly pairs: readonly { a: number; b: number; isMatch: boolean }[] }
  | { readonly kind: 'clusters'; readonly clusters: Int32Array }

/** The lens without weights, so that all are estimated. */
export function stripWeights(lens: Lens): Lens {
  const { prior: _, ...rest } = lens
  return { ...rest, fields: lens.fields.map(({ weights: _w, m: _m, u: _u, ...field }) => field) }
}

/**
 * Without labels: u from pairs drawn at random, m by expectation and maximisation, as a run learns them. With labels: m
 * from pairs that are one; u from candidates that are not. Deterministic. Throws `LensFault`.
 */
export function trainWeights(
  lens: Lens,
  records: LensRecords,
  seed: number,
  labels: TrainingLabels | undefined,
  report: EngineProgressListener,
): TrainingResult {
  const open = stripWeights(lens)
  if (labels) return trainFromLabels(open, records, seed, labels, report)
  const { model, compares, compared } = resolveRecords(open, records, seed, report)
  return toTrainingResult(model, compares, compared)
}

function trainFromLabels(
  lens: Lens,
  records: LensRecords,
  seed: number,
  labels: TrainingLabels,
  report: EngineProgressListener,
): TrainingResult {
  const context = createResolutionContext(lens, records, seed, report)
  const { compares, list } = gatherCandidates(records, context)
  if (labels.kind === 'clusters') {
    const { clusters } = labels
    addClusterPairs(clusters, list)
    return toTrainingResult(
      estimateModel(compares, list.compared(), computeMatchShares(list.compared(), clusters)),
      compares,
      list.compared(),
    )
  }
  const known = new PairList(compares)
  for (const { a, b, isMatch } of labels.pairs) if (isMatch) known.add(Math.min(a, b), Math.max(a, b))
  const matches = known.compared()
  const all = new Float64Array(matches.counts.length).fill(1)
  const m = compares.outcomes.map((count, field) => computeOutcomeFrequencies(matches, field, count, all))
  let model: MatchModel = { ...createUntrainedModel(records, compares, context.random), m }
  for (let round = 0; round < em_rounds; round++) {
    const scores = scorePatterns(model, compares, list.compared())
    model = { ...estimateModel(compares, list.compared(), computeProbabilities(scores)), m }
  }
  return toTrainingResult(model, compares, list.compared())
}

/** Adds every true pair, whether or not blocking found it. */
function addClusterPairs(clusters: Int32Array, list: PairList): void {
  const { lefts, rights, length } = list.compared()
  const known = new Set<number>()
  for (let pair = 0; pair < length; pair++) {
    const [a, b] = [lefts[pair]!, rights[pair]!]
    if (clusters[a] === clusters[b]) known.add(a * clusters.length + b)
  }
  const members = new Map<number, number[]>()
  for (const [row, cluster] of clusters.entries()) {
    const others = members.get(cluster) ?? []
    for (const other of others) if (!known.has(other * clusters.length + row)) list.add(other, row)
    members.set(cluster, [...others, row])
  }
}

/** Share of each pattern's pairs that are matches. */
function computeMatchShares(
  { length, lefts, rights, patternOf, counts }: ComparedPairs,
  clusters: Int32Array,
): Float64Array {
  const inside = new Float64Array(counts.length)
  for (let pair = 0; pair < length; pair++) {
    if (clusters[lefts[pair]!] === clusters[rights[pair]!]) inside[patternOf[pair]!]!++
  }
  return inside.map((count, pattern) => count / counts[pattern]!)
}

/**
 * Weights that were pooled (so that they never rise as likeness falls) are stored as they are used: m is u times the
 * weight. Throws `LensFault` where no pairs were compared.
 */
function toTrainingResult(model: MatchModel, compares: PairComparer, { length }: ComparedPairs): TrainingResult {
  if (length === 0) throw new LensFault('no two records were compared, so that there is nothing to learn from')
  const weights = computeWeights(model, compares)
  const fields = compares.fields.map(({ name }, field) => {
    const u = model.u[field]!.slice(1).map(roundProbability)
    const m = weights[field]!.slice(1).map((weight, level) =>
      roundProbability(Math.min(1, u[level]! * Math.exp(weight))),
    )
    return { field: name, m, u, bits: m.map((each, level) => Math.log2(each / u[level]!)) }
  })
  return { fields, prior: roundProbability(model.lambda), pairs_compared: length }
}

/** Nine digits: readable, and without effect on any score. */
function roundProbability(probability: number): number {
  return Number(probability.toPrecision(9))
}
