// Converts a resolution from rows to record references: the pairs to store, and the clusters.

import type { RecordRef } from '../fields.ts'
import { compareRefs, orderRefs } from '../order-refs.ts'
import { countClusterSizes } from './cluster/cluster-sizes.ts'
import { orderByUid } from './order-by-uid.ts'
import type { LensRecords } from './records/records.ts'
import type { Resolution } from './resolve.ts'
import { createPartialWeightReader, type MatchWeights, type PartialMatchWeight } from './score/match-weights.ts'
import { decodeText } from './text/dictionary.ts'

/** A scored pair. `score`: natural log-odds or a text similarity, depending on the scale of the run. */
export type RunMatch = {
  readonly left: RecordRef
  readonly right: RecordRef
  readonly score: number
  /** The outcome of each field, by name; without weights where the run scored no fields. */
  readonly levels: (Pick<PartialMatchWeight, 'field' | 'outcome'> & Partial<PartialMatchWeight>)[]
  /** Rules or keys by which the pair was found. */
  readonly found_by: string[]
  /** Log-odds before any field is compared, if scores are log-odds. */
  readonly prior_bits?: number
  /** Height of the score above the cut, if scores are text similarities. */
  readonly above_cut?: number
  readonly linked: boolean
  /** Height of the score above the floor. */
  readonly above: number
  /** Number of records in the cluster of each record. */
  readonly left_size: number
  readonly right_size: number
}

/** Members of a cluster in order, each with its normalised field values. */
export type RunCluster = readonly { readonly ref: RecordRef; readonly values: Record<string, string> }[]

/** Yields the pairs, in their order. */
export function* listMatches(
  records: LensRecords,
  resolution: Resolution,
  weights: MatchWeights,
  pairs: Iterable<number>,
): Generator<RunMatch> {
  const { compared, scores, clusters, floor, scale, cut, ruleNames } = resolution
  const { lefts, rights, ruleOf } = compared
  const parts = createPartialWeightReader(records, compared, weights)
  const sizes = countClusterSizes(clusters)
  for (const pair of pairs) {
    const [a, b] = [lefts[pair]!, rights[pair]!]
    const linked = clusters[a] === clusters[b]
    const score = scores[pair]!
    const [first, second] = [toRecordRef(records, a), toRecordRef(records, b)]
    const [left, right] = orderRefs(first, second)
    const [first_size, second_size] = [sizes[clusters[a]!]!, sizes[clusters[b]!]!]
    const [left_size, right_size] = left === first ? [first_size, second_size] : [second_size, first_size]
    const levels = parts(pair)
    const field_bits = levels.reduce((sum, { bits, frequency_bits }) => sum + bits + frequency_bits, 0)
    const scaleFields =
      scale === 'log_odds' ? { prior_bits: score / Math.LN2 - field_bits } : { above_cut: score - cut }
    const above = Math.max(0, score - floor)
    const ruleName = ruleNames[ruleOf[pair]!]
    const found_by = ruleName === undefined ? [] : [ruleName]
    yield { left, right, score, linked, levels, found_by, ...scaleFields, above, left_size, right_size }
  }
}

/**
 * Lists every cluster, including single records, and their counts. Members are in order; clusters by the uid that derives from their
 * first member, or by their first row.
 */
export function listClusters(
  records: LensRecords,
  clusters: Int32Array,
  uidOf?: (first: RecordRef) => string,
): { clusters: Iterable<RunCluster>; counts: { entities: number; clusters: number; clustered: number } } {
  const rows = new Map<number, number[]>()
  for (const [row, cluster] of clusters.entries()) {
    const members = rows.get(cluster)
    if (members) members.push(row)
    else rows.set(cluster, [row])
  }
  let [several, clustered] = [0, 0]
  for (const { length } of rows.values()) {
    if (length < 2) continue
    several++
    clustered += length
  }
  const lists = [...rows.values()]
  const ordered = uidOf ? orderByUid(lists.keys(), (at) => uidOf(findFirst(records, lists[at] ?? []))) : lists.keys()
  return {
    clusters: iterateClusters(records, lists, ordered),
    counts: { entities: rows.size, clusters: several, clustered },
  }
}

function* iterateClusters(
  records: LensRecords,
  clusters: readonly (readonly number[])[],
  ordered: Iterable<number>,
): Generator<RunCluster> {
  for (const at of ordered) {
    const members = clusters[at]!.map((row) => ({ ref: toRecordRef(records, row), values: readValues(records, row) }))
    yield members.sort((a, b) => compareRefs(a.ref, b.ref))
  }
}

function findFirst(records: LensRecords, rows: readonly number[]): RecordRef {
  const refs = rows.map((row) => toRecordRef(records, row))
  return refs.reduce((first, ref) => (compareRefs(ref, first) < 0 ? ref : first))
}

/** Reads the normalised values of a row, without missing ones. */
function readValues({ fields }: LensRecords, row: number): Record<string, string> {
  const values: Record<string, string> = {}
  for (const { name, column } of fields) {
    const code = column.codes[row]!
    if (code >= 0) values[name] = decodeText(column.dictionary, code)
  }
  return values
}

export function toRecordRef({ names, sources, idOf }: LensRecords, row: number): RecordRef {
  return { node_id: names[sources[row]!]!, record_id: idOf(row) }
}
