// Reads tables of Apache Parquet column by column, of each column one row group at a time, as text.
import { isUtf8 } from 'node:buffer'
import { type FileMetaData, parquetMetadataAsync, parquetRead, parquetSchema, type SchemaElement } from 'hyparquet'
import { checkPages, decompressors, ParquetFault, parquet_limits } from './check-pages.ts'
import { selectTextFormatter, type TextFormatter } from './text-formatters.ts'

/** A file, wherever it is: the bytes of a part of it. */
export type ParquetByteSource = { readonly size: number; read(from: number, to: number): ArrayBuffer }

export type ParquetTable = {
  readonly rows: number
  /** Names of all columns, in the order of the file. */
  readonly names: readonly string[]
  /**
   * Calls with each value of a column that is there, by its row. A list of values is one text, its items joined by
   * `between`. Throws `ParquetFault`, or what `take` throws.
   */
  read(name: string, separator: string, onValue: (row: number, value: string | Uint8Array) => void): Promise<void>
}

type ParquetLeaf = { readonly element: SchemaElement; readonly isList: boolean }
type RowGroup = FileMetaData['row_groups'][number]

/** `most_rows`: more are refused. Throws `ParquetFault` for a file that is not Parquet, or is damaged. */
export async function parquetTable(bytes: ParquetByteSource, most_rows: number): Promise<ParquetTable> {
  const file = { byteLength: bytes.size, slice: (from: number, to = bytes.size) => bytes.read(from, to) }
  const metadata = await mapLibraryErrors(() => parquetMetadataAsync(file, { geoparquet: false }))
  const { leaves, names } = await mapLibraryErrors(async () => readLeaves(metadata))
  const starts = computeRowStarts(metadata.row_groups, most_rows)
  const plain = { ...metadata, schema: metadata.schema.map(stripAnnotations) }
  return {
    rows: starts.at(-1) ?? 0,
    names,
    async read(name, between, take) {
      const leaf = leaves.get(name)
      if (leaf === undefined) throw new ParquetFault(`there is no column ${name}`)
      if (typeof leaf === 'string') throw new ParquetFault(`column ${name} holds ${leaf}, which has no text`)
      const form = selectTextFormatter(leaf.element)
      if (typeof form === 'string') throw new ParquetFault(`column ${name} holds ${form}, which has no text`)
      for (const [at, group] of metadata.row_groups.entries()) {
        const request = { bytes, plain, name, group, start: starts[at] ?? 0, isList: leaf.isList }
        const delivery = { name, isList: leaf.isList, form, separator: between, onValue: take }
        const where = `column ${name}: `
        const chunk = await mapLibraryErrors(async () => openChunk(request), where)
        for (const window of chunk?.windows ?? []) {
          const pages = await mapLibraryErrors(() => readWindow(request, chunk as OpenChunk, window), where)
          deliverValues(pages, { ...delivery, ...window })
        }
      }
    },
  }
}

/** An error of the library is a fault of the file; an error of the file system is passed on. */
async function mapLibraryErrors<T>(act: () => Promise<T>, where = ''): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof ParquetFault) throw new ParquetFault(`${where}${error.message}`)
    if (!(error instanceof Error) || (error as NodeJS.ErrnoException).syscall !== undefined) throw error
    throw new ParquetFault(`${where}damaged, or not a Parquet file: ${error.message}`)
  }
}

/** The one value that each column has, or a list of them; a word for what has more to it. */
function readLeaves(metadata: FileMetaData): { leaves: Map<string, ParquetLeaf | string>; names: string[] } {
  const leaves = new Map<string, ParquetLeaf | string>()
  for (const { element, children } of parquetSchema(metadata).children) {
    if (leaves.has(element.name)) throw new ParquetFault(`two columns have the name ${JSON.stringify(element.name)}`)
    const [list] = children
    const [item] = list?.children ?? []
    if (children.length === 0) leaves.set(element.name, { element, isList: element.repetition_type === 'REPEATED' })
    else if (
      isListElement(element) &&
      children.length === 1 &&
      list?.children.length === 1 &&
      item?.children.length === 0
    ) {
      leaves.set(element.name, { element: item.element, isList: true })
    } else leaves.set(element.name, isListElement(element) ? 'lists of records' : 'records within records')
  }
  return { leaves, names: [...leaves.keys()] }
}

function isListElement({ converted_type, logical_type }: SchemaElement): boolean {
  return converted_type === 'LIST' || logical_type?.type === 'LIST'
}

/** The first row of each group, and at last the number of all rows. */
function computeRowStarts(groups: readonly RowGroup[], most_rows: number): number[] {
  let rows = 0
  const starts = groups.map(({ num_rows }) => {
    if (num_rows < 0n || num_rows > BigInt(parquet_limits.values)) {
      throw new ParquetFault(`a row group has more than ${parquet_limits.values} rows`)
    }
    rows += Number(num_rows)
    return rows - Number(num_rows)
  })
  if (rows > most_rows) throw new ParquetFault(`more than ${most_rows} records`)
  return [...starts, rows]
}

