// The order of record references: a match names its two records, and a cluster its members, in this order.
import type { RecordRef } from './fields.ts'

/** Compares by node, then by record, in code units. Zero only for the same record. */
export function compareRefs(left: RecordRef, right: RecordRef): number {
  if (left.node_id !== right.node_id) return left.node_id < right.node_id ? -1 : 1
  if (left.record_id !== right.record_id) return left.record_id < right.record_id ? -1 : 1
  return 0
}

/** Returns the two references in order; equal references keep their order. */
export function orderRefs(left: RecordRef, right: RecordRef): readonly [RecordRef, RecordRef] {
  return compareRefs(left, right) <= 0 ? [left, right] : [right, left]
}
