// Clusters from scored pairs: by the method and the threshold of a lens, or by what the scores look like; what blocking missed is found here.
import type { Lens } from '../lens/model.ts'
import type { RuleReport } from './block/ruled.ts'
import { averageLink } from './cluster/average-link.ts'
import { areClean, linkedAcross } from './cluster/clean-sources.ts'
import { complete } from './cluster/completion.ts'
import { connected } from './cluster/groups.ts'
import type { Comparing } from './compare/pairs.ts'
import type { Compared, PairList } from './compare/patterns.ts'
import type { Records } from './records/records.ts'
import { learned, type Model } from './score/model.ts'
import { pairScores, type Rating } from './score/pair-scores.ts'

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

/** Where the mean cluster is smaller than this, none supports another, and each pair must speak for itself. */
const few = 2.5
const shift_of_few = 3
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
  /** Where, among these scores, records become one; and what says nothing at all. */
  readonly cut: number
  readonly floor: number
  readonly compares: Comparing
  readonly model: Model
  /** What the rules of the lens brought together; none where it gave none. */
  readonly rules: readonly RuleReport[]
}

export type Scored = {
  readonly lens: Lens
  readonly records: Records
  readonly rating: Rating
  readonly list: PairList
  readonly add: (a: number, b: number) => void
  readonly settings: Settings
  readonly model: Model
  readonly scores: Float64Array
}

type Clustered = Pick<Found, 'route' | 'areFew' | 'clusters' | 'scores' | 'cut' | 'floor'> & { readonly model?: Model }

/** By the method and the threshold of the lens; where it says neither, by what the scores and the clusters look like. */
export function clustersOf(scored: Scored): Clustered {
  const { lens, records, list, scores } = scored
  const { rows, sources, names } = records
  const compared = list.compared()
  const given = cutOf(lens)
  const settings = given === undefined ? scored.settings : around(given, scored.settings)
  const { cut, lowest: floor } = settings
  if (lens.clustering === 'connected_components') {
    const clusters = connected(rows, { ...compared, above: scores }, cut).lowest()
    return { route: 'clusters', areFew: false, clusters, scores, cut, floor }
  }
  const isClean = lens.clustering === undefined && names.length === 2 && areClean(sources, compared, scores)
  if (isClean || lens.clustering === 'one_to_one') {
    const sides = names.length > 1 ? sources : Int32Array.from(sources, (_, row) => row)
    return { route: 'links', areFew: true, clusters: linkedAcross(sides, compared, scores, cut), scores, cut, floor }
  }
  const clusters = clustered(rows, compared, scores, settings)
  if (given === undefined && meanSize(clusters) < few) {
    const alone = clustered(rows, compared, scores, { ...settings, cut: 0 }, shift_of_few)
    const shifted = scores.map((score) => score - shift_of_few)
    return { route: 'clusters', areFew: true, clusters: alone, scores: shifted, cut: 0, floor }
  }
  return { route: 'clusters', areFew: false, ...completed({ ...scored, settings, clusters }), cut, floor }
}

/** In natural logs. Weights in bits, and methods other than the usual one, join from nought on unless the lens says more. */
function cutOf({ threshold, clustering, fields }: Lens): number | undefined {
  if (threshold !== undefined) return threshold * Math.LN2
  return fields[0]?.weights || (clustering ?? 'average_link') !== 'average_link' ? 0 : undefined
}

/** The same bounds about another cut. */
function around(cut: number, settings: Settings): Settings {
  const by = cut - settings.cut
  return { ...settings, cut, lowest: settings.lowest + by, highest: settings.highest + by }
}

/** Clusters of several support each other: what no block brought together is compared too, and the weights learnt anew. */
function completed(
  scored: Scored & { readonly clusters: Int32Array },
): Pick<Clustered, 'clusters' | 'scores' | 'model'> {
  const { rating, list, add, settings } = scored
  const { rows, compares } = rating
  let { scores, clusters, model } = scored
  for (let round = 0; round < most_completions; round++) {
    const before = list.length
    complete(clusters, rows, { add, compared: () => list.compared() }, scores)
    scores = pairScores(rating, list.compared(), model)
    clusters = clustered(rows, list.compared(), scores, settings)
    if (list.length - before < before * enough_new) break
  }
  if (settings.hasFrequencies && !model.weights) {
    model = fromClusters(compares, list.compared(), clusters)
    scores = pairScores(rating, list.compared(), model)
    clusters = clustered(rows, list.compared(), scores, settings)
  }
  return { scores, clusters, model }
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
