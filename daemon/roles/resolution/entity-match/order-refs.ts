// Orders two records, as a match names them and a cluster lists its members.
import type { RecordRef } from '../fields.ts'

/** By node, then by record, as code units. */
export function orderRefs(one: RecordRef, other: RecordRef): readonly [RecordRef, RecordRef] {
  const isFirst = one.node_id < other.node_id || (one.node_id === other.node_id && one.record_id <= other.record_id)
  return isFirst ? [one, other] : [other, one]
}
