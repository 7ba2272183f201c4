// Finds who is who among records of which any number may be one: candidates, weights learnt from them, clusters by average link.
import { blocksOf, eachPair, sortedBy } from './block/blocks.ts'
import { keysOf } from './block/keys.ts'
import { averageLink } from './cluster/average-link.ts'
import { type Comparing, comparing, type Field } from './compare/pairs.ts'
import { type Compared, PairList } from './compare/patterns.ts'
import { firstModel, learned, type Model, scoresOf, trained } from './score/model.ts'
import { countsOf, textOf } from './text/dictionary.ts'
import { neighboursOf, trigrams, vectorsOf } from './text/vectors.ts'

/** What differs between kinds of data; see `settingsFor`. */
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
const random_pairs = Number(process.env.RP ?? 100_000)
const rounds = 4

export type Found = { readonly clusters: Int32Array; readonly pairs: number; readonly model: Model }

export function resolveClusters(
  fields: readonly Field[],
  rows: number,
  settings: Settings,
  random: () => number,
  swapped?: readonly [number, number],
  mark: (what: string) => void = () => undefined,
): Found {
  const compares = comparing(fields, swapped)
  mark('prepare')
  const list = new PairList(compares)
  const keys = fields.flatMap(({ type, column }, field) => keysOf(type, column, field))
  mark('keys')
  const blocks = blocksOf(keys, settings.cap)
  mark('blocks')
  const extra = rows < most_rows_for_neighbours ? neighbourRows(fields, rows, settings.neighbours) : undefined
  mark('neighbours')
  eachPair(rows, blocks, Number(process.env.LEAST ?? 0.125), extra, (a, b) => list.add(a, b))
  mark('compare')
  const lambda = (0.25 * rows) / ((rows * (rows - 1)) / 2)
  const first = firstModel(compares, drawn(compares, rows, random), lambda)
  let model = trained(first, compares, list.compared(), rounds)
  mark('train')
  const rate = () => pairScores(compares, list.compared(), model, rows, settings)
  let scores = rate()
  let clusters = clustered(rows, list.compared(), scores, settings)
  mark('cluster')
  if (meanSize(clusters) < 2.5) {
    clusters = clustered(rows, list.compared(), scores, { ...settings, cut: 0 }, 3)
    mark('recluster')
    return { clusters, pairs: list.length, model }
  }
  for (let round = 0; round < 3; round++) {
    const before = list.length
    complete(clusters, rows, list, scores)
    mark('complete')
    scores = rate()
    clusters = clustered(rows, list.compared(), scores, settings)
    mark('recluster')
    if (list.length - before < before * 0.002) break
  }
  model = fromClusters(compares, list.compared(), clusters)
  clusters = clustered(rows, list.compared(), rate(), settings)
  mark('again')
  return { clusters, pairs: list.length, model }
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
function neighbourRows(fields: readonly Field[], rows: number, k: number): (row: number) => Int32Array {
  const texts = Array.from({ length: rows }, (_, row) =>
    fields.map(({ column }) => (column.codes[row]! < 0 ? '' : textOf(column.dictionary, column.codes[row]!))).join(' '),
  )
  const { found } = neighboursOf(vectorsOf(texts, trigrams), k)
  const others: number[][] = Array.from({ length: rows }, () => [])
  for (let row = 0; row < rows; row++) {
    for (const other of found.subarray(row * k, (row + 1) * k)) {
      if (other > row) others[row]!.push(other)
      else if (other >= 0) others[other]!.push(row)
    }
  }
  return (row) => Int32Array.from(others[row]!)
}

/** ln(sum of squared frequencies / frequency of the value), by code: an equal rare value says more than an equal common one. */
function frequencyTerms(fields: readonly Field[], rows: number): Float64Array[] {
  return fields.map(({ column }) => {
    const counts = countsOf(column)
    const all = counts.reduce((sum, count) => sum + count, 0)
    let squares = 0
    for (const count of counts) squares += (count / all) ** 2
    return Float64Array.from(counts, (count) => Math.log(squares / Math.max(count / all, 2 / rows)))
  })
}

/** The score of each pair, in natural logs of odds. */
function pairScores(compares: Comparing, compared: Compared, model: Model, rows: number, settings: Settings): Float64Array {
  const ofPatterns = scoresOf(model, compares, compared)
  const { length, fields, patterns, patternOf, lefts } = compared
  const scores = new Float64Array(length)
  for (let pair = 0; pair < length; pair++) scores[pair] = ofPatterns[patternOf[pair]!]!
  if (!settings.hasFrequencies) return scores
  const terms = frequencyTerms(compares.fields, rows)
  for (let field = 0; field < fields; field++) {
    const { codes } = compares.fields[field]!.column
    const ofValues = terms[field]!
    const isEqual = Uint8Array.from(ofPatterns, (_, pattern) => (patterns[pattern * fields + field] === 1 ? 1 : 0))
    for (let pair = 0; pair < length; pair++) {
      if (isEqual[patternOf[pair]!]) scores[pair]! += ofValues[codes[lefts[pair]!]!]!
    }
  }
  return scores
}

function clustered(rows: number, { lefts, rights }: Compared, scores: Float64Array, settings: Settings, shift = 0): Int32Array {
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

const most_cross_pairs = 4_000

/** Compares what no block brought together: all pairs within clusters, and between clusters that one good pair joins. */
function complete(clusters: Int32Array, rows: number, list: PairList, scores: Float64Array): void {
  const { length, lefts, rights } = list.compared()
  const { from, order: members } = sortedBy({ codes: clusters, sizes: sizesOf(clusters) })
  const partners = partnersOf(rows, lefts, rights)
  const joined = new Set<number>()
  for (let pair = 0; pair < length; pair++) {
    const one = clusters[lefts[pair]!]!
    const other = clusters[rights[pair]!]!
    if (one !== other && scores[pair]! > 0) joined.add(Math.min(one, other) * rows + Math.max(one, other))
  }
  const isKnown = new Int32Array(rows).fill(-1)
  const addAll = (one: number, other: number) => {
    for (let at = from[one]!; at < from[one + 1]!; at++) {
      const a = members[at]!
      for (let place = partners.from[a]!; place < partners.from[a + 1]!; place++) isKnown[partners.others[place]!] = a
      for (let to = one === other ? at + 1 : from[other]!; to < from[other + 1]!; to++) {
        const b = members[to]!
        if (isKnown[b] !== a) list.add(Math.min(a, b), Math.max(a, b))
      }
    }
  }
  for (let cluster = 0; cluster < rows; cluster++) if (from[cluster + 1]! - from[cluster]! > 1) addAll(cluster, cluster)
  for (const key of joined) {
    const [one, other] = [Math.floor(key / rows), key % rows]
    const crossing = (from[one + 1]! - from[one]!) * (from[other + 1]! - from[other]!)
    if (crossing <= most_cross_pairs) addAll(one, other)
  }
}

function sizesOf(clusters: Int32Array): Int32Array {
  const sizes = new Int32Array(clusters.length)
  for (let row = 0; row < clusters.length; row++) sizes[clusters[row]!]!++
  return sizes
}

/** With whom each row has been compared. */
function partnersOf(rows: number, lefts: Int32Array, rights: Int32Array): { from: Uint32Array; others: Int32Array } {
  const from = new Uint32Array(rows + 1)
  for (let pair = 0; pair < lefts.length; pair++) {
    from[lefts[pair]! + 1]!++
    from[rights[pair]! + 1]!++
  }
  for (let row = 0; row < rows; row++) from[row + 1]! += from[row]!
  const next = from.slice()
  const others = new Int32Array(lefts.length * 2)
  for (let pair = 0; pair < lefts.length; pair++) {
    others[next[lefts[pair]!]!++] = rights[pair]!
    others[next[rights[pair]!]!++] = lefts[pair]!
  }
  return { from, others }
}

/** Learns anew from what is within clusters and what is not. */
function fromClusters(compares: Comparing, compared: Compared, clusters: Int32Array): Model {
  const inside = new Float64Array(compared.counts.length)
  for (let pair = 0; pair < compared.length; pair++) {
    if (clusters[compared.lefts[pair]!] === clusters[compared.rights[pair]!]) inside[compared.patternOf[pair]!]!++
  }
  return learned(compares, compared, inside.map((count, pattern) => count / compared.counts[pattern]!))
}
