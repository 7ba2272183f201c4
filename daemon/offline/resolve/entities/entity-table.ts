// Table of the entities of a run: for each one its golden record, with values as they are in the data.

import type { LensRecords, RecordSource } from '../../../roles/resolution/engine/records/records.ts'
import { GoldenRecordBuilder } from '../../../roles/resolution/golden-record/golden-record.ts'
import type { Lens } from '../../../roles/resolution/lens/model.ts'
import { buildRecordKey } from '../decisions-file.ts'
import { createNormalReader, createOriginalReader, type ValueReader } from '../folder/original-values.ts'
import type { ResultTable } from '../result-file.ts'
import { createColumnNames } from './column-names.ts'

type EntityTableContent = {
  readonly lens: Lens
  readonly records: LensRecords
  /** The columns of the lens as they are in the data. */
  readonly sources: readonly RecordSource[]
  /** Number of the cluster of each record, from 1. */
  readonly numbers: Int32Array
  /** Entity ids by cluster number, if a registry keeps them. */
  readonly entities?: readonly string[] | undefined
  /** Called for each entity; if it throws, the table ends. */
  readonly onEntity: () => void
}

/** The table holds the rows of one entity at a time; each value is that of the first record which has the surviving one. */
export function buildEntityTable(content: EntityTableContent): ResultTable {
  const { records, entities } = content
  const own = ['cluster', ...(entities ? ['entity'] : []), 'records', 'sources', 'record_ids']
  const nameColumn = createColumnNames(own)
  return {
    name: 'entities',
    columns: [
      { name: 'cluster', type: 'int32', required: true },
      ...(entities ? [{ name: 'entity', type: 'text' as const, required: true }] : []),
      { name: 'records', type: 'int32', required: true },
      { name: 'sources', type: 'int32', required: true },
      { name: 'record_ids', type: 'text', required: true },
      ...records.fields.map(({ name }) => ({ name: nameColumn(name), type: 'text' as const })),
    ],
    rows: generateEntities(content),
  }
}

function* generateEntities(content: EntityTableContent): Generator<(string | number | undefined)[]> {
  const { lens, records, sources, numbers, entities, onEntity } = content
  const readOriginal = createOriginalReader(lens, records, sources)
  const readNormal = createNormalReader(records)
  const goldenRows = createSurvivorFinder(lens, records, readNormal)
  let at = -1
  for (const rows of groupRows(numbers)) {
    at++
    onEntity()
    const sourceCount = rows.length === 1 ? 1 : new Set(Array.from(rows, (row) => records.sources[row])).size
    const values = goldenRows(rows).map((row, field) => (row === undefined ? undefined : readOriginal(row, field)))
    yield [
      at + 1,
      ...(entities ? [entities[at] ?? ''] : []),
      rows.length,
      sourceCount,
      listRecordIds(records, rows),
      ...values,
    ]
  }
}

const max_listed_records = 100
/** A cell of a spreadsheet holds 32,767. */
const max_listed_characters = 30_000

/** The records in the order of the data, each as `source/id`; at the limits the list ends with an ellipsis. */
function listRecordIds(records: LensRecords, rows: Int32Array): string {
  const listed: string[] = []
  let characters = 0
  for (const row of rows) {
    const record = `${records.names[records.sources[row] ?? 0] ?? ''}/${records.idOf(row)}`
    characters += record.length + record_separator.length
    if (listed.length === max_listed_records || characters > max_listed_characters) {
      listed.push('…')
      break
    }
    listed.push(record)
  }
  return listed.join(record_separator)
}

const record_separator = '; '

/** Finds for each field the row whose value survives; undefined where no row has one. */
function createSurvivorFinder(lens: Lens, records: LensRecords, readNormal: ValueReader) {
  const { fields } = records
  const lensFields = fields.map(({ name }) => lens.fields.find((field) => field.name === name) ?? { name })
  const rules = { fields: lensFields, source_order: lens.source_order }
  return (rows: Int32Array): (number | undefined)[] => {
    const [only = 0] = rows
    if (rows.length === 1) return fields.map(({ column }) => ((column.codes[only] ?? -1) < 0 ? undefined : only))
    const builder = new GoldenRecordBuilder(rules)
    const rowOf = new Map<string, number>()
    for (const row of rows) {
      const values: Record<string, string> = {}
      for (const [field, { name }] of fields.entries()) values[name] = readNormal(row, field) ?? ''
      const ref = { node_id: records.names[records.sources[row] ?? 0] ?? '', record_id: records.idOf(row) }
      rowOf.set(buildRecordKey(records, row), row)
      builder.add({ ref, values })
    }
    return Array.from(builder.survivors(), (survivor) => {
      return survivor && rowOf.get(`${survivor.record.node_id}\u0000${survivor.record.record_id}`)
    })
  }
}

/** The rows of each cluster, by its number: in two arrays for all of them, since a million small ones take 165 MB. */
function* groupRows(numbers: Int32Array): Generator<Int32Array> {
  const count = numbers.reduce((highest, number) => Math.max(highest, number), 0)
  const ends = new Int32Array(count + 1)
  for (const number of numbers) ends[number] = (ends[number] ?? 0) + 1
  for (let number = 1; number <= count; number++) ends[number] = (ends[number] ?? 0) + (ends[number - 1] ?? 0)
  const rows = new Int32Array(numbers.length)
  const next = ends.slice(0, count)
  for (const [row, number] of numbers.entries()) {
    const at = next[number - 1] ?? 0
    rows[at] = row
    next[number - 1] = at + 1
  }
  for (let at = 0; at < count; at++) yield rows.subarray(ends[at], ends[at + 1])
}
