// Keys of records, of pairs and of clusters of one record, as text.
import type { RecordRef } from '../fields.ts'

/** Builds a key that sorts in the order of references: by node, then by record. */
export function recordKey({ node_id, record_id }: RecordRef): string {
  return `${node_id}\u0000${record_id}`
}

/** Whether both lists name the same records in any order; neither may name a record twice. */
export function hasSameMembers(left: readonly RecordRef[], right: readonly RecordRef[]): boolean {
  const keys = new Set(left.map(recordKey))
  return keys.size === right.length && right.every((ref) => keys.has(recordKey(ref)))
}

/** Names the cluster of a single arrived record; no run uses such a name. */
export function singletonClusterName(uid: string): string {
  return `${uid}_new`
}

/** Builds a key that does not depend on the order of the two. */
export function pairKey(first: string, second: string): string {
  return first < second ? `${first} ${second}` : `${second} ${first}`
}
