// Reads the layout of a Parquet file: its columns and row groups.
import { type FileMetaData, parquetMetadataAsync, parquetSchema, type SchemaElement, type SchemaTree } from 'hyparquet'
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { ValueType } from '../../../daemon/kernel/data/data-schema.ts'
import type { DataLimits } from '../../../daemon/kernel/data/read-options.ts'
import { parquet_limits } from './check-pages.ts'
import { selectValueForm, type TextFormatter } from './text-formatters.ts'

/** How the values of a column are read, or a word for values that have no text. */
export type ColumnLayout = {
  readonly list: 'none' | 'required' | 'optional'
  readonly format: TextFormatter
  /** Of the column as it is read: a list is one text. */
  readonly stated: ValueType
  /** From the root to the values, without annotations: then the library returns values as stored, and no digit is lost. */
  readonly path: SchemaTree[]
}

export type RowGroup = FileMetaData['row_groups'][number]

export type ParquetLayout = {
  readonly names: readonly string[]
  readonly groups: readonly RowGroup[]
  readonly rows: number
  /** Whether the values of a column have a text. */
  hasText(name: string): boolean
  /** Throws `DataFault` for a column whose values have no text. */
  column(name: string): ColumnLayout
}

/** Throws `DataFault`, and errors of the library for a file that is not Parquet, or is damaged. */
export async function readLayout(file: RangeSource, limits: DataLimits): Promise<ParquetLayout> {
  const bytes = { byteLength: file.size, slice: (from: number, to = file.size) => file.read(from, to) }
  const metadata = await parquetMetadataAsync(bytes, { geoparquet: false })
  const root = parquetSchema(metadata)
  const names = root.children.map(({ element }) => element.name)
  const rest = new Set(names)
  const repeated = names.find((name) => !rest.delete(name))
  if (repeated !== undefined) throw new DataFault(`two columns have the name ${JSON.stringify(repeated)}`)
  if (names.length > limits.names) throw new DataFault(`more than ${limits.names} columns`)
  return {
    names,
    groups: metadata.row_groups,
    rows: countRows(metadata.row_groups, limits.rows),
    hasText: (name) => typeof findValueForm(findPath(root, name)) !== 'string',
    column: (name) => describeColumn(name, findPath(root, name)),
  }
}

function findPath(root: SchemaTree, name: string): SchemaTree[] {
  return [root, ...findValues(root.children.find(({ element }) => element.name === name))]
}

/** The form of the values at the end of a path, or words for values without a text. */
function findValueForm(path: readonly SchemaTree[]) {
  const leaf = path.at(-1)
  if (leaf && leaf.children.length === 0) return selectValueForm(leaf.element)
  return isListElement(path[1]?.element) ? 'lists of records' : 'records within records'
}

function describeColumn(name: string, path: readonly SchemaTree[]): ColumnLayout {
  const form = findValueForm(path)
  if (typeof form === 'string') throw new DataFault(`column ${name} holds ${form}, which has no text`)
  const isList = path.some(({ element }) => element.repetition_type === 'REPEATED')
  const list = !isList ? 'none' : path[1]?.element.repetition_type === 'OPTIONAL' ? 'optional' : 'required'
  const stated: ValueType = isList ? { type: 'text' } : form.stated
  return {
    list,
    format: form.format,
    stated,
    path: path.map((tree) => ({ ...tree, element: stripAnnotations(tree.element) })),
  }
}

/** The one value that a column has, or the items of its list; otherwise the column alone. */
function findValues(column: SchemaTree | undefined): SchemaTree[] {
  if (!column) return []
  const [list] = column.children
  const [item] = list?.children ?? []
  const isListOfValues =
    isListElement(column.element) &&
    column.children.length === 1 &&
    list?.children.length === 1 &&
    item?.children.length === 0
  return isListOfValues ? [column, list, item] : [column]
}

function isListElement(element: SchemaElement | undefined): boolean {
  return element?.converted_type === 'LIST' || element?.logical_type?.type === 'LIST'
}

function stripAnnotations(element: SchemaElement): SchemaElement {
  if (element.num_children) return element
  const { converted_type: _converted, logical_type: _logical, ...stored } = element
  return stored
}

function countRows(groups: readonly RowGroup[], max_rows: number): number {
  let rows = 0
  for (const { num_rows } of groups) {
    if (num_rows < 0n || num_rows > BigInt(parquet_limits.values)) {
      throw new DataFault(`a row group has more than ${parquet_limits.values} rows`)
    }
    rows += Number(num_rows)
  }
  if (rows > max_rows) throw new DataFault(`more than ${max_rows} records`)
  return rows
}
