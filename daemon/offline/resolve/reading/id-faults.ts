// Finds the records of a file that have no id, or the id of an earlier record.
import type { RecordSource } from '../../../roles/resolution/engine/records/records.ts'
import { max_named_rows } from './bad-rows.ts'

export type IdFaults = {
  readonly count: number
  /** Rows of the first ones, in order, with the reason of each. */
  readonly first: readonly { readonly row: number; readonly reason: string }[]
  /** Whether some record has no id. */
  readonly isMissing: boolean
  isGood(row: number): boolean
  /** Rows of all good records. */
  good(): number[]
}

/** `makesIds`: a record without an id gets one later. Undefined where all records have ids of their own. */
export function findIdFaults(
  { rows, columns }: Omit<RecordSource, 'name'>,
  id_field: string,
  makesIds: boolean,
): IdFaults | undefined {
  const column = columns.find(({ name }) => name === id_field)
  if (!column) return undefined
  const { codes, values } = column
  const isKnown = new Uint8Array(values.size)
  const bad = new Uint8Array(rows)
  const decoder = new TextDecoder()
  const first: { row: number; reason: string }[] = []
  let count = 0
  let isMissing = false
  for (let row = 0; row < rows; row++) {
    const code = codes[row] ?? -1
    if (code < 0 ? makesIds : isKnown[code] === 0) {
      if (code >= 0) isKnown[code] = 1
      continue
    }
    bad[row] = 1
    count++
    isMissing ||= code < 0
    if (first.length === max_named_rows) continue
    const id = code < 0 ? '' : JSON.stringify(decoder.decode(values.bytesOf(code)))
    first.push({ row, reason: code < 0 ? `no ${id_field}` : `an earlier record has the ${id_field} ${id} too` })
  }
  if (count === 0) return undefined
  const isGood = (row: number) => bad[row] === 0
  const good = () => Array.from({ length: rows }, (_, row) => row).filter(isGood)
  return { count, first, isMissing, isGood, good }
}
