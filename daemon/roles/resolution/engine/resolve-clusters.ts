// Finds who is who among records of which any number may be one: candidates, weights learnt from them, clusters by average link.
import { blocksOf, eachPair } from './block/blocks.ts'
import { keyCount, keysOf } from './block/keys.ts'
import { clustered, grouped } from './cluster/clustered.ts'
import { complete } from './cluster/completion.ts'
import { type Comparing, comparing } from './compare/pairs.ts'
import { type Compared, drawnPairs, PairList } from './compare/patterns.ts'
import { began, portions, type Tell } from './progress.ts'
import type { Records } from './records/records.ts'
import { textsOf } from './records/texts.ts'
import { resolveMany } from './resolve-many.ts'
import { firstModel, learned, type Model, trained } from './score/model.ts'
import { pairScores, type Rating } from './score/pair-scores.ts'
import { most_rows_for_neighbours, neighboursOf, trigrams, vectorsOf } from './text/vectors.ts'

/** What differs between kinds of data. */
export type Settings = {
  /** Rows that a block may have. */
  readonly cap: number
  /** Most alike records that each is compared with besides. */
  readonly neighbours: number
  /** Scores count within these bounds alone, and clusters join while their mean is above the cut. */
  readonly lowest: number
  readonly highest: number
  readonly cut: number
  readonly hasFrequencies: boolean
}

export const forPersons: Settings = { cap: 60, neighbours: 10, lowest: -4, highest: 4, cut: -2, hasFrequencies: true }
export const forTexts: Settings = { cap: 30, neighbours: 15, lowest: -8, highest: 8, cut: 0, hasFrequencies: false }

/** Rows that are looked at for all pairs of keys: about a second. */
const most_visits = 20_000_000
const rounds = 4
/** Of what the blocks of a pair say together: a shared block of nine, or more of larger ones. */
const least_said = 0.125
const most_completions = 3
const enough_new = 0.002

/** `clusters`: any number of records may be one. `links`: two sources that hold each thing once. */
export type Route = 'clusters' | 'links'

export type Found = {
  readonly route: Route
  /** Most clusters have two records, so that none supports another. */
  readonly areFew: boolean
  readonly clusters: Int32Array
  readonly compared: Compared
  /** Of each compared pair, in natural logs of odds. */
  readonly scores: Float64Array
}

export type Given = {
  readonly settings: Settings
  readonly random: () => number
  readonly swapped: readonly [number, number] | undefined
  readonly tell: Tell
}

export function resolveClusters(records: Records, given: Given): Found {
  if (areMany(records)) return resolveMany(records, given)
  const { settings, random, swapped, tell } = given
  const { rows, fields } = records
  const compares = comparing(fields, swapped)
  const list = new PairList(compares)
  began(tell, 'candidates')
  const keys = fields.flatMap(({ type, column }, field) => keysOf(type, column, field))
  const blocks = blocksOf(keys, settings.cap)
  const extra = rows < most_rows_for_neighbours ? neighbourRows(records, settings.neighbours) : undefined
  const compared = portions(tell, 'compare', rows)
  eachPair(rows, blocks, least_said, extra, (a, b) => {
    compared(a)
    list.add(a, b)
  })
  began(tell, 'train')
  const lambda = (0.25 * rows) / ((rows * (rows - 1)) / 2)
  const first = firstModel(compares, drawnPairs(compares, rows, random), lambda)
  const model = trained(first, compares, list.compared(), rounds)
  began(tell, 'cluster')
  const rating = { compares, rows, hasFrequencies: settings.hasFrequencies }
  const scores = pairScores(rating, list.compared(), model)
  const found = grouped(records, list.compared(), scores, settings)
  if (found.areFew) return found
  return completed({ rating, list, settings, model, scores, clusters: found.clusters })
}

/** All keys of all fields are too many where there are many records; a few rules tell most apart there. */
function areMany({ fields, rows }: Records): boolean {
  const counts = fields.map(({ type }) => keyCount(type))
  const all = counts.reduce((sum, count) => sum + count, 0)
  const key_pairs = (all * all - counts.reduce((sum, count) => sum + count * count, 0)) / 2
  return rows * key_pairs > most_visits
}

type Under = { rating: Rating; list: PairList; settings: Settings; model: Model } & Pick<Found, 'scores' | 'clusters'>

/** Clusters of several support each other: what no block brought together is compared too, and the weights learnt anew. */
function completed({ rating, list, settings, model, ...found }: Under): Found {
  const { rows, compares } = rating
  let { scores, clusters } = found
  for (let round = 0; round < most_completions; round++) {
    const before = list.length
    complete(clusters, rows, list, scores)
    scores = pairScores(rating, list.compared(), model)
    clusters = clustered(rows, list.compared(), scores, settings)
    if (list.length - before < before * enough_new) break
  }
  if (settings.hasFrequencies) {
    scores = pairScores(rating, list.compared(), fromClusters(compares, list.compared(), clusters))
    clusters = clustered(rows, list.compared(), scores, settings)
  }
  return { route: 'clusters', areFew: false, clusters, compared: list.compared(), scores }
}

/** Each row's nearest, both ways: what one finds, the other is found by. */
function neighbourRows(records: Records, k: number): (row: number) => readonly number[] {
  const { found } = neighboursOf(vectorsOf(textsOf(records), trigrams), k)
  const others: number[][] = Array.from({ length: records.rows }, () => [])
  for (let row = 0; row < records.rows; row++) {
    for (const other of found.subarray(row * k, (row + 1) * k)) {
      if (other > row) others[row]!.push(other)
      else if (other >= 0) others[other]!.push(row)
    }
  }
  return (row) => others[row]!
}

/** Learns anew from what is within clusters and what is not. */
function fromClusters(compares: Comparing, compared: Compared, clusters: Int32Array): Model {
  const inside = new Float64Array(compared.counts.length)
  for (let pair = 0; pair < compared.length; pair++) {
    if (clusters[compared.lefts[pair]!] === clusters[compared.rights[pair]!]) inside[compared.patternOf[pair]!]!++
  }
  return learned(
    compares,
    compared,
    inside.map((count, pattern) => count / compared.counts[pattern]!),
  )
}
