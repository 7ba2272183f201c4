// Links two clean sources of texts one to one, by cosine similarity corrected for crowding and by field evidence.

import type { Lens } from '../lens/model.ts'
import { nearestTexts, unblocked } from './block/rule-names.ts'
import { assignOneToOne } from './cluster/one-to-one.ts'
import { createPairComparer, type PairComparer } from './compare/pair-comparer.ts'
import { type ComparedPairs, PairList } from './compare/patterns.ts'
import { type EngineProgressListener, reportPhaseStart } from './progress.ts'
import type { LensRecords } from './records/records.ts'
import { joinRecordTexts } from './records/texts.ts'
import { createLensModel } from './score/lens-model.ts'
import { estimateModel, type MatchModel, scorePatterns, trainModel } from './score/model.ts'
import { type AlternativeLink, findNullThreshold } from './score/null-threshold.ts'
import { buildTfidfVectors, findNearestNeighbours, type NearestNeighbours } from './text/tfidf-vectors.ts'
import { createTrigramTokeniser } from './text/tokeniser.ts'

const neighbour_count = 15
const crowd_size = 5
const max_em_rounds = 60

export type LinkResult = {
  readonly clusters: Int32Array
  readonly compared: ComparedPairs
  readonly ruleNames: readonly string[]
  readonly scores: Float64Array
  /** Lowest score of an accepted link. */
  readonly cut: number
  readonly comparer: PairComparer
  readonly model: MatchModel
}

export type TextLinkOptions = {
  readonly lens: Lens
  /** Whether links go from source 0 to source 1; otherwise they may join any two records. */
  readonly isAcross: boolean
}

/** Resolves records by links; each record gets at most one match. */
export function resolveLinks(
  records: LensRecords,
  options: TextLinkOptions,
  report: EngineProgressListener,
): LinkResult {
  const { lens, isAcross } = options
  const { fields, rows } = records
  const sources = isAcross ? records.sources : undefined
  reportPhaseStart(report, 'candidates')
  const near = findNearestNeighbours(
    buildTfidfVectors(joinRecordTexts(records), createTrigramTokeniser()),
    neighbour_count,
    sources,
  )
  reportPhaseStart(report, 'compare')
  const comparer = createPairComparer(fields, undefined, 0 - lens.null_penalty * Math.LN2)
  const list = new PairList(comparer)
  const cosines = collectCandidates(near, rows, (a, b) => list.add(a, b, 1))
  const compared = list.compared()
  const crowds = Float64Array.from({ length: rows }, (_, row) => computeCrowding(near, row))
  reportPhaseStart(report, 'train')
  const corrected = cosines.map((cosine, pair) => {
    return cosine - (crowds[compared.lefts[pair]!]! + crowds[compared.rights[pair]!]!) / 2
  })
  const learnModel = () => {
    const initial = estimateModel(comparer, compared, guessMatchProbabilities(rows, compared, corrected))
    return trainModel(initial, comparer, compared, max_em_rounds)
  }
  // Within one table, weights fixed by a lens apply to clusters, which have other candidates.
  const model = (isAcross ? createLensModel(lens, comparer) : undefined) ?? learnModel()
  const odds = scorePatterns(model, comparer, compared)
  reportPhaseStart(report, 'link')
  const scores = corrected.map((cosine, pair) => cosine + lens.text_evidence * odds[compared.patternOf[pair]!]!)
  const links = assignOneToOne(rows, compared, scores)
  const threshold = findNullThreshold(findRivals(rows, sources, compared, scores, links))
  const clusters = Int32Array.from({ length: rows }, (_, row) => row)
  for (const pair of links) {
    if (scores[pair]! >= threshold) clusters[compared.rights[pair]!] = compared.lefts[pair]!
  }
  return { clusters, compared, ruleNames: [unblocked, nearestTexts], scores, cut: threshold, comparer, model }
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
function guessMatchProbabilities(rows: number, compared: ComparedPairs, corrected: Float64Array): Float64Array {
  const isBest = new Uint8Array(compared.length)
  for (const pair of assignOneToOne(rows, compared, corrected)) isBest[pair] = 1
  const sums = new Float64Array(compared.counts.length)
  for (let pair = 0; pair < compared.length; pair++) sums[compared.patternOf[pair]!]! += isBest[pair] ? 0.9 : 0.02
  return sums.map((sum, pattern) => sum / compared.counts[pattern]!)
}

/**
 * Finds for each link the best other candidate of the record that seeks a match: of the smaller source, or of either
 * end.
 */
function findRivals(
  rows: number,
  sources: Int32Array | undefined,
  { length, lefts, rights }: ComparedPairs,
  scores: Float64Array,
  links: Int32Array,
): AlternativeLink[] {
  const seeks = createSeekerFilter(rows, sources)
  const linkOf = new Int32Array(rows).fill(-1)
  for (const link of links) linkOf[lefts[link]!] = linkOf[rights[link]!] = link
  const others = new Float64Array(length).fill(Number.NEGATIVE_INFINITY)
  for (let pair = 0; pair < length; pair++) {
    for (const row of [lefts[pair]!, rights[pair]!]) {
      const link = linkOf[row]!
      if (seeks(row) && link >= 0 && link !== pair) others[link] = Math.max(others[link]!, scores[pair]!)
    }
  }
  return Array.from(links, (link) => ({ link: scores[link]!, other: others[link]! }))
}

function createSeekerFilter(rows: number, sources: Int32Array | undefined): (row: number) => boolean {
  if (!sources) return () => true
  const firsts = sources.reduce((count, source) => count + (source === 0 ? 1 : 0), 0)
  const smaller = firsts * 2 <= rows ? 0 : 1
  return (row) => sources[row] === smaller
}
