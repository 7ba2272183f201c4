// Finds who is who among records of which any number may be one: candidates, weights learnt from them, clusters by average link.
import { type Blocks, blocksOf, eachPair } from './block/blocks.ts'
import { keyCount, keysOf } from './block/keys.ts'
import { averageLink } from './cluster/average-link.ts'
import { areClean, linkedAcross } from './cluster/clean-sources.ts'
import { complete } from './cluster/completion.ts'
import { type Comparing, comparing } from './compare/pairs.ts'
import { type Compared, PairList } from './compare/patterns.ts'
import type { Records } from './records/records.ts'
import { textsOf } from './records/texts.ts'
import { firstModel, learned, type Model, trained } from './score/model.ts'
import { pairScores, type Rating } from './score/pair-scores.ts'
import { neighboursOf, trigrams, vectorsOf } from './text/vectors.ts'

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

const most_rows_for_neighbours = 20_000
const random_pairs = 100_000
/** Rows that are looked at for all pairs of keys: about a second. */
const most_visits = 20_000_000
const cap_of_many = 5
const rounds = 4
/** Of what the blocks of a pair say together: a shared block of nine, or more of larger ones. */
const least_said = 0.125
/** Where the mean cluster is smaller than this, none supports another, and each pair must speak for itself. */
const few = 2.5
const shift_of_few = 3
const most_completions = 3
const enough_new = 0.002

/** `clusters`: any number of records may be one. `links`: two sources that hold each thing once. */
export type Route = 'clusters' | 'links'

export type Found = {
  readonly route: Route
  readonly clusters: Int32Array
  readonly compared: Compared
  /** Of each compared pair, in natural logs of odds. */
  readonly scores: Float64Array
}

type Given = {
  readonly settings: Settings
  readonly random: () => number
  readonly swapped: readonly [number, number] | undefined
  readonly tell: (phase: string) => void
}

export function resolveClusters(records: Records, { settings, random, swapped, tell }: Given): Found {
  const { rows } = records
  const compares = comparing(records.fields, swapped)
  const list = new PairList(compares)
  tell('candidates')
  const blocks = blocksFor(records, settings.cap)
  const extra = rows < most_rows_for_neighbours ? neighbourRows(records, settings.neighbours) : undefined
  tell('compare')
  eachPair(rows, blocks, least_said, extra, (a, b) => list.add(a, b))
  tell('train')
  const lambda = (0.25 * rows) / ((rows * (rows - 1)) / 2)
  const first = firstModel(compares, drawn(compares, rows, random), lambda)
  const model = trained(first, compares, list.compared(), rounds)
  tell('cluster')
  const rating = { compares, rows, hasFrequencies: settings.hasFrequencies }
  const scores = pairScores(rating, list.compared(), model)
  if (records.names.length === 2 && areClean(records.sources, list.compared(), scores)) {
    const clusters = linkedAcross(records.sources, list.compared(), scores, settings.cut)
    return { route: 'links', clusters, compared: list.compared(), scores }
  }
  const clusters = clustered(rows, list.compared(), scores, settings)
  if (meanSize(clusters) < few) {
    const alone = clustered(rows, list.compared(), scores, { ...settings, cut: 0 }, shift_of_few)
    return {
      route: 'clusters',
      clusters: alone,
      compared: list.compared(),
      scores: scores.map((score) => score - shift_of_few),
    }
  }
  return completed({ rating, list, settings, model, scores, clusters })
}

/** Where there are many records, whole values are enough to tell most apart, and all keys of all fields too many. */
function blocksFor({ fields, rows }: Records, cap: number): Blocks {
  const counts = fields.map(({ type }) => keyCount(type))
  const all = counts.reduce((sum, count) => sum + count, 0)
  const key_pairs = (all * all - counts.reduce((sum, count) => sum + count * count, 0)) / 2
  const isNarrow = rows * key_pairs > most_visits
  const keys = fields.flatMap(({ type, column }, field) => keysOf(type, column, field, isNarrow))
  return blocksOf(keys, isNarrow ? cap_of_many : cap)
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
  return { route: 'clusters', clusters, compared: list.compared(), scores }
}

/** Pairs drawn evenly from all there are. */
function drawn(compares: Comparing, rows: number, random: () => number): Compared {
  const list = new PairList(compares)
  for (let at = 0; at < random_pairs; at++) {
    const a = Math.floor(random() * rows)
    const b = Math.floor(random() * rows)
    if (a !== b) list.add(a, b)
  }
  return list.compared()
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

function clustered(
  rows: number,
  { lefts, rights }: Compared,
  scores: Float64Array,
  settings: Settings,
  shift = 0,
): Int32Array {
  const { lowest, highest, cut } = settings
  const above = scores.map((score) => Math.min(highest, score - shift) - lowest)
  return averageLink(rows, { lefts, rights, above }, cut - lowest)
}

function meanSize(clusters: Int32Array): number {
  const sizes = new Map<number, number>()
  for (const cluster of clusters) sizes.set(cluster, (sizes.get(cluster) ?? 0) + 1)
  let [all, count] = [0, 0]
  for (const size of sizes.values()) {
    if (size < 2) continue
    all += size
    count++
  }
  return count === 0 ? 0 : all / count
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
