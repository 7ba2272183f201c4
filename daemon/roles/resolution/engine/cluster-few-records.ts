// Clusters a table in which an entity has one record or few: no third record supports most pairs, so each pair needs
// evidence of its own.
import type { Candidates } from './candidates.ts'
import { clusterScoredPairs, cutBounds } from './cluster/clustering.ts'
import { assignOneToOne } from './cluster/one-to-one.ts'
import { findRivals, joinLinks } from './cluster/rivals.ts'
import { sure_score } from './cluster/sure-clusters.ts'
import type { RatedPairs } from './compare/patterns.ts'
import { completeClusters } from './complete-clusters.ts'
import { em_rounds, type LearntModel } from './learn-weights.ts'
import type { EngineProgressListener } from './progress.ts'
import type { LensRecords } from './records/records.ts'
import { type ClusterResult, max_completions, type ResolutionContext } from './resolution-context.ts'
import { trainByCompetition } from './score/competition.ts'
import { boundThreshold, findNullThreshold, limitThreshold, min_threshold } from './score/null-threshold.ts'
import { computePairScores } from './score/pair-scores.ts'

/** Factor by which the matches of learning without competition may exceed those with it, unless it has drifted. */
const max_drift = 4
/** Mean size of sure clusters from which some have a third record. */
const min_supported_size = 2.2
/** Share of the records with a match, below which matches are rare. */
const max_rare_share = 1 / 3
/** Difference of thresholds that shows records with two matches. */
const min_triple_difference = 1

export function clusterFewRecords(
  records: LensRecords,
  context: ResolutionContext,
  candidates: Candidates,
  learnt: LearntModel & { readonly mean_size: number },
): ClusterResult {
  const { comparer, list, rules, ruleNames } = candidates
  const { rows, fields } = records
  const compared = list.compared()
  const { first, model: learntModel } = learnt
  const model = first ? trainByCompetition(first, comparer, compared, { rows, rounds: em_rounds }) : learntModel
  const hasTexts = fields.some(({ type }) => type === 'text')
  const hasDrifted = learntModel.lambda >= max_drift * Math.max(model.lambda, 1 / Math.max(1, compared.length))
  if (!hasTexts && !hasDrifted) return clusterFacts(records, context, candidates, learnt)
  const scores = computePairScores(comparer, compared, model)
  const matched_share = (2 * model.lambda * compared.length) / rows
  const isSingleTextSource = context.lens.told_by === 'texts' && records.names.length === 1
  const joined = joinByNull(rows, compared, scores, {
    isRare: matched_share < max_rare_share,
    mayLinkPairs: isSingleTextSource,
    report: context.report,
  })
  const training = first ? 'competition' : 'lens'
  return { comparer, rules, ruleNames, model, training, compared, scores, ...joined }
}

/** Clusters records with one fact in each field, whose scores are cautious without competition. */
function clusterFacts(
  { rows }: LensRecords,
  { settings, report }: ResolutionContext,
  { comparer, list, add, rules, ruleNames }: Candidates,
  { first, model, scores, mean_size }: LearntModel & { readonly mean_size: number },
): ClusterResult {
  const clusters = clusterScoredPairs(rows, list.compared(), scores, cutBounds(settings.cut), report)
  const bounds = { cut: settings.cut, floor: cutBounds(settings.cut).lowest }
  const grouping = { route: 'clusters', clusters, scores, ...bounds } as const
  const training = first ? 'candidates' : 'lens'
  const common = { reason: 'small_entities', training, comparer, rules, ruleNames } as const
  if (mean_size < min_supported_size) return { ...common, ...grouping, model, compared: list.compared() }
  const completed = completeClusters({ comparer, rows, list, add, settings, model }, grouping, {
    max_rounds: max_completions,
    isLearning: settings.hasFrequencies && first !== undefined,
    report,
  })
  return { ...common, ...completed, floor: settings.lowest, compared: list.compared() }
}

type NullOptions = {
  readonly isRare: boolean
  /** Whether records may be linked in pairs alone, if no record seems to have two matches. */
  readonly mayLinkPairs: boolean
  readonly report: EngineProgressListener
}

/** Joins records whose score exceeds what known non-matches reach. */
function joinByNull(
  rows: number,
  compared: RatedPairs,
  scores: Float64Array,
  { isRare, mayLinkPairs, report }: NullOptions,
): Pick<ClusterResult, 'route' | 'reason' | 'clusters' | 'cut' | 'floor'> {
  const links = assignOneToOne(rows, compared, scores)
  const search = { rows, seeks: () => true }
  const plain = findNullThreshold(findRivals(compared, scores, links, search))
  // The second match of a record is a rival too: then only rivals outside its sure cluster are known non-matches.
  const sure = clusterScoredPairs(rows, compared, scores, cutBounds(sure_score), report)
  const isRival = (pair: number) => sure[compared.lefts[pair]!] !== sure[compared.rights[pair]!]
  const outside = findNullThreshold(findRivals(compared, scores, links, { ...search, isRival }))
  if (mayLinkPairs && plain - outside < min_triple_difference) {
    const cut = isRare ? boundThreshold(plain) : limitThreshold(plain)
    const clusters = joinLinks(rows, compared, links, (link) => scores[link]! > cut)
    return { route: 'links', reason: 'single_matches', clusters, cut, floor: cutBounds(cut).lowest }
  }
  const cut = isRare ? boundThreshold(outside) : min_threshold
  const clusters = clusterScoredPairs(rows, compared, scores, cutBounds(cut), report)
  return { route: 'clusters', reason: 'small_entities', clusters, cut, floor: cutBounds(cut).lowest }
}
