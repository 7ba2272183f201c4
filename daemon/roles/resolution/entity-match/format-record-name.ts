// Formats the name of a record for display: its node and its id there.
import type { RecordRef } from '../fields.ts'

/** Formats the name. A longer name is truncated and ends in an ellipsis. */
export function formatRecordName({ node_id, record_id }: RecordRef, max_characters = Number.POSITIVE_INFINITY): string {
  const name = `${node_id}/${record_id}`
  return name.length <= max_characters ? name : `${name.slice(0, max_characters - 1)}…`
}
