// Follows an entity of a run of files back to its records, and these to the lines of files that they come from.
import { type PlaceUnit, placeUnitOf } from '../../../adapters/platform/data-file/data-kinds.ts'
import type { EngineProgressListener } from '../../roles/resolution/engine/progress.ts'
import { openDescribedDataset } from '../ingest/described-dataset.ts'
import { type RowOrigin, traceRows } from '../ingest/trace-rows.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type ReadSource, withDataFile } from './data-file.ts'
import { readRunDocuments } from './folder/run-documents.ts'
import { readRunSources } from './folder/run-sources.ts'
import { findTable, readTable } from './folder/run-table.ts'
import { FileVersions } from './reading/file-versions.ts'
import { locateRows } from './reading/locate-rows.ts'

export type EntityRequest = {
  readonly out: string
  /** Id of an entity, or number of a cluster. */
  readonly entity: string
  /** Data files that were moved since the run. */
  readonly data: readonly string[]
}

export type EntityLineage = {
  /** Present where a registry keeps entities. */
  readonly entity?: string
  readonly cluster: number
  readonly records: readonly TracedRecord[]
  /** Records beyond those that are traced. */
  readonly left_out?: number
}

export type TracedRecord = {
  readonly source: string
  readonly id: string
  /** Data file or folder of a landed dataset, at its place now. */
  readonly file: string
  readonly sha256: string
  readonly place: number
  readonly unit: PlaceUnit
  /** Sheet of a workbook, or layer of a GeoPackage. */
  readonly sheet?: string
  /** Pointer to the list of records, or path of the elements that are records. */
  readonly pointer?: string
  /** Of a row of a landed dataset. */
  readonly origin?: RowOrigin
}

const max_records = 1_000

/** Throws `OfflineCommandError`: 1 for an unknown entity and for missing files, 5 for what was changed or is damaged. */
export async function traceEntity(
  { out, entity, data }: EntityRequest,
  onProgress: EngineProgressListener,
): Promise<EntityLineage> {
  const { model, inputs } = readRunDocuments(out)
  const { records, ...found } = await findRecords(out, entity)
  const versions = new FileVersions()
  const sources = await readRunSources(model.lens, inputs, data, onProgress, versions)
  const traced = new Map<string, TracedRecord>()
  for (const [at, source] of sources.entries()) {
    const ids = new Set(records.flatMap((each) => (each.source === source.name ? [each.id] : [])))
    if (ids.size === 0) continue
    const rows = findIds(source, source.id_field ?? model.lens.id_field, ids)
    const places = await locateRecords(source, rows, versions)
    for (const [id, place] of places)
      traced.set(keyOf({ source: source.name, id }), {
        ...{ source: source.name, id, file: source.origin.file, sha256: inputs.data[at]?.sha256 ?? '' },
        ...place,
      })
  }
  return {
    ...found,
    records: records.map((record) => {
      const known = traced.get(keyOf(record))
      if (known) return known
      throw new OfflineCommandError(5, `the data of ${out} has no record ${record.source}:${record.id}`)
    }),
  }
}

type RecordName = Pick<TracedRecord, 'source' | 'id'>

const keyOf = ({ source, id }: RecordName) => `${source}\u0000${id}`

async function findRecords(
  out: string,
  name: string,
): Promise<Omit<EntityLineage, 'records'> & { readonly records: readonly RecordName[] }> {
  const file = findTable(out, 'clusters')
  const table = await readTable(file, ['source', 'id', 'cluster'], ['entity'])
  const linesOf = (column: string): number[] => {
    const lines: number[] = []
    // Without a registry, the entity of every record is empty.
    for (let line = 0; name !== '' && line < table.rows; line++) if (table.text(column, line) === name) lines.push(line)
    return lines
  }
  const ofEntity = linesOf('entity')
  const lines = ofEntity.length > 0 ? ofEntity : linesOf('cluster')
  const [first] = lines
  if (first === undefined)
    throw new OfflineCommandError(
      1,
      `the run has no entity and no cluster ${JSON.stringify(name)}`,
      `name one of the column "entity" or "cluster" of ${file}`,
    )
  const entity = table.text('entity', first)
  return {
    ...(entity !== '' && { entity }),
    cluster: Number(table.text('cluster', first)),
    records: lines
      .slice(0, max_records)
      .map((line) => ({ source: table.text('source', line), id: table.text('id', line) })),
    ...(lines.length > max_records && { left_out: lines.length - max_records }),
  }
}

/** Rows of the source by id, as far as it has them. */
function findIds({ columns }: ReadSource, id_field: string, ids: ReadonlySet<string>): Map<string, number> {
  const column = columns.find(({ name }) => name === id_field)
  const rows = new Map<string, number>()
  const decoder = new TextDecoder()
  for (const [row, code] of column?.codes.entries() ?? []) {
    const id = code < 0 ? undefined : decoder.decode(column?.values.bytesOf(code))
    if (id !== undefined && ids.has(id)) rows.set(id, row)
  }
  return rows
}

type RecordPlaceInFile = Pick<TracedRecord, 'place' | 'unit' | 'sheet' | 'pointer' | 'origin'>

async function locateRecords(
  { origin, rows: count }: ReadSource,
  rowOf: ReadonlyMap<string, number>,
  versions: FileVersions,
): Promise<Map<string, RecordPlaceInFile>> {
  const { file, reading, isKept } = origin
  const readable = listReadable(count, isKept)
  const rows = new Map([...rowOf].map(([id, row]) => [id, readable(row)]))
  const places = await withDataFile(file, (open) => locateRows(open, reading, [...rows.values()]), { versions })
  const placeOf = (row: number) => places.get(row) ?? row + 1
  if (reading.kind !== 'dataset') {
    const { kind, sheet, pointer } = reading
    const part = { ...(sheet !== undefined && { sheet }), ...(pointer !== undefined && { pointer }) }
    return new Map([...rows].map(([id, row]) => [id, { place: placeOf(row), unit: placeUnitOf(kind), ...part }]))
  }
  const origins = await traceRows(openDescribedDataset(file), [...rows.values()].map(placeOf))
  return new Map(
    [...rows].map(([id, row]) => {
      const found = origins.get(placeOf(row))
      return [id, { place: placeOf(row), unit: 'row' as const, ...(found && { origin: found }) }]
    }),
  )
}

/** Returns a function for the row among all that can be read, from that among the records of the source. */
function listReadable(rows: number, isKept: ReadSource['origin']['isKept']): (row: number) => number {
  if (!isKept) return (row) => row
  const readable = new Int32Array(rows)
  for (let [at, row] = [0, 0]; at < rows; row++) if (isKept(row)) readable[at++] = row
  return (row) => readable[row] ?? row
}
