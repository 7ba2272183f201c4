// Finds the records of a file that have no id, or the id of an earlier record.
import type { RecordSource } from '../../../roles/resolution/engine/records/records.ts'
import { max_named_rows } from './bad-rows.ts'

export type IdFaults = {
  readonly count: number
  /** The first ones in the order of their rows. */
  readonly first: readonly IdFault[]
  /** Whether some record has no id, and whether some have that of an earlier one. */
  readonly isMissing: boolean
  readonly isRepeated: boolean
  isGood(row: number): boolean
  /** Rows of all good records. */
  good(): number[]
}

type IdFault = {
  readonly row: number
  /** The record that had the id first; undefined for a record without an id. */
  readonly earlier: { readonly row: number; readonly id: string } | undefined
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
  const firstRows = new Int32Array(values.size).fill(-1)
  const bad = new Uint8Array(rows)
  const decoder = new TextDecoder()
  const first: IdFault[] = []
  let count = 0
  let isMissing = false
  let isRepeated = false
  for (let row = 0; row < rows; row++) {
    const code = codes[row] ?? -1
    const firstRow = firstRows[code] ?? -1
    if (code < 0 ? makesIds : firstRow < 0) {
      if (code >= 0) firstRows[code] = row
      continue
    }
    bad[row] = 1
    count++
    isMissing ||= code < 0
    isRepeated ||= code >= 0
    if (first.length === max_named_rows) continue
    first.push({ row, earlier: code < 0 ? undefined : { row: firstRow, id: decoder.decode(values.bytesOf(code)) } })
  }
  if (count === 0) return undefined
  const isGood = (row: number) => bad[row] === 0
  const good = () => Array.from({ length: rows }, (_, row) => row).filter(isGood)
  return { count, first, isMissing, isRepeated, isGood, good }
}

/** `earlier`: the place of the record that had the id first, such as `line 3`. */
export function describeIdFault(id_field: string, fault: IdFault, earlier: string): string {
  return fault.earlier
    ? `the ${id_field} ${JSON.stringify(fault.earlier.id)} is that of ${earlier} too`
    : `no ${id_field}`
}
