// What a resolution says of records by their names: the pairs that are worth keeping, and who is together.

import { inOrder } from '../entity-match/order.ts'
import type { RecordRef } from '../fields.ts'
import type { FoundMatch } from '../parts.ts'
import type { Records } from './records/records.ts'
import type { Resolution } from './resolve.ts'

/** Pairs that are linked, and those whose score says something. */
export function* matchesOf(records: Records, { compared, scores, clusters, floor }: Resolution): Generator<FoundMatch> {
  const { lefts, rights, patternOf, patterns, fields, length } = compared
  const sizes = new Int32Array(clusters.length)
  for (const cluster of clusters) sizes[cluster]!++
  for (let pair = 0; pair < length; pair++) {
    const [one, other] = [lefts[pair]!, rights[pair]!]
    const linked = clusters[one] === clusters[other]
    const score = scores[pair]!
    if (!linked && score <= floor) continue
    const [first, second] = [refOf(records, one), refOf(records, other)]
    const [left, right] = inOrder(first, second)
    const [one_size, other_size] = [sizes[clusters[one]!]!, sizes[clusters[other]!]!]
    const [left_size, right_size] = left === first ? [one_size, other_size] : [other_size, one_size]
    const from = patternOf[pair]! * fields
    const levels = records.fields.map(({ name }, field) => ({ field: name, outcome: patterns[from + field]! }))
    yield { left, right, score, linked, levels, above: Math.max(0, score - floor), left_size, right_size }
  }
}

/** Clusters of two and more, members in order, and how many clusters there are with those of one. */
export function clustersOf(records: Records, clusters: Int32Array): { members: RecordRef[][]; entities: number } {
  const members = new Map<number, RecordRef[]>()
  for (const [row, cluster] of clusters.entries()) {
    const known = members.get(cluster)
    if (known) known.push(refOf(records, row))
    else members.set(cluster, [refOf(records, row)])
  }
  const several = [...members.values()].filter(({ length }) => length > 1)
  for (const each of several) each.sort((one, other) => (inOrder(one, other)[0] === one ? -1 : 1))
  return { members: several, entities: members.size }
}

function refOf({ names, sources, idOf }: Records, row: number): RecordRef {
  return { node_id: names[sources[row]!]!, record_id: idOf(row) }
}
