// Normalises the field values of one record by a lens.
import type { Lens } from '../../lens/model.ts'
import { buildTextColumn } from '../records/collect-columns.ts'
import { buildRecords, LensFault } from '../records/records.ts'
import { decodeText } from '../text/dictionary.ts'
import type { FieldValues } from './keys.ts'

/** Value of each column, as in a request. */
type UnnormalisedRecord = Readonly<Record<string, string | number | boolean | null>>

/** Replaces the id, which a looked-up record may lack. */
const id_placeholder = '\u0000'

/** Normalises a record, without missing values; undefined for a record without any value that the lens reads. */
export function normaliseRecord(lens: Lens, record: UnnormalisedRecord): FieldValues | undefined {
  const columns = Object.entries({ ...record, [id_placeholder]: id_placeholder }).map(([name, value]) => {
    return buildTextColumn(name, [value === null ? '' : String(value)])
  })
  const names = columns.map(({ name }) => name)
  const lookupLens = {
    ...lens,
    id_field: id_placeholder,
    fields: lens.fields.map((field) => ({ ...field, optional: true })),
  }
  try {
    const { fields } = buildRecords(lookupLens, [{ name: 'record', rows: 1, names, columns }])
    const values = fields.flatMap(({ name, column }) => {
      const code = column.codes[0] ?? -1
      return code < 0 ? [] : [[name, decodeText(column.dictionary, code)] as const]
    })
    return values.length === 0 ? undefined : Object.fromEntries(values)
  } catch (error) {
    if (error instanceof LensFault) return undefined
    throw error
  }
}
