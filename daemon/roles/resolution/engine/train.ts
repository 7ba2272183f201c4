// Estimates the weights of levels, with or without labels, in the form of a lens.
import type { Lens } from '../lens/model.ts'
import { gatherCandidates } from './candidates.ts'
import type { PairComparer } from './compare/pair-comparer.ts'
import { type ComparedPairs, PairList } from './compare/patterns.ts'
import { learnFromClusters } from './complete-clusters.ts'
import type { LabelledRecords } from './labels/known-labels.ts'
import { type LabelEffect, learnFromPairs } from './labels/learn-from-pairs.ts'
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
  /** Set by labelled pairs alone: how a run with these weights clusters, and what the labels did. */
  readonly labelled?: Pick<Lens, 'threshold' | 'likeness_threshold' | 'clustering'> & { readonly effect: LabelEffect }
}

/** Labels: matches, and pairs that may not match, or the true cluster of every record. */
export type TrainingLabels =
  | { readonly kind: 'matches' | 'pairs'; readonly pairs: readonly LabelledRecords[] }
  | { readonly kind: 'clusters'; readonly clusters: Int32Array }

/** Returns the lens without weights, so that all are estimated, and without the cut that labels set for them. */
function stripWeights(lens: Lens): Lens {
  const { prior: _, from_labels = [], ...rest } = lens
  for (const key of from_labels) delete rest[key]
  return { ...rest, fields: lens.fields.map(({ weights: _w, m: _m, u: _u, ...field }) => field) }
}

/**
 * Estimates weights. Without labels: as in a run. With clusters or matches, which are all of the truth: m from matching
 * pairs, u from non-matching candidates. With pairs of both kinds, which are a part of it: as in a run, and then moved by
 * the labels. Deterministic. Throws `LensFault`.
 */
export function trainWeights(
  lens: Lens,
  records: LensRecords,
  seed: number,
  labels: TrainingLabels | undefined,
  report: EngineProgressListener,
): TrainingResult {
  const unweighted = stripWeights(lens)
  if (labels?.kind === 'pairs') return trainFromPairs(unweighted, records, seed, labels.pairs, report)
  if (labels) return trainFromLabels(unweighted, records, seed, labels, report)
  const { model, comparer, compared } = resolveRecords(unweighted, records, seed, report)
  return toTrainingResult(model, comparer, compared)
}

/**
 * Learns with labelled pairs. If the weights follow them, their cut is part of the result, and the way to cluster. So it is
 * where the weights are those of a first result's clusters, by which the data would choose another way.
 */
function trainFromPairs(
  lens: Lens,
  records: LensRecords,
  seed: number,
  pairs: readonly LabelledRecords[],
  report: EngineProgressListener,
): TrainingResult {
  const { resolution, numbers, effect } = learnFromPairs(lens, records, seed, pairs, report)
  const { comparer, model, compared, route, scale, reason, training } = resolution
  const { weights, prior, cut } = numbers
  const result = toTrainingResult({ ...model, lambda: prior, weights }, comparer, compared)
  const isChosenBefore = reason === 'small_entities' && training === 'clusters'
  if (!effect.moved && !isChosenBefore) return { ...result, labelled: { effect } }
  if (scale === 'likeness') return { ...result, labelled: { likeness_threshold: cut, effect } }
  const clustering = lens.clustering ?? (route === 'links' ? 'one_to_one' : 'average_link')
  return { ...result, labelled: { threshold: cut / Math.LN2, clustering, effect } }
}

function trainFromLabels(
  lens: Lens,
  records: LensRecords,
  seed: number,
  labels:
    | Exclude<TrainingLabels, { readonly kind: 'pairs' }>
    | { readonly kind: 'matches'; readonly pairs: readonly LabelledRecords[] },
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
    const ratios = weights[field]!.slice(1).map(Math.exp)
    // Only their ratio counts: where m would exceed 1, u falls instead.
    const u = model.u[field]!.slice(1).map((share, level) => roundProbability(Math.min(share, 1 / ratios[level]!)))
    const m = ratios.map((ratio, level) => roundProbability(Math.min(1, u[level]! * ratio)))
    return { field: name, m, u, bits: m.map((share, level) => Math.log2(share / u[level]!)) }
  })
  return { fields, prior: roundProbability(model.lambda), pairs_compared: length }
}

/** Rounds to nine digits: readable, and without effect on any score. */
function roundProbability(probability: number): number {
  return Number(probability.toPrecision(9))
}
