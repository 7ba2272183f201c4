// Links two clean sources one to one: a record has at most one match, in the other source.
import type { Candidates } from './candidates.ts'
import { cutBounds } from './cluster/clustering.ts'
import { assignOneToOne } from './cluster/one-to-one.ts'
import { createSeekerFilter, findRivals, joinLinks } from './cluster/rivals.ts'
import type { LearntModel } from './learn-weights.ts'
import type { LensRecords } from './records/records.ts'
import type { ClusterResult } from './resolution-context.ts'
import { trainByCompetition } from './score/competition.ts'
import { boundThreshold, findNullThreshold } from './score/null-threshold.ts'
import { computePairScores } from './score/pair-scores.ts'

/** Enough for the estimate not to depend on the first prior. */
const em_rounds = 20
/** Share of the records of the smaller source that have a match, before training. */
const first_matched_share = 0.25

/** Learns from pairs across the sources alone: within a clean source, no pair is a match. */
export function linkCleanSources(
  { rows, sources }: LensRecords,
  { comparer, list, rules, ruleNames }: Candidates,
  { first, model: fixed }: LearntModel,
): ClusterResult {
  list.retain((a, b) => sources[a] !== sources[b])
  const compared = list.compared()
  const firsts = sources.reduce((count, source) => count + (source === 0 ? 1 : 0), 0)
  const smaller = Math.min(firsts, rows - firsts)
  const lambda = Math.min(0.5, (first_matched_share * smaller) / Math.max(1, compared.length))
  const model = first
    ? trainByCompetition({ ...first, lambda }, comparer, compared, { rows, rounds: em_rounds })
    : fixed
  const scores = computePairScores(comparer, compared, model)
  const links = assignOneToOne(rows, compared, scores)
  const seeks = createSeekerFilter(sources, true)
  const cut = boundThreshold(findNullThreshold(findRivals(compared, scores, links, { rows, seeks })))
  const clusters = joinLinks(rows, compared, links, (link) => scores[link]! > cut)
  const basis = { route: 'links', reason: 'clean_sources', training: first ? 'competition' : 'lens' } as const
  return { ...basis, comparer, rules, ruleNames, model, compared, scores, clusters, ...toResultBounds(cut) }
}

function toResultBounds(cut: number): Pick<ClusterResult, 'cut' | 'floor'> {
  return { cut, floor: cutBounds(cut).lowest }
}
