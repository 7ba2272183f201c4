// Keys of private matching: the normalised agreed fields of a record, as one key.
import type { LensRecords } from '../engine/records/records.ts'
import { decodeText } from '../engine/text/dictionary.ts'

export type RecordKeys = {
  /** Distinct keys, in the order of their first records. */
  readonly keys: readonly string[]
  /** Rows of each key. */
  readonly rows: readonly (readonly number[])[]
  /** Number of records that lack one of the fields: they have no key and match nothing. */
  readonly keyless: number
}

/**
 * Builds keys over these fields, equal on every site that uses the same lens. A field that no source has gives no keys.
 */
export function buildRecordKeys(
  { rows: count, fields }: Pick<LensRecords, 'rows' | 'fields'>,
  names: readonly string[],
): RecordKeys {
  const columns = names.map((name) => fields.find((field) => field.name === name)?.column)
  const rowsByKey = new Map<string, number[]>()
  let keyless = 0
  for (let row = 0; row < count; row++) {
    const values = columns.map((column) => {
      const code = column?.codes[row] ?? -1
      return column && code >= 0 ? decodeText(column.dictionary, code) : ''
    })
    if (values.includes('')) {
      keyless++
      continue
    }
    const key = JSON.stringify(values)
    const rows = rowsByKey.get(key)
    if (rows) rows.push(row)
    else rowsByKey.set(key, [row])
  }
  return { keys: [...rowsByKey.keys()], rows: [...rowsByKey.values()], keyless }
}
