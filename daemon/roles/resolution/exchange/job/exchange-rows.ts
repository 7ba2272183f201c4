// Records as they go into an exchange: the id and the agreed fields, nothing else of them.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { buildRecords, getIdLimit, type LensRecords, type RecordSource } from '../../engine/records/records.ts'
import { ValueTable } from '../../engine/records/value-table.ts'
import type { NodeRecord } from '../../fusion-run/node-data.ts'
import type { Lens } from '../../lens/model.ts'

/** The id first, then the agreed fields in their order; the empty string where a record says nothing. */
export type ExchangeRow = readonly string[]

/** Refuses records without an id or with one that came before, and data without a column that the lens needs. */
export function buildRows(
  lens: Lens,
  fields: readonly string[],
  records: readonly NodeRecord[],
): readonly ExchangeRow[] | Refusal {
  const names = new Set(records.flatMap((record) => Object.keys(record)))
  const columns: (string | undefined)[] = []
  for (const name of fields) {
    const field = lens.fields.find((each) => each.name === name)
    if (!field) return refuse('invalid', `the lens has no field ${name}`)
    const column = (field.columns ?? [field.name]).find((each) => names.has(each))
    if (column === undefined && !field.optional) return refuse('invalid', `the records have no column for ${name}`)
    columns.push(column)
  }
  const seen = new Set<string>()
  const most = getIdLimit(lens).bytes
  const rows: ExchangeRow[] = []
  for (const [at, record] of records.entries()) {
    const id = formatValue(record[lens.id_field])
    if (id === '') return refuse('invalid', `record ${at + 1} has no ${lens.id_field}`)
    if (Buffer.byteLength(id) > most)
      return refuse('invalid', `record ${at + 1} has an ${lens.id_field} of more than ${most} bytes`)
    if (seen.has(id)) return refuse('invalid', `record ${at + 1} has the ${lens.id_field} of one before it`)
    seen.add(id)
    rows.push([id, ...columns.map((column) => (column === undefined ? '' : formatValue(record[column])))])
  }
  return rows
}

/** As a run takes them: under the names of columns that the lens looks for. */
export function buildRunRecord(lens: Lens, fields: readonly string[], row: ExchangeRow): Record<string, string | null> {
  const named = fields.map((name, at) => [getColumnName(lens, name), row[at + 1] || null] as const)
  return { ...Object.fromEntries(named), [lens.id_field]: row[0] ?? '' }
}

/** As the engine sees them. Throws `LensFault`, which rows that `rowsOf` has made never do. */
export function buildLensRecords(lens: Lens, fields: readonly string[], rows: readonly ExchangeRow[]): LensRecords {
  const encoder = new TextEncoder()
  const names = [lens.id_field, ...fields.map((name) => getColumnName(lens, name))]
  const columns = names.map((name, at) => {
    const values = new ValueTable()
    const codes = Int32Array.from(rows, (row) => {
      const bytes = encoder.encode(row[at] ?? '')
      return bytes.length === 0 ? -1 : values.add(bytes, 0, bytes.length)
    })
    return { name, values, codes }
  })
  const source: RecordSource = { name: 'records', rows: rows.length, names, columns }
  return buildRecords({ ...lens, fields: lens.fields.filter(({ name }) => fields.includes(name)) }, [source])
}

function getColumnName(lens: Lens, name: string): string {
  return lens.fields.find((field) => field.name === name)?.columns?.[0] ?? name
}

function formatValue(value: NodeRecord[string] | undefined): string {
  return value === null || value === undefined ? '' : String(value)
}
