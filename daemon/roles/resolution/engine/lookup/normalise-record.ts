// One record as a lens sees it: its fields' values in normal form.
import type { Lens } from '../../lens/model.ts'
import { ColumnBuilder } from '../records/column-builder.ts'
import { buildRecords, LensFault } from '../records/records.ts'
import { decodeText } from '../text/dictionary.ts'
import type { FieldValues } from './keys.ts'

/** Column to value, as a request gives it. */
type UnnormalisedRecord = Readonly<Record<string, string | number | boolean | null>>

/** Stands for the id, which need not be known of a record that is looked up. */
const id_placeholder = '\u0000'

/** What the record does not say is left out; undefined where it says nothing that the lens reads. */
export function normaliseRecord(lens: Lens, record: UnnormalisedRecord): FieldValues | undefined {
  const columns = Object.entries({ ...record, [id_placeholder]: id_placeholder }).map(([name, value]) => {
    const column = new ColumnBuilder(name)
    column.set(0, value === null ? '' : String(value))
    return column.finish(1)
  })
  const names = columns.map(({ name }) => name)
  const all = { ...lens, id_field: id_placeholder, fields: lens.fields.map((field) => ({ ...field, optional: true })) }
  try {
    const { fields } = buildRecords(all, [{ name: 'record', rows: 1, names, columns }])
    const said = fields.flatMap(({ name, column }) => {
      const code = column.codes[0] ?? -1
      return code < 0 ? [] : [[name, decodeText(column.dictionary, code)] as const]
    })
    return said.length === 0 ? undefined : Object.fromEntries(said)
  } catch (error) {
    if (error instanceof LensFault) return undefined
    throw error
  }
}
