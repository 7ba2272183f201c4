// Finds who is who among records of which any number may be one: candidates, weights learnt from them, clusters by average link.
import { blocksOf, eachPair } from './block/blocks.ts'
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
const random_pairs = 400_000
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
  eachPair(rows, blocks, extra, () => true, (a, b) => list.add(a, b))
  mark('compare')
  const lambda = (0.25 * rows) / ((rows * (rows - 1)) / 2)
  const first = firstModel(compares, drawn(compares, rows, random), lambda)
  let model = trained(first, compares, list.compared(), rounds)
  mark('train')
  let clusters = clustered(rows, compares, list, model, settings)
  mark('cluster')
  if (meanSize(clusters) < 2.5) {
    clusters = clustered(rows, compares, list, model, { ...settings, cut: 0 }, 3)
    mark('recluster')
    return { clusters, pairs: list.length, model }
  }
  for (let round = 0; round < 3; round++) {
    const before = list.length
    complete(clusters, rows, compares, list, model, settings)
    mark('complete')
    clusters = clustered(rows, compares, list, model, settings)
    mark('recluster')
    if (list.length - before < before * 0.002) break
  }
  model = fromClusters(compares, list.compared(), clusters)
  clusters = clustered(rows, compares, list, model, settings)
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
  const { found } = neighboursOf(vectorsOf(texts, trigrams), k, () => true)
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

type Scored = { compared: Compared; scores: Float64Array; scoreOf(pair: number): number }

function scored(compares: Comparing, compared: Compared, model: Model, rows: number, settings: Settings): Scored {
  const scores = scoresOf(model, compares, compared)
  if (!settings.hasFrequencies) return { compared, scores, scoreOf: (pair) => scores[compared.patternOf[pair]!]! }
  const terms = frequencyTerms(compares.fields, rows)
  const { fields, patterns, patternOf, lefts } = compared
  return {
    compared,
    scores,
    scoreOf(pair) {
      const pattern = patternOf[pair]!
      let sum = scores[pattern]!
      for (let field = 0; field < fields; field++) {
        if (patterns[pattern * fields + field] === 1) sum += terms[field]![compares.fields[field]!.column.codes[lefts[pair]!]!]!
      }
      return sum
    },
  }
}

function clustered(
  rows: number,
  compares: Comparing,
  list: PairList,
  model: Model,
  settings: Settings,
  shift = 0,
): Int32Array {
  const { compared, scoreOf } = scored(compares, list.compared(), model, rows, settings)
  const { lowest, highest, cut } = settings
  const [lefts, rights, above]: [number[], number[], number[]] = [[], [], []]
  for (let pair = 0; pair < compared.length; pair++) {
    const score = Math.min(highest, scoreOf(pair) - shift)
    if (score <= lowest) continue
    lefts.push(compared.lefts[pair]!)
    rights.push(compared.rights[pair]!)
    above.push(score - lowest)
  }
  return averageLink(rows, { lefts, rights, above: Float64Array.from(above) }, lowest, cut)
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
function complete(
  clusters: Int32Array,
  rows: number,
  compares: Comparing,
  list: PairList,
  model: Model,
  settings: Settings,
): void {
  const { compared, scoreOf } = scored(compares, list.compared(), model, rows, settings)
  const members = new Map<number, number[]>()
  for (let row = 0; row < rows; row++) {
    const known = members.get(clusters[row]!)
    if (known) known.push(row)
    else members.set(clusters[row]!, [row])
  }
  const have = new Set<number>()
  const joined = new Set<number>()
  for (let pair = 0; pair < compared.length; pair++) {
    const [a, b] = [compared.lefts[pair]!, compared.rights[pair]!]
    have.add(a * rows + b)
    const [one, other] = [clusters[a]!, clusters[b]!]
    if (one !== other && scoreOf(pair) > 0) joined.add(Math.min(one, other) * rows + Math.max(one, other))
  }
  const addPair = (one: number, other: number) => {
    const [a, b] = [Math.min(one, other), Math.max(one, other)]
    if (have.has(a * rows + b)) return
    have.add(a * rows + b)
    list.add(a, b)
  }
  for (const mine of members.values()) {
    for (let at = 0; at < mine.length; at++) for (let to = at + 1; to < mine.length; to++) addPair(mine[at]!, mine[to]!)
  }
  for (const key of joined) {
    const [mine, theirs] = [members.get(Math.floor(key / rows))!, members.get(key % rows)!]
    if (mine.length * theirs.length > most_cross_pairs) continue
    for (const a of mine) for (const b of theirs) addPair(a, b)
  }
}

/** Learns anew from what is within clusters and what is not. */
function fromClusters(compares: Comparing, compared: Compared, clusters: Int32Array): Model {
  const inside = new Float64Array(compared.counts.length)
  for (let pair = 0; pair < compared.length; pair++) {
    if (clusters[compared.lefts[pair]!] === clusters[compared.rights[pair]!]) inside[compared.patternOf[pair]!]!++
  }
  return learned(compares, compared, inside.map((count, pattern) => count / compared.counts[pattern]!))
}