/** Without what values mean: then the library hands them over as they are stored, and no digit is lost. */
function stripAnnotations(element: SchemaElement): SchemaElement {
  if (element.num_children) return element
  const { converted_type: _converted, logical_type: _logical, ...stored } = element
  return stored
}

type ColumnChunkRequest = {
  bytes: ParquetByteSource
  plain: FileMetaData
  name: string
  group: RowGroup
  start: number
  isList: boolean
}

/** Rows of the file that are read together. */
type RowWindow = { readonly from: number; readonly to: number }

/** The stored bytes of a column in one row group, whose pages are checked. */
type OpenChunk = { readonly from: number; readonly held: ArrayBuffer; readonly windows: readonly RowWindow[] }

type DecodedPage = { readonly rowStart: number; readonly columnData: ArrayLike<unknown> }

function openChunk({ bytes, name, group, start, isList }: ColumnChunkRequest): OpenChunk | undefined {
  const rows = Number(group.num_rows)
  if (rows === 0) return undefined
  const column = group.columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === name)?.meta_data
  if (!column) throw new ParquetFault('a row group does not contain the column')
  const from = Number(column.dictionary_page_offset || column.data_page_offset)
  const to = from + Number(column.total_compressed_size)
  if (!(from >= 0 && from <= to && to <= bytes.size)) throw new ParquetFault('it lies beyond the end of the file')
  const largest = Math.max(to - from, Number(column.total_uncompressed_size))
  if (largest > parquet_limits.chunk_bytes) {
    throw new ParquetFault(`a row group has more than ${parquet_limits.chunk_bytes} bytes of it`)
  }
  const held = bytes.read(from, to)
  const pages = checkPages(held, isList ? parquet_limits.list_values : rows)
  return { from, held, windows: isList ? [{ from: start, to: start + rows }] : cutWindows(pages, start, rows) }
}

/** Cuts the rows at ends of pages, so that each window decodes few of them. */
function cutWindows(pages: readonly number[], start: number, rows: number): RowWindow[] {
  const windows: RowWindow[] = []
  let [from, to] = [start, start]
  for (const values of pages) {
    if (to > from && to - from + values > parquet_limits.page_values) {
      windows.push({ from, to })
      from = to
    }
    to += values
  }
  windows.push({ from, to: start + rows })
  return windows
}

async function readWindow(
  { bytes, plain, name }: ColumnChunkRequest,
  { from, held }: OpenChunk,
  window: RowWindow,
): Promise<DecodedPage[]> {
  const to = from + held.byteLength
  const file = {
    byteLength: bytes.size,
    slice: (first: number, last = bytes.size) => {
      return first >= from && last <= to ? held.slice(first - from, last - from) : bytes.read(first, last)
    },
  }
  const pages: DecodedPage[] = []
  await parquetRead({
    file,
    metadata: plain,
    columns: [name],
    rowStart: window.from,
    rowEnd: window.to,
    compressors: decompressors,
    utf8: false,
    geoparquet: false,
    parsers: { timestampFromNanoseconds: (nanos) => nanos },
    onChunk: ({ columnData, rowStart }) => void pages.push({ columnData, rowStart }),
  })
  return pages
}

type ValueDelivery = RowWindow & {
  name: string
  isList: boolean
  form: TextFormatter
  separator: string
  onValue: (row: number, value: string | Uint8Array) => void
}

/** Delivers the values of the window; a page may begin before it or end after it. */
function deliverValues(
  pages: readonly DecodedPage[],
  { name, from, to, isList, form, separator, onValue }: ValueDelivery,
): void {
  let row = from
  const textOf = (stored: unknown) => {
    const text = stored === undefined || stored === null ? undefined : form(stored)
    if (text instanceof Uint8Array && !isUtf8(text)) {
      throw new ParquetFault(`record ${row + 1}: ${name} is not UTF-8`)
    }
    return text
  }
  let delivered = 0
  for (const { rowStart, columnData } of pages) {
    const end = Math.min(to - rowStart, columnData.length)
    for (let at = Math.max(0, from - rowStart); at < end; at++, delivered++) {
      row = rowStart + at
      const stored = columnData[at]
      const text = isList ? presentItems(stored).map(textOf).map(itemText).join(separator) : textOf(stored)
      if (text !== undefined && text.length > 0) onValue(row, text)
    }
  }
  if (delivered !== to - from)
    throw new ParquetFault(`column ${name} has ${delivered} values in ${to - from} rows of a group`)
}

function presentItems(stored: unknown): readonly unknown[] {
  return Array.isArray(stored) ? stored.filter((item) => item !== undefined && item !== null) : []
}

function itemText(item: string | Uint8Array | undefined): string {
  return item instanceof Uint8Array
    ? Buffer.from(item.buffer, item.byteOffset, item.byteLength).toString()
    : (item ?? '')
}
