// Links two clean sources of texts one to one, by cosine similarity corrected for crowding and by field evidence.

import type { Lens } from '../lens/model.ts'
import { nearestTexts, unblocked } from './block/rule-names.ts'
import { assignOneToOne } from './cluster/one-to-one.ts'
import { createSeekerFilter, findRivals, joinLinks } from './cluster/rivals.ts'
import { createPairComparer, type FieldColumn, type PairComparer } from './compare/pair-comparer.ts'
import { type ComparedPairs, PairList } from './compare/patterns.ts'
import { type EngineProgressListener, reportPhaseStart } from './progress.ts'
import type { LensRecords } from './records/records.ts'
import { hasWords, joinRecordTexts } from './records/texts.ts'
import type { Training } from './resolution-context.ts'
import { computePatternMeans, trainByCompetition } from './score/competition.ts'
import { createLensModel } from './score/lens-model.ts'
import { estimateModel, type MatchModel, scorePatterns } from './score/model.ts'
import { findNullThreshold } from './score/null-threshold.ts'
import { findNearestNeighbours, type NearestNeighbours } from './text/nearest-neighbours.ts'
import { buildTfidfVectors } from './text/tfidf-vectors.ts'
import { createTrigramTokeniser } from './text/tokeniser.ts'

const neighbour_count = 15
const crowd_size = 5
const em_rounds = 10

export type LinkResult = {
  readonly clusters: Int32Array
  readonly compared: ComparedPairs
  readonly ruleNames: readonly string[]
  readonly scores: Float64Array
  /** Score that an accepted link exceeds. */
  readonly cut: number
  readonly comparer: PairComparer
  readonly model: MatchModel
  readonly training: Training
}

/**
 * Links the records of two sources; each record gets at most one match. Texts that matches share no more than other
 * candidates do are left out of the similarity, and the links are found again.
 */
export function resolveLinks(records: LensRecords, lens: Lens, report: EngineProgressListener): LinkResult {
  const { result, learnt } = linkTexts(records, records.fields, lens, report)
  const texts = result.comparer.fields.filter((field, at) => !isUnrelatedText(learnt, field, at))
  const hasTexts = texts.some(({ type }) => type === 'text')
  return hasTexts && texts.length < records.fields.length ? linkTexts(records, texts, lens, report).result : result
}

/** Whether matches differ entirely in a text more often than other candidates, which are similar by choice. */
function isUnrelatedText({ m, u }: MatchModel, { type }: FieldColumn, field: number): boolean {
  return hasWords(type) && m[field]!.at(-1)! > u[field]!.at(-1)!
}

/**
 * Links by the similarity of the joined `texts`, and by the evidence of all fields. `learnt`: the model of these candidates,
 * whatever the lens sets. A trained lens has the model of the candidates without unrelated texts, which does not show them.
 */
function linkTexts(
  records: LensRecords,
  texts: readonly FieldColumn[],
  lens: Lens,
  report: EngineProgressListener,
): { readonly result: LinkResult; readonly learnt: MatchModel } {
  const { fields, rows, sources } = records
  reportPhaseStart(report, 'candidates')
  const joined = joinRecordTexts({ ...records, fields: texts })
  const near = findNearestNeighbours(buildTfidfVectors(joined, createTrigramTokeniser()), neighbour_count, sources)
  reportPhaseStart(report, 'compare')
  const comparer = createPairComparer(fields, undefined, 0 - lens.null_penalty * Math.LN2)
  const list = new PairList(comparer)
  const cosines = collectCandidates(near, rows, (a, b) => list.add(a, b, 1))
  const compared = list.compared()
  const crowds = Float64Array.from({ length: rows }, (_, row) => computeCrowding(near, row))
  reportPhaseStart(report, 'train')
  const similarities = cosines.map((cosine, pair) => {
    return cosine - (crowds[compared.lefts[pair]!]! + crowds[compared.rights[pair]!]!) / 2
  })
  const initial = estimateModel(comparer, compared, guessMatchProbabilities(rows, compared, similarities))
  const lensModel = createLensModel(lens, comparer)
  const learnt = trainByCompetition(initial, comparer, compared, { rows, rounds: em_rounds })
  const model = lensModel ?? learnt
  const odds = scorePatterns(model, comparer, compared)
  reportPhaseStart(report, 'link')
  const scores = similarities.map(
    (similarity, pair) => similarity + lens.text_evidence * odds[compared.patternOf[pair]!]!,
  )
  const links = assignOneToOne(rows, compared, scores)
  const seeks = createSeekerFilter(sources, true)
  const cut = lens.likeness_threshold ?? findNullThreshold(findRivals(compared, scores, links, { rows, seeks }))
  const clusters = joinLinks(rows, compared, links, (link) => scores[link]! > cut)
  const training = lensModel ? 'lens' : 'competition'
  const ruleNames = [unblocked, nearestTexts]
  return { result: { clusters, compared, ruleNames, scores, cut, comparer, model, training }, learnt }
}

/** Calls `pair` once with each pair of nearest neighbours in either direction; returns their cosines in that order. */
function collectCandidates(
  { k, neighbours, cosines }: NearestNeighbours,
  rows: number,
  pair: (a: number, b: number) => void,
): Float64Array {
  const pairCosines: number[] = []
  const has = (row: number, other: number) => neighbours.subarray(row * k, (row + 1) * k).includes(other)
  for (let row = 0; row < rows; row++) {
    for (let at = row * k; at < (row + 1) * k; at++) {
      const other = neighbours[at]!
      if (other < 0 || (other < row && has(other, row))) continue
      pair(Math.min(row, other), Math.max(row, other))
      pairCosines.push(cosines[at]!)
    }
  }
  return Float64Array.from(pairCosines)
}

/**
 * Computes the mean cosine of a record's nearest neighbours, which corrects for records that are near to everything
 * (cross-domain local scaling).
 */
function computeCrowding({ k, cosines }: NearestNeighbours, row: number): number {
  let sum = 0
  for (let at = 0; at < crowd_size; at++) sum += cosines[row * k + at]!
  return sum / crowd_size
}

/** Guesses the match probability of each pattern: high among the best one-to-one pairs, low elsewhere. */
function guessMatchProbabilities(rows: number, compared: ComparedPairs, similarities: Float64Array): Float64Array {
  const matches = new Float64Array(compared.length).fill(0.02)
  for (const pair of assignOneToOne(rows, compared, similarities)) matches[pair] = 0.9
  return computePatternMeans(compared, matches)
}
