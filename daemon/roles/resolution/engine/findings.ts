// Translates a resolution from rows to record references: the pairs worth storing, and the clusters.

import type { RecordRef } from '../fields.ts'
import { compareRefs, orderRefs } from '../order-refs.ts'
import { countClusterSizes } from './cluster/cluster-sizes.ts'
import type { LensRecords } from './records/records.ts'
import type { Resolution } from './resolve.ts'
import { createPartialWeightReader, type MatchWeights, type PartialMatchWeight } from './score/match-weights.ts'
import { decodeText } from './text/dictionary.ts'

/** A scored pair: `score` is in natural logs of odds, or a likeness, as the scale of the run says. */
export type RunMatch = {
  readonly left: RecordRef
  readonly right: RecordRef
  readonly score: number
  /** The outcome of each field, by name; without weights where the run scored no fields. */
  readonly levels: (Pick<PartialMatchWeight, 'field' | 'outcome'> & Partial<PartialMatchWeight>)[]
  /** Log-odds before any field is seen, where scores are log-odds. */
  readonly prior_bits?: number
  /** Distance of the score above the cut, where scores are likenesses. */
  readonly above_cut?: number
  readonly linked: boolean
  /** Distance of the score above the lowest score that counts. */
  readonly above: number
  /** Number of records in the cluster of each of the two. */
  readonly left_size: number
  readonly right_size: number
}

/** Members in order, each with the values of its fields in normal form. */
export type RunCluster = readonly { readonly ref: RecordRef; readonly values: Record<string, string> }[]

/** Yields linked pairs and every other pair whose score is above the floor. */
export function* listMatches(records: LensRecords, found: Resolution, weights: MatchWeights): Generator<RunMatch> {
  const { compared, scores, clusters, floor, scale, cut } = found
  const { lefts, rights, length } = compared
  const parts = createPartialWeightReader(records, compared, weights)
  const sizes = countClusterSizes(clusters)
  for (let pair = 0; pair < length; pair++) {
    const [one, other] = [lefts[pair]!, rights[pair]!]
    const linked = clusters[one] === clusters[other]
    const score = scores[pair]!
    if (!linked && score <= floor) continue
    const [first, second] = [toRecordRef(records, one), toRecordRef(records, other)]
    const [left, right] = orderRefs(first, second)
    const [one_size, other_size] = [sizes[clusters[one]!]!, sizes[clusters[other]!]!]
    const [left_size, right_size] = left === first ? [one_size, other_size] : [other_size, one_size]
    const levels = parts(pair)
    const field_bits = levels.reduce((sum, { bits, frequency_bits }) => sum + bits + frequency_bits, 0)
    const about = scale === 'log_odds' ? { prior_bits: score / Math.LN2 - field_bits } : { above_cut: score - cut }
    const above = Math.max(0, score - floor)
    yield { left, right, score, linked, levels, ...about, above, left_size, right_size }
  }
}

/** Every cluster, single records included, and their counts. Members are in order, clusters by their first row. */
export function listClusters(
  records: LensRecords,
  clusters: Int32Array,
): { found: Iterable<RunCluster>; counts: { entities: number; clusters: number; clustered: number } } {
  const rows = new Map<number, number[]>()
  for (const [row, cluster] of clusters.entries()) {
    const known = rows.get(cluster)
    if (known) known.push(row)
    else rows.set(cluster, [row])
  }
  let [several, clustered] = [0, 0]
  for (const { length } of rows.values()) {
    if (length < 2) continue
    several++
    clustered += length
  }
  return { found: iterateClusters(records, rows), counts: { entities: rows.size, clusters: several, clustered } }
}

function* iterateClusters(
  records: LensRecords,
  clusters: ReadonlyMap<number, readonly number[]>,
): Generator<RunCluster> {
  for (const rows of clusters.values()) {
    const members = rows.map((row) => ({ ref: toRecordRef(records, row), values: readValues(records, row) }))
    yield members.sort((one, other) => compareRefs(one.ref, other.ref))
  }
}

/** Values in normal form; missing ones are left out. */
function readValues({ fields }: LensRecords, row: number): Record<string, string> {
  const values: Record<string, string> = {}
  for (const { name, column } of fields) {
    const code = column.codes[row]!
    if (code >= 0) values[name] = decodeText(column.dictionary, code)
  }
  return values
}

function toRecordRef({ names, sources, idOf }: LensRecords, row: number): RecordRef {
  return { node_id: names[sources[row]!]!, record_id: idOf(row) }
}
