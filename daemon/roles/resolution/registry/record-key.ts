// Records as text, to be compared and counted as members of a cluster.
import type { RecordRef } from '../fields.ts'

/** Sorts in the order of matches: by node, then by record. */
export function recordKey({ node_id, record_id }: RecordRef): string {
  return `${node_id}\u0000${record_id}`
}

/** Whether both name the same records, in any order; neither names one twice. */
export function hasSameMembers(one: readonly RecordRef[], other: readonly RecordRef[]): boolean {
  const keys = new Set(one.map(recordKey))
  return keys.size === other.length && other.every((ref) => keys.has(recordKey(ref)))
}
