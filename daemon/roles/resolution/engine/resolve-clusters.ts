// Resolves records when any number may be one entity: finds candidates, estimates weights, clusters.

import type { Lens } from '../lens/model.ts'
import { type Candidates, gatherCandidates, hasManyRecords } from './candidates.ts'
import { areSourcesClean } from './cluster/clean-sources.ts'
import { applyLensCut, groupRecords } from './cluster/clustering.ts'
import { haveManyRecords, measureSureClusters } from './cluster/sure-clusters.ts'
import { clusterFewRecords } from './cluster-few-records.ts'
import { clusterManyRecords } from './cluster-many-records.ts'
import { completeClusters } from './complete-clusters.ts'
import { type LearntModel, learnWeights, learnWithoutCompetition } from './learn-weights.ts'
import { linkCleanSources } from './link-clean-sources.ts'
import { reportPhaseStart } from './progress.ts'
import type { LensRecords } from './records/records.ts'
import { type ClusterResult, max_completions, type ResolutionContext } from './resolution-context.ts'
import { createLensModel } from './score/lens-model.ts'
import { computePairScores } from './score/pair-scores.ts'

/** Resolves records to clusters. Throws `LensFault` for blocking rules that do not fit the data. */
export function resolveClusters(records: LensRecords, context: ResolutionContext): ClusterResult {
  const { lens, report } = context
  const candidates = gatherCandidates(records, context)
  reportPhaseStart(report, 'train')
  const { comparer, list } = candidates
  const compared = list.compared()
  const lensModel = createLensModel(lens, comparer)
  const isMany = hasManyRecords(records)
  if (isMany || fixesClustering(lens)) {
    const model = lensModel ?? learnWeights(records, candidates, context)
    const reason = fixesClustering(lens) ? 'lens' : 'many_records'
    const training = lensModel ? 'lens' : 'candidates'
    return clusterBySettings(records, context, candidates, {
      model,
      reason,
      training,
      isLearning: !lensModel && !isMany,
    })
  }
  const learnt: LearntModel = lensModel
    ? { model: lensModel, scores: computePairScores(comparer, compared, lensModel) }
    : learnWithoutCompetition(records, context, candidates)
  reportPhaseStart(report, 'cluster')
  if (records.names.length === 2 && areSourcesClean(records.sources, compared, learnt.scores))
    return linkCleanSources(records, candidates, learnt)
  const mean_size = measureSureClusters(records.rows, compared, learnt.scores)
  return haveManyRecords(mean_size)
    ? clusterManyRecords(records, context, candidates, learnt)
    : clusterFewRecords(records, context, candidates, { ...learnt, mean_size })
}

/** Whether the lens sets the cut: by itself, by its method, or by weights in bits, which have even odds at 0. */
function fixesClustering({ threshold, clustering, fields }: Lens): boolean {
  return threshold !== undefined || clustering !== undefined || fields[0]?.weights !== undefined
}

type SettledModel = Pick<ClusterResult, 'model' | 'reason' | 'training'> & { readonly isLearning: boolean }

/** Clusters by the cut and the method of the lens, or of its kind of data. */
function clusterBySettings(
  records: LensRecords,
  { lens, settings: openSettings, report }: ResolutionContext,
  { comparer, list, add, rules, ruleNames }: Candidates,
  { model, isLearning, reason, training }: SettledModel,
): ClusterResult {
  reportPhaseStart(report, 'cluster')
  const settings = applyLensCut(lens, openSettings) ?? openSettings
  const scores = computePairScores(comparer, list.compared(), model)
  const { isFinal, ...grouping } = groupRecords(lens, records, list.compared(), scores, openSettings, report)
  const isClean = reason === 'many_records' && grouping.route === 'links'
  const common = { comparer, rules, ruleNames, model, training, reason: isClean ? 'clean_sources' : reason } as const
  if (isFinal) return { ...common, ...grouping, compared: list.compared() }
  const completed = completeClusters({ comparer, rows: records.rows, list, add, settings, model }, grouping, {
    max_rounds: hasManyRecords(records) ? 1 : max_completions,
    isLearning: isLearning && settings.hasFrequencies,
    report,
  })
  return { ...common, ...completed, compared: list.compared() }
}
