// Reduces records to the rows of an exchange: the id and the agreed fields.
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { buildTextColumn } from '../../engine/records/collect-columns.ts'
import { buildRecords, getIdLimit, type LensRecords, type RecordSource } from '../../engine/records/records.ts'
import type { NodeRecord } from '../../fusion-run/node-data.ts'
import type { Lens } from '../../lens/model.ts'

/** The id, then the agreed fields in order; an empty string where a record has no value. */
export type ExchangeRow = readonly string[]

/** Refuses records without an id or with the id of another, and data without a column that the lens requires. */
export function buildRows(
  lens: Lens,
  fields: readonly string[],
  records: readonly NodeRecord[],
): readonly ExchangeRow[] | Refusal {
  const names = new Set(records.flatMap((record) => Object.keys(record)))
  const columns: (string | undefined)[] = []
  for (const name of fields) {
    const field = lens.fields.find((candidate) => candidate.name === name)
    if (!field) return refuse('invalid', `the lens has no field ${name}`)
    const column = (field.columns ?? [field.name]).find((candidate) => names.has(candidate))
    if (column === undefined && !field.optional)
      return refuse('invalid', `the records have no column for the field ${name}, which the lens requires`)
    columns.push(column)
  }
  const knownIds = new Set<string>()
  const max_id_bytes = getIdLimit(lens).bytes
  const rows: ExchangeRow[] = []
  for (const [at, record] of records.entries()) {
    const id = formatValue(record[lens.id_field])
    if (id === '') return refuse('invalid', `record ${at + 1} has no ${lens.id_field}`)
    if (Buffer.byteLength(id) > max_id_bytes)
      return refuse(
        'invalid',
        `the ${lens.id_field} of record ${at + 1} has ${Buffer.byteLength(id)} bytes, and may have ${max_id_bytes}`,
      )
    if (knownIds.has(id))
      return refuse('invalid', `record ${at + 1} has the same ${lens.id_field} as an earlier record`)
    knownIds.add(id)
    rows.push([id, ...columns.map((column) => (column === undefined ? '' : formatValue(record[column])))])
  }
  return rows
}

/** Converts a row to a record of a run, under the column names that the lens reads. */
export function buildRunRecord(lens: Lens, fields: readonly string[], row: ExchangeRow): Record<string, string | null> {
  const entries = fields.map((name, at) => [getColumnName(lens, name), row[at + 1] || null] as const)
  return { ...Object.fromEntries(entries), [lens.id_field]: row[0] ?? '' }
}

/** Converts rows to records of the engine. Never throws `LensFault` for rows of `buildRows`. */
export function buildLensRecords(lens: Lens, fields: readonly string[], rows: readonly ExchangeRow[]): LensRecords {
  const names = [lens.id_field, ...fields.map((name) => getColumnName(lens, name))]
  const columns = names.map((name, at) => {
    return buildTextColumn(
      name,
      rows.map((row) => row[at] ?? ''),
    )
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
