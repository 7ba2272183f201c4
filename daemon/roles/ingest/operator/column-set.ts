// Columns of a dataset as far as they are known before its rows are.
import type { DataColumn, DataSchema } from '../../../kernel/data/data-schema.ts'
import type { DagFault } from '../../../shared/assembled-dag/task-order.ts'

/** Without a type where that is not known yet. */
export type KnownColumn = Omit<DataColumn, 'type'> & { readonly type?: DataColumn['type'] | undefined }

/** `isOpen`: whether the dataset may have other columns too. */
export type ColumnSet = { readonly columns: readonly KnownColumn[]; readonly isOpen: boolean }

/** The columns that an operator makes, and the faults of its parameters by their paths. */
export type DerivedColumns = { readonly columns: ColumnSet; readonly faults: readonly DagFault[] }

export const unknownColumns: ColumnSet = { columns: [], isOpen: true }

const max_named = 10
/** Of a name in a message, which has an end whatever a file or an author calls its columns. */
const max_name_characters = 40
/** Sets of thousands of columns are asked for thousands of names. */
const indexes = new WeakMap<ColumnSet, ReadonlyMap<string, KnownColumn>>()

/** A name of a column for a message. */
export function quoteName(name: string): string {
  const isLong = name.length > max_name_characters
  return JSON.stringify(isLong ? `${name.slice(0, max_name_characters).toWellFormed()}…` : name)
}

export function columnSetOf(schema: DataSchema): ColumnSet {
  return { columns: schema, isOpen: false }
}

/** The schema of a set with all types. Throws `TypeError` for another. */
export function schemaOf({ columns, isOpen }: ColumnSet): DataSchema {
  return columns.map(({ type, ...column }) => {
    if (isOpen || !type) throw new TypeError(`the type of the column ${column.name} is not known`)
    return { ...column, type }
  })
}

/** A column that the set has or may have; undefined where it has none. */
export function findColumn(set: ColumnSet, name: string): KnownColumn | undefined {
  let byName = indexes.get(set)
  if (!byName) {
    byName = new Map(set.columns.map((column) => [column.name, column]))
    indexes.set(set, byName)
  }
  return byName.get(name) ?? (set.isOpen ? { name } : undefined)
}

export function describeUnknownColumn({ columns }: ColumnSet, name: string, path: string): DagFault {
  const named = columns.slice(0, max_named).map((column) => quoteName(column.name))
  const rest = columns.length > max_named ? ` and ${columns.length - max_named} more` : ''
  return { path, message: `the dataset has no column ${quoteName(name)}: ${named.join(', ')}${rest}` }
}

/** Lists the columns that the set cannot have. */
export function listUnknownColumns(
  set: ColumnSet,
  names: readonly string[],
  pathOf: (at: number) => string,
): DagFault[] {
  return names.flatMap((name, at) => (findColumn(set, name) ? [] : [describeUnknownColumn(set, name, pathOf(at))]))
}

/** Lists the names that occur before in the list. */
export function listRepeatedNames(names: readonly string[], pathOf: (at: number) => string): DagFault[] {
  const seen = new Set<string>()
  return names.flatMap((name, at) => {
    if (!seen.has(name)) {
      seen.add(name)
      return []
    }
    return [{ path: pathOf(at), message: `the dataset would have two columns ${quoteName(name)}` }]
  })
}

/** Whether values of the type are numbers; undefined where the type is not known. */
export function isNumeric({ type }: KnownColumn): boolean | undefined {
  return type && (type === 'int32' || type === 'int64' || type === 'double')
}
