// Finds what is the same where nothing is there more than twice, told by texts: likeness corrected for crowds, then the evidence of fields.

import type { Lens } from '../lens/model.ts'
import { oneToOne } from './cluster/one-to-one.ts'
import { type Comparing, comparing } from './compare/pairs.ts'
import { type Compared, PairList } from './compare/patterns.ts'
import { began, type Tell } from './progress.ts'
import type { Records } from './records/records.ts'
import { textsOf } from './records/texts.ts'
import { givenModel } from './score/given.ts'
import { learned, type Model, scoresOf, trained } from './score/model.ts'
import { nullThreshold, type Rival } from './score/null-threshold.ts'
import { trigrams } from './text/parts.ts'
import { type Neighbours, neighboursOf, vectorsOf } from './text/vectors.ts'

const neighbours = 15
const crowd = 5
const most_rounds = 60

export type Linked = {
  readonly clusters: Int32Array
  readonly compared: Compared
  readonly scores: Float64Array
  /** The score from which on links are kept. */
  readonly cut: number
  readonly compares: Comparing
  readonly model: Model
}

export type Wanted = {
  readonly lens: Lens
  /** Links go from source 0 to source 1; else from any record to any other. */
  readonly isAcross: boolean
}

/** Every record has one partner at most. */
export function resolveLinks(records: Records, wanted: Wanted, tell: Tell): Linked {
  const { lens, isAcross } = wanted
  const { fields, rows } = records
  const sources = isAcross ? records.sources : undefined
  began(tell, 'candidates')
  const near = neighboursOf(vectorsOf(textsOf(records), trigrams()), neighbours, sources)
  began(tell, 'compare')
  const compares = comparing(fields, undefined, 0 - lens.null_penalty * Math.LN2)
  const list = new PairList(compares)
  const cosines = candidates(near, rows, (a, b) => list.add(a, b))
  const compared = list.compared()
  const crowds = Float64Array.from({ length: rows }, (_, row) => crowdOf(near, row))
  began(tell, 'train')
  const corrected = cosines.map((cosine, pair) => {
    return cosine - (crowds[compared.lefts[pair]!]! + crowds[compared.rights[pair]!]!) / 2
  })
  const learn = () => {
    const started = learned(compares, compared, firstGuess(rows, compared, corrected))
    return trained(started, compares, compared, most_rounds)
  }
  // Of one table, weights that are given are those of clusters, found by other candidates.
  const model = (isAcross ? givenModel(lens, compares) : undefined) ?? learn()
  const odds = scoresOf(model, compares, compared)
  began(tell, 'link')
  const scores = corrected.map((each, pair) => each + lens.text_evidence * odds[compared.patternOf[pair]!]!)
  const links = oneToOne(rows, compared, scores)
  const threshold = nullThreshold(rivalsOf(rows, sources, compared, scores, links))
  const clusters = Int32Array.from({ length: rows }, (_, row) => row)
  for (const pair of links) {
    if (scores[pair]! >= threshold) clusters[compared.rights[pair]!] = compared.lefts[pair]!
  }
  return { clusters, compared, scores, cut: threshold, compares, model }
}

/** Calls with each pair that is near one way or the other, once; their cosines in that order. */
function candidates(
  { k, found, cosines }: Neighbours,
  rows: number,
  pair: (a: number, b: number) => void,
): Float64Array {
  const kept: number[] = []
  const has = (row: number, other: number) => found.subarray(row * k, (row + 1) * k).includes(other)
  for (let row = 0; row < rows; row++) {
    for (let at = row * k; at < (row + 1) * k; at++) {
      const other = found[at]!
      if (other < 0 || (other < row && has(other, row))) continue
      pair(Math.min(row, other), Math.max(row, other))
      kept.push(cosines[at]!)
    }
  }
  return Float64Array.from(kept)
}

/** How near a record's nearest are: one that is near to everything is near to nothing (cross-domain local scaling). */
function crowdOf({ k, cosines }: Neighbours, row: number): number {
  let sum = 0
  for (let at = 0; at < crowd; at++) sum += cosines[row * k + at]!
  return sum / crowd
}

/** Mostly right where the best pairs are, and mostly wrong elsewhere. */
function firstGuess(rows: number, compared: Compared, corrected: Float64Array): Float64Array {
  const isBest = new Uint8Array(compared.length)
  for (const pair of oneToOne(rows, compared, corrected)) isBest[pair] = 1
  const sums = new Float64Array(compared.counts.length)
  for (let pair = 0; pair < compared.length; pair++) sums[compared.patternOf[pair]!]! += isBest[pair] ? 0.9 : 0.02
  return sums.map((sum, pattern) => sum / compared.counts[pattern]!)
}

/** Each link beside the best other candidate of the record that must find a partner: of the smaller source, or of either end. */
function rivalsOf(
  rows: number,
  sources: Int32Array | undefined,
  { length, lefts, rights }: Compared,
  scores: Float64Array,
  links: Int32Array,
): Rival[] {
  const seeks = seekersAmong(rows, sources)
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

function seekersAmong(rows: number, sources: Int32Array | undefined): (row: number) => boolean {
  if (!sources) return () => true
  const firsts = sources.reduce((count, source) => count + (source === 0 ? 1 : 0), 0)
  const smaller = firsts * 2 <= rows ? 0 : 1
  return (row) => sources[row] === smaller
}
