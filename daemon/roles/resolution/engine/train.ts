// Estimates the weights of levels, with or without labels, in the form of a lens.
import type { Lens } from '../lens/model.ts'
import { gatherCandidates } from './candidates.ts'
import type { PairComparer } from './compare/pair-comparer.ts'
import { type ComparedPairs, PairList } from './compare/patterns.ts'
import { learnFromClusters } from './complete-clusters.ts'
import { createUntrainedModel, em_rounds } from './learn-weights.ts'
import type { EngineProgressListener } from './progress.ts'
import { LensFault, type LensRecords } from './records/records.ts'
import { createResolutionContext, resolveRecords } from './resolve.ts'
import {
  computeOutcomeFrequencies,
  computeProbabilities,
  computeWeights,
  estimateModel,
  type MatchModel,
  scorePatterns,
} from './score/model.ts'

/** `m` and `u` of each level of a field, and the resulting bits. */
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

/** Labels: matching and non-matching pairs, or the true cluster of every record. */
export type TrainingLabels =
  | { readonly kind: 'pairs'; readonly pairs: readonly { a: number; b: number; isMatch: boolean }[] }
  | { readonly kind: 'clusters'; readonly clusters: Int32Array }

/** Returns the lens without weights, so that all are estimated. */
function stripWeights(lens: Lens): Lens {
  const { prior: _, ...rest } = lens
  return { ...rest, fields: lens.fields.map(({ weights: _w, m: _m, u: _u, ...field }) => field) }
}

/**
 * Estimates weights. Without labels: u from random pairs, m by expectation-maximisation, as in a run. With labels: m
 * from matching pairs, u from non-matching candidates. Deterministic. Throws `LensFault`.
 */
export function trainWeights(
  lens: Lens,
  records: LensRecords,
  seed: number,
  labels: TrainingLabels | undefined,
  report: EngineProgressListener,
): TrainingResult {
  const unweighted = stripWeights(lens)
  if (labels) return trainFromLabels(unweighted, records, seed, labels, report)
  const { model, comparer, compared } = resolveRecords(unweighted, records, seed, report)
  return toTrainingResult(model, comparer, compared)
}

function trainFromLabels(
  lens: Lens,
  records: LensRecords,
  seed: number,
  labels: TrainingLabels,
  report: EngineProgressListener,
): TrainingResult {
  const context = createResolutionContext(lens, records, seed, report)
  const { comparer, list } = gatherCandidates(records, context)
  if (labels.kind === 'clusters') {
    const { clusters } = labels
    addClusterPairs(clusters, list)
    return toTrainingResult(learnFromClusters(comparer, list.compared(), clusters), comparer, list.compared())
  }
  const labelled = new PairList(comparer)
  for (const { a, b, isMatch } of labels.pairs) if (isMatch) labelled.add(Math.min(a, b), Math.max(a, b))
  const matches = labelled.compared()
  const ones = new Float64Array(matches.counts.length).fill(1)
  const m = comparer.outcomes.map((count, field) => computeOutcomeFrequencies(matches, field, count, ones))
  let model: MatchModel = { ...createUntrainedModel(records, comparer, context.random), m }
  for (let round = 0; round < em_rounds; round++) {
    const scores = scorePatterns(model, comparer, list.compared())
    model = { ...estimateModel(comparer, list.compared(), computeProbabilities(scores)), m }
  }
  return toTrainingResult(model, comparer, list.compared())
}

/** Adds every true pair that blocking missed. */
function addClusterPairs(clusters: Int32Array, list: PairList): void {
  const { lefts, rights, length } = list.compared()
  const listed = new Set<number>()
  for (let pair = 0; pair < length; pair++) {
    const [a, b] = [lefts[pair]!, rights[pair]!]
    if (clusters[a] === clusters[b]) listed.add(a * clusters.length + b)
  }
  const members = new Map<number, number[]>()
  for (const [row, cluster] of clusters.entries()) {
    const others = members.get(cluster) ?? []
    for (const other of others) if (!listed.has(other * clusters.length + row)) list.add(other, row)
    members.set(cluster, [...others, row])
  }
}

/**
 * Converts a model. Pooled weights (which never rise as similarity falls) are stored as used: m is u times the weight.
 * Throws `LensFault` if no pairs were compared.
 */
function toTrainingResult(model: MatchModel, comparer: PairComparer, { length }: ComparedPairs): TrainingResult {
  if (length === 0)
    throw new LensFault('no two records were compared, so nothing can be learnt: check the blocking rules and the data')
  const weights = computeWeights(model, comparer)
  const fields = comparer.fields.map(({ name }, field) => {
    const u = model.u[field]!.slice(1).map(roundProbability)
    const m = weights[field]!.slice(1).map((weight, level) =>
      roundProbability(Math.min(1, u[level]! * Math.exp(weight))),
    )
    return { field: name, m, u, bits: m.map((share, level) => Math.log2(share / u[level]!)) }
  })
  return { fields, prior: roundProbability(model.lambda), pairs_compared: length }
}

/** Rounds to nine digits: readable, and without effect on any score. */
function roundProbability(probability: number): number {
  return Number(probability.toPrecision(9))
}
