// Clusters a table in which many records are one entity: records that support each other complete their cluster.
import { type Candidates, gatherCandidates } from './candidates.ts'
import { computeMeanSizeByRecord } from './cluster/cluster-sizes.ts'
import { clusterScoredPairs } from './cluster/clustering.ts'
import { completeClusters } from './complete-clusters.ts'
import { type LearntModel, learnWithoutCompetition } from './learn-weights.ts'
import type { LensRecords } from './records/records.ts'
import { type ClusterResult, max_completions, type ResolutionContext } from './resolution-context.ts'
import { computePairScores } from './score/pair-scores.ts'

/** Mean size of the cluster of a record, above which small blocks leave out too many of its pairs. */
const max_narrow_size = 12
/** Limit of rows for wide blocks: their pairs grow with the block. */
const max_wide_rows = 20_000
const wide_blocks = { cap: 250, neighbours: 50 }

export function clusterManyRecords(
  records: LensRecords,
  context: ResolutionContext,
  candidates: Candidates,
  learnt: LearntModel,
): ClusterResult {
  const result = clusterCompletely(records, context, candidates, learnt)
  if (records.rows > max_wide_rows || context.lens.blocking !== 'automatic') return result
  if (computeMeanSizeByRecord(result.clusters) <= max_narrow_size) return result
  const wide = { ...context, settings: { ...context.settings, ...wide_blocks } }
  const more = gatherCandidates(records, wide)
  const { model } = learnt
  const relearnt = learnt.first
    ? learnWithoutCompetition(records, wide, more)
    : { model, scores: computePairScores(more.comparer, more.list.compared(), model) }
  return clusterCompletely(records, wide, more, relearnt)
}

function clusterCompletely(
  { rows }: LensRecords,
  { settings, report }: ResolutionContext,
  { comparer, list, add, rules, ruleNames }: Candidates,
  { first, model, scores }: LearntModel,
): ClusterResult {
  const clusters = clusterScoredPairs(rows, list.compared(), scores, settings, report)
  const grouping = { route: 'clusters', clusters, scores, cut: settings.cut, floor: settings.lowest } as const
  const basis = { reason: 'large_entities', training: first ? 'candidates' : 'lens' } as const
  const completed = completeClusters({ comparer, rows, list, add, settings, model }, grouping, {
    max_rounds: max_completions,
    isLearning: settings.hasFrequencies && first !== undefined,
    report,
  })
  return { ...basis, comparer, rules, ruleNames, ...completed, compared: list.compared() }
}
