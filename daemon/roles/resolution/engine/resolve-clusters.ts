// Resolves records when any number may be one entity: finds candidates, estimates weights, clusters.

import type { Lens } from '../lens/model.ts'
import type { BlockingRuleReport } from './block/lens-rules.ts'
import { type Candidates, gatherCandidates, hasManyRecords } from './candidates.ts'
import { areSourcesClean } from './cluster/clean-sources.ts'
import { applyLensCut, groupRecords } from './cluster/clustering.ts'
import { haveManyRecords, measureSureClusters } from './cluster/sure-clusters.ts'
import { clusterFewRecords } from './cluster-few-records.ts'
import { clusterManyRecords } from './cluster-many-records.ts'
import type { PairComparer } from './compare/pair-comparer.ts'
import { type ComparedPairs, drawPairs } from './compare/patterns.ts'
import { completeClusters } from './complete-clusters.ts'
import { linkCleanSources } from './link-clean-sources.ts'
import { learnWeightsOfMany } from './many-records.ts'
import { type EngineProgressListener, reportPhaseStart } from './progress.ts'
import type { LensRecords } from './records/records.ts'
import { createLensModel } from './score/lens-model.ts'
import { createInitialModel, type MatchModel, trainModel } from './score/model.ts'
import { computePairScores } from './score/pair-scores.ts'

/** Parameters that differ between kinds of data. */
export type ClusteringSettings = {
  /** Largest block, in rows. */
  readonly cap: number
  /** Number of nearest neighbours by text that each record is compared with, in addition to its blocks. */
  readonly neighbours: number
  /** Scores are clamped to `lowest` and `highest`; clusters join while their mean score is above `cut`. */
  readonly lowest: number
  readonly highest: number
  readonly cut: number
  readonly hasFrequencies: boolean
}

export const personSettings: ClusteringSettings = {
  cap: 60,
  neighbours: 10,
  lowest: -4,
  highest: 4,
  cut: -2,
  hasFrequencies: true,
}
export const textSettings: ClusteringSettings = { ...personSettings, cap: 30, neighbours: 15, hasFrequencies: false }

/** Rounds of expectation-maximisation. */
export const em_rounds = 4
export const max_completions = 3

/** Route of a resolution. `clusters`: any number of records may be one entity. `links`: each source lists it once. */
export type ResolutionRoute = 'clusters' | 'links'

export type ClusterResult = {
  readonly route: ResolutionRoute
  /** Names of the rules that found the pairs, by their number in `compared`. */
  readonly ruleNames: readonly string[]
  readonly clusters: Int32Array
  readonly compared: ComparedPairs
  /** Score of each compared pair, in natural logs of odds. */
  readonly scores: Float64Array
  /**
   * `cut`: score above which records become one entity. `floor`: score at and below which a pair has no evidence.
   */
  readonly cut: number
  readonly floor: number
  /** The comparison of fields, and the weights that were estimated or fixed by the lens. */
  readonly comparer: PairComparer
  readonly model: MatchModel
  /** Report of the blocking rules of the lens; empty for automatic blocking. */
  readonly rules: readonly BlockingRuleReport[]
}

export type ResolutionContext = {
  readonly lens: Lens
  readonly settings: ClusteringSettings
  readonly random: () => number
  readonly swapped: readonly [number, number] | undefined
  readonly report: EngineProgressListener
}

/** The model before training and after it, without competition between the candidates of a record. */
export type LearntModel = { readonly first: MatchModel; readonly model: MatchModel; readonly scores: Float64Array }

/** Resolves records to clusters. Throws `LensFault` for blocking rules that do not fit the data. */
export function resolveClusters(records: LensRecords, context: ResolutionContext): ClusterResult {
  const { lens, report } = context
  const candidates = gatherCandidates(records, context)
  reportPhaseStart(report, 'train')
  const lensModel = createLensModel(lens, candidates.comparer)
  const isMany = hasManyRecords(records)
  if (lensModel || isMany || fixesClustering(lens)) {
    const model = lensModel ?? learnWeights(records, candidates, context)
    return clusterBySettings(records, context, candidates, { model, isLearning: !lensModel && !isMany })
  }
  const learnt = learnWithoutCompetition(records, context, candidates)
  reportPhaseStart(report, 'cluster')
  const compared = candidates.list.compared()
  if (records.names.length === 2 && areSourcesClean(records.sources, compared, learnt.scores))
    return linkCleanSources(records, candidates, learnt)
  const mean_size = measureSureClusters(records.rows, compared, learnt.scores)
  return haveManyRecords(mean_size)
    ? clusterManyRecords(records, context, candidates, learnt)
    : clusterFewRecords(records, context, candidates, { ...learnt, mean_size })
}

function fixesClustering({ threshold, clustering }: Lens): boolean {
  return threshold !== undefined || clustering !== undefined
}

function learnWeights(records: LensRecords, candidates: Candidates, context: ResolutionContext): MatchModel {
  if (!hasManyRecords(records)) return learnWithoutCompetition(records, context, candidates).model
  const copies = 'copies' in candidates ? candidates.copies : undefined
  return learnWeightsOfMany(candidates.comparer, records, candidates.list, context.random, copies)
}

export function learnWithoutCompetition(
  records: LensRecords,
  { random }: ResolutionContext,
  { comparer, list }: Candidates,
): LearntModel {
  const first = createUntrainedModel(records, comparer, random)
  const model = trainModel(first, comparer, list.compared(), em_rounds)
  return { first, model, scores: computePairScores(comparer, list.compared(), model) }
}

type SettledModel = { readonly model: MatchModel; readonly isLearning: boolean }

/** Clusters by the cut and the method of the lens, or of its kind of data. */
function clusterBySettings(
  records: LensRecords,
  { lens, settings: openSettings, report }: ResolutionContext,
  { comparer, list, add, rules, ruleNames }: Candidates,
  { model, isLearning }: SettledModel,
): ClusterResult {
  reportPhaseStart(report, 'cluster')
  const settings = applyLensCut(lens, openSettings) ?? openSettings
  const scores = computePairScores(comparer, list.compared(), model)
  const { isFinal, ...grouping } = groupRecords(lens, records, list.compared(), scores, openSettings, report)
  const common = { comparer, rules, ruleNames, model }
  if (isFinal) return { ...common, ...grouping, compared: list.compared() }
  const completed = completeClusters({ comparer, rows: records.rows, list, add, settings, model }, grouping, {
    max_rounds: hasManyRecords(records) ? 1 : max_completions,
    isLearning: isLearning && settings.hasFrequencies,
    report,
  })
  return { ...common, ...completed, compared: list.compared() }
}

/** Creates the model before training: u from random pairs, m from typical shapes. */
export function createUntrainedModel({ rows }: LensRecords, comparer: PairComparer, random: () => number): MatchModel {
  const lambda = (0.25 * rows) / ((rows * (rows - 1)) / 2)
  return createInitialModel(comparer, drawPairs(comparer, rows, random), lambda)
}
