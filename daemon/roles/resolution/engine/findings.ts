// What a resolution says of records by their names: the pairs that are worth keeping, and who is together.

import { orderRefs } from '../entity-match/order-refs.ts'
import type { RecordRef } from '../fields.ts'
import type { RunCluster, RunMatch } from '../parts.ts'
import type { LensRecords } from './records/records.ts'
import type { Resolution } from './resolve.ts'
import { createPartialWeightReader, type MatchWeights } from './score/match-weights.ts'
import { decodeText } from './text/dictionary.ts'

/** Pairs that are linked, and those whose score says something. */
export function* listMatches(records: LensRecords, found: Resolution, weights: MatchWeights): Generator<RunMatch> {
  const { compared, scores, clusters, floor, scale, cut } = found
  const { lefts, rights, length } = compared
  const parts = createPartialWeightReader(records, compared, weights)
  const sizes = new Int32Array(clusters.length)
  for (const cluster of clusters) sizes[cluster]!++
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
    const told = levels.reduce((sum, { bits, frequency_bits }) => sum + bits + frequency_bits, 0)
    const about = scale === 'log_odds' ? { prior_bits: score / Math.LN2 - told } : { above_cut: score - cut }
    const above = Math.max(0, score - floor)
    yield { left, right, score, linked, levels, ...about, above, left_size, right_size }
  }
}

/** Every cluster, those of one record too, and how many there are. Members are in order, clusters by their first row. */
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
    yield members.sort((one, other) => (orderRefs(one.ref, other.ref)[0] === one.ref ? -1 : 1))
  }
}

/** In normal form; what is missing is left out. */
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
