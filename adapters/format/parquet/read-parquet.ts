// Reads Apache Parquet by blocks: of each column, a page is in memory.
import { DEFAULT_PARSERS } from 'hyparquet/src/convert.js'
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { type DataBlock, maxBlockRows, type TextColumn } from '../../../daemon/kernel/data/data-block.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { DataReadOptions } from '../../../daemon/kernel/data/read-options.ts'
import { decompressors, parquet_limits } from './check-pages.ts'
import { type ColumnChunkRequest, ColumnPages } from './column-pages.ts'
import { mapLibraryErrors } from './parquet-fault.ts'
import { type ColumnLayout, type RowGroup, readLayout } from './parquet-layout.ts'

/**
 * `separator`: joins the items of a list. `onRead` receives the share of the file that was read, in bytes. A fault always ends
 * the reading: a column whose values are in doubt has no records to leave out. Throws `DataFault`, and what the file throws.
 */
export async function* readParquet(
  file: RangeSource,
  separator: string,
  { limits, isSelected, isOptional }: DataReadOptions,
  onRead: (read_bytes: number) => void = () => undefined,
): AsyncGenerator<DataBlock, void, undefined> {
  const layout = await mapLibraryErrors(() => readLayout(file, limits))
  const { names, groups } = layout
  const chosen = names.filter((name) => isSelected(name) && !(isOptional?.(name) && !layout.hasText(name)))
  const selected = chosen.map((name) => ({ name, isOptional: isOptional?.(name) === true, ...layout.column(name) }))
  const max_rows = maxBlockRows(selected.length)
  const read_bytes = chooseReadLength(selected.length)
  let row = 0
  onRead(0)
  for (const group of groups) {
    const groupRows = Number(group.num_rows)
    const reading = { first_row: row, separator, limits, read_bytes }
    const open = () => selected.map((column) => openColumn(file, column, group, reading))
    const pages = groupRows === 0 ? [] : await mapLibraryErrors(open)
    for (let left = groupRows; left > 0; ) {
      await decodePages(pages)
      const rows = Math.min(left, max_rows, ...pages.map(({ available }) => available))
      yield { rows, names, columns: pages.map((column) => column.take(rows)) }
      left -= rows
      row += rows
      onRead(Math.floor((file.size * row) / layout.rows))
    }
  }
  if (row === 0) yield { rows: 0, names, columns: selected.map(emptyColumn) }
}

/** Bytes of one column that are read together. Many columns share the memory of it, and so read less of each. */
function chooseReadLength(columns: number): number {
  return Math.min(1_048_576, Math.max(16_384, Math.floor(parquet_limits.read_ahead_bytes / Math.max(1, columns))))
}

type ColumnReading = Pick<DataReadOptions, 'limits'> &
  Pick<ColumnChunkRequest, 'first_row' | 'separator' | 'read_bytes'>

type NamedColumn = ColumnLayout & Pick<ColumnChunkRequest, 'name' | 'isOptional'>

function openColumn(
  file: RangeSource,
  { name, isOptional, list, format, stated, path }: NamedColumn,
  group: RowGroup,
  { limits, ...reading }: ColumnReading,
): ColumnPages {
  const chunk = group.columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === name)?.meta_data
  if (!chunk) throw new DataFault(`column ${name}: a row group does not contain the column`)
  const start = Number(chunk.dictionary_page_offset || chunk.data_page_offset)
  const end = start + Number(chunk.total_compressed_size)
  if (!(start >= 0 && start <= end && end <= file.size)) {
    throw new DataFault(`column ${name}: it lies beyond the end of the file`)
  }
  const element = path.at(-1)?.element ?? { name }
  const parsers = { ...DEFAULT_PARSERS, timestampFromNanoseconds: (nanos: bigint) => nanos }
  const pathInSchema = [...chunk.path_in_schema]
  const stored = { type: chunk.type, codec: chunk.codec, compressors: decompressors, utf8: false }
  const decoder = { pathInSchema, element, schemaPath: path, parsers, ...stored }
  const rows = Number(group.num_rows)
  const max_field_bytes = limits.maxFieldBytes(name)
  return new ColumnPages(file, {
    name,
    decoder,
    list,
    format,
    stated,
    max_field_bytes,
    isOptional,
    start,
    end,
    rows,
    ...reading,
  })
}

/** Decodes a page of each column that has no more rows. Throws `DataFault` where the pages take too much memory together. */
async function decodePages(columns: readonly ColumnPages[]): Promise<void> {
  let open_bytes = 0
  for (const column of columns) {
    if (column.available === 0) await mapLibraryErrors(() => column.decode(), `column ${column.name}: `)
    open_bytes += column.open_bytes
    if (open_bytes <= parquet_limits.open_bytes) continue
    throw new DataFault(
      `the pages of ${columns.length} columns take more than ${parquet_limits.open_bytes} bytes together`,
    )
  }
}

function emptyColumn({ name, stated }: NamedColumn): TextColumn {
  return { name, stated, bytes: new Uint8Array(0), starts: new Int32Array(0), ends: new Int32Array(0) }
}
