// The order of record references: a match names its two records, and a cluster its members, in this order.
import type { RecordRef } from './fields.ts'

/** Sorts by node, then by record, as code units. Zero only for the same record. */
export function compareRefs(one: RecordRef, other: RecordRef): number {
  if (one.node_id !== other.node_id) return one.node_id < other.node_id ? -1 : 1
  if (one.record_id !== other.record_id) return one.record_id < other.record_id ? -1 : 1
  return 0
}

/** The two references in order; equal ones as they were given. */
export function orderRefs(one: RecordRef, other: RecordRef): readonly [RecordRef, RecordRef] {
  return compareRefs(one, other) <= 0 ? [one, other] : [other, one]
}
