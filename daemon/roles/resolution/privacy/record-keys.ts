// Keys of private matching: the agreed fields of a record in normal form, as one key.
import type { LensRecords } from '../engine/records/records.ts'
import { decodeText } from '../engine/text/dictionary.ts'

export type RecordKeys = {
  /** Distinct, in the order of their first records. */
  readonly keys: readonly string[]
  /** Of each key, the rows that have it. */
  readonly rows: readonly (readonly number[])[]
  /** Records that lack one of the fields: they have no key, and match nothing. */
  readonly keyless: number
}

/**
 * Keys over these fields; equal on every site that sees its records by the same lens. A field that no source has gives
 * no keys.
 */
export function buildRecordKeys(
  { rows: count, fields }: Pick<LensRecords, 'rows' | 'fields'>,
  names: readonly string[],
): RecordKeys {
  const columns = names.map((name) => fields.find((field) => field.name === name)?.column)
  const found = new Map<string, number[]>()
  let without = 0
  for (let row = 0; row < count; row++) {
    const values = columns.map((column) => {
      const code = column?.codes[row] ?? -1
      return column && code >= 0 ? decodeText(column.dictionary, code) : ''
    })
    if (values.includes('')) {
      without++
      continue
    }
    const key = JSON.stringify(values)
    const same = found.get(key)
    if (same) same.push(row)
    else found.set(key, [row])
  }
  return { keys: [...found.keys()], rows: [...found.values()], keyless: without }
}
