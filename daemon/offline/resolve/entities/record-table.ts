// Table of the records of a run: each with its cluster and all columns of the data, which are read once more, block by block.
import { type DataBlock, type TextColumn, TextColumnBuilder } from '../../../kernel/data/data-block.ts'
import { type EngineProgressListener, reportPhaseStart } from '../../../roles/resolution/engine/progress.ts'
import { type FileInput, type RecordOrigin, readOriginBlocks } from '../data-file.ts'
import type { FileRecords } from '../lens-records.ts'
import { type BlockTable, chunk_rows } from '../result-file.ts'
import { createColumnNames } from './column-names.ts'

type RecordTableContent = {
  readonly records: FileRecords
  /** Number of the cluster of each record, from 1. */
  readonly numbers: Int32Array
  /** Entity ids by cluster number, if a registry keeps them. */
  readonly entities?: readonly string[] | undefined
  readonly input: FileInput
  readonly onProgress: EngineProgressListener
}

/** A column of the data, under its name in the table. */
type DataColumnName = { readonly column: string; readonly name: string }

/** Values are texts as they are in the data; a source without a column has no values in it. */
export function buildRecordTable(content: RecordTableContent): BlockTable {
  const { records, entities } = content
  const own = ['source', 'id', 'cluster', ...(entities ? ['entity'] : [])]
  const nameColumn = createColumnNames(own)
  const found = new Set(records.origins.flatMap(({ names }) => names))
  // The table has the ids already, unless a column of that name has something else in another file.
  const isIdElsewhere = ({ names, reading }: RecordOrigin) => names.includes('id') && reading.id?.name !== 'id'
  if (!records.origins.some(isIdElsewhere)) found.delete('id')
  const columns = [...found].map((column) => ({ column, name: nameColumn(column) }))
  return {
    name: 'records',
    columns: [
      ...own.map((name) => ({
        name,
        type: name === 'cluster' ? ('int32' as const) : ('text' as const),
        required: true,
      })),
      ...columns.map(({ name }) => ({ name, type: 'text' as const })),
    ],
    blocks: generateBlocks(content, own, columns),
  }
}

async function* generateBlocks(
  content: RecordTableContent,
  own: readonly string[],
  columns: readonly DataColumnName[],
): AsyncGenerator<DataBlock> {
  const { records, input, onProgress } = content
  const names = [...own, ...columns.map(({ name }) => name)]
  const builders = own.map((name) => new TextColumnBuilder(name))
  let first = 0
  for (const origin of records.origins) {
    for await (const { rows, block } of splitBlocks(
      origin,
      readOriginBlocks(origin, input, () => reportPhaseStart(onProgress, 'write')),
    )) {
      for (const builder of builders) builder.clear()
      const readId = createIdReader(block, origin.reading.id?.name)
      for (const [row, from] of rows.entries()) {
        const id = readId(from)
        if (id !== undefined && id !== records.idOf(first + row)) throw otherRowsError()
        for (const [at, cell] of buildCells(content, first + row).entries()) builders[at]?.add(cell)
      }
      const data = columns.map(({ column, name }) => ({ ...selectRows(block, column, rows), name }))
      yield { rows: rows.length, names, columns: [...builders.map((builder) => builder.column()), ...data] }
      first += rows.length
    }
  }
  if (first !== records.rows) throw otherRowsError()
}

/** A reading that found other rows would give records the values of others. */
function otherRowsError(): Error {
  return new Error('the second reading of the data has other records than the first')
}

/** Reads the id that a row has in the data; undefined for one that was made. */
function createIdReader({ columns }: DataBlock, id_field: string | undefined): (row: number) => string | undefined {
  const column = columns.find(({ name }) => name === id_field)
  const decoder = new TextDecoder()
  return (row) => {
    const start = column?.starts[row] ?? -1
    return column && start >= 0 ? decoder.decode(column.bytes.subarray(start, column.ends[row])) : undefined
  }
}

function buildCells({ records, numbers, entities }: RecordTableContent, row: number): string[] {
  const number = numbers[row] ?? 0
  const source = records.names[records.sources[row] ?? 0] ?? ''
  return [source, records.idOf(row), String(number), ...(entities ? [entities[number - 1] ?? ''] : [])]
}

/** The rows of each block that are records of the source, in parts that a writer holds in memory. */
async function* splitBlocks({ isKept }: RecordOrigin, blocks: AsyncIterable<DataBlock>) {
  let before = 0
  for await (const block of blocks) {
    for (let from = 0; from < block.rows; from += chunk_rows) {
      const length = Math.min(chunk_rows, block.rows - from)
      const all = Int32Array.from({ length }, (_, at) => from + at)
      const start = before
      yield { block, rows: isKept ? all.filter((row) => isKept(start + row)) : all }
    }
    before += block.rows
  }
}

const noBytes = new Uint8Array(0)

function selectRows({ columns }: DataBlock, name: string, rows: Int32Array): Omit<TextColumn, 'name' | 'stated'> {
  const column = columns.find((candidate) => candidate.name === name)
  const select = (values: Int32Array | undefined) => rows.map((row) => values?.[row] ?? -1)
  return { bytes: column?.bytes ?? noBytes, starts: select(column?.starts), ends: select(column?.ends) }
}
