// Records under a lens: the normalised columns of one or more sources, under the names of its fields.
import { readExplicitLevels, resolveNormalisers } from '../../lens/field.ts'
import type { Lens } from '../../lens/model.ts'
import { readNameOptions } from '../../lens/name-options.ts'
import type { FieldColumn } from '../compare/pair-comparer.ts'
import type { RawColumn } from './collect-columns.ts'
import { normaliseColumn, Utf8Fault } from './normalise-column.ts'
import { ValueTable } from './value-table.ts'

/** The columns read from one source. */
export type RecordSource = {
  readonly name: string
  readonly rows: number
  readonly names: readonly string[]
  readonly columns: readonly RawColumn[]
  /** Column with the ids, if it is not that of the lens. */
  readonly id_field?: string | undefined
}

/** All records in sequence, source by source. */
export type LensRecords = {
  readonly rows: number
  /** Position of the source of each record. */
  readonly sources: Int32Array
  readonly names: readonly string[]
  readonly fields: readonly FieldColumn[]
  idOf(row: number): string
  /** Writes the id as UTF-8 at position `at`; returns the end, or -1 if there is no room. */
  writeId(row: number, into: Uint8Array, at: number): number
}

/** What a person can do about a fault of the data, besides changing the data. */
export type LensFaultHint = 'no_id_column' | 'no_ids'

/** Fault: the data does not fit the lens. `fact`: the message without its remedy. */
export class LensFault extends Error {
  readonly fact: string
  readonly hint: LensFaultHint | undefined
  constructor(fact: string, remedy?: string, hint?: LensFaultHint) {
    super(remedy === undefined ? fact : `${fact}: ${remedy}`)
    this.name = 'LensFault'
    this.fact = fact
    this.hint = hint
  }
}

/** Creates a filter for the columns of a source that a lens reads. */
export function createColumnFilter(lens: Lens): (name: string) => boolean {
  const names = new Set([lens.id_field, ...lens.fields.flatMap(({ name, columns, join }) => join ?? columns ?? [name])])
  return (name) => names.has(name)
}

/** Maximum length of an id in UTF-8; a longer id does not fit into an index. */
const max_id_bytes = 4_096

/** Limit of the id column, whose values may have fewer bytes than others. */
export type IdLimit = { readonly name: string; readonly bytes: number }

/** Returns the limit of the id column, for readers that report a longer id with its line. */
export function getIdLimit({ id_field }: Pick<Lens, 'id_field'>): IdLimit {
  return { name: id_field, bytes: max_id_bytes }
}

/**
 * Builds records. Throws `LensFault` if a required column is missing, or an id is missing, too long or repeated within
 * a source.
 */
export function buildRecords(lens: Lens, sources: readonly RecordSource[]): LensRecords {
  const rows = sources.reduce((sum, source) => sum + source.rows, 0)
  const from = computeOffsets(sources)
  for (const { name, names } of sources) refuseOtherSeparator(name, names)
  const ids = sources.map((source) => readIds(source, source.id_field ?? lens.id_field))
  const fields = lens.fields.flatMap((field) => {
    const columns = sources.map((source) => findColumn(source, field))
    if (columns.every((column) => column === undefined)) return []
    const column = normaliseFieldColumn(columns, rows, from, resolveNormalisers(field))
    const { name, type, q, term_frequency } = field
    const names = readNameOptions(field)
    return [{ name, type, column, levels: readExplicitLevels(field), q, names, hasFrequencies: term_frequency }]
  })
  if (fields.length === 0)
    throw new LensFault('the data has none of the columns that the lens names: check `columns` of its fields')
  const sourceOf = new Int32Array(rows)
  for (const [at, source] of sources.entries()) sourceOf.fill(at, from[at]!, from[at]! + source.rows)
  return {
    rows,
    sources: sourceOf,
    names: sources.map(({ name }) => name),
    fields,
    idOf: (row) => ids[sourceOf[row]!]!.text(row - from[sourceOf[row]!]!),
    writeId: (row, into, at) => {
      const source = ids.length === 1 ? 0 : sourceOf[row]!
      return ids[source]!.write(row - from[source]!, into, at)
    },
  }
}

/** The character that separates the values, where all of them are in one column. */
export function findSeparator(names: readonly string[]): string | undefined {
  const [only = ''] = names
  return names.length === 1 ? [';', '\t', '|'].find((mark) => only.includes(mark)) : undefined
}

function refuseOtherSeparator(name: string, names: readonly string[]): void {
  const character = findSeparator(names)
  if (character === undefined) return
  const fact = `${name} seems separated by ${JSON.stringify(character)}`
  throw new LensFault(fact, 'separate its values by commas')
}

function computeOffsets(sources: readonly RecordSource[]): number[] {
  let at = 0
  return sources.map(({ rows }) => {
    at += rows
    return at - rows
  })
}

type RecordIds = Readonly<{ text(row: number): string; write(row: number, into: Uint8Array, at: number): number }>

function readIds(source: RecordSource, id_field: string): RecordIds {
  const { name, names, columns } = source
  const column = columns.find((candidate) => candidate.name === id_field)
  if (!column)
    throw new LensFault(
      `${name} has no column ${id_field}; it has ${names.join(', ')}`,
      '`id_field` of the lens names the column with the ids',
      'no_id_column',
    )
  const isInOrder = areIdsInOrder(column)
  if (!isInOrder) checkIds(source, column)
  const decoder = new TextDecoder()
  const { codes, values } = column
  const { bytes, starts } = values.all
  return {
    text: (row) => decoder.decode(values.bytesOf(codes[row]!)),
    write(row, into, at) {
      const value = isInOrder ? row : codes[row]!
      const [from, to] = [starts[value]!, starts[value + 1]!]
      if (at + to - from > into.length) return -1
      for (let index = from; index < to; index++) into[at++] = bytes[index]!
      return at
    },
  }
}

/** Whether the number of each id equals its row: then every record has a unique id. */
function areIdsInOrder({ codes }: RawColumn): boolean {
  for (let row = 0; row < codes.length; row++) if (codes[row] !== row) return false
  return true
}

function checkIds({ name, rows }: RecordSource, { name: id_field, codes, values }: RawColumn): void {
  const rowOfId = new Int32Array(values.size).fill(-1)
  const { starts } = values.all
  for (let row = 0; row < rows; row++) {
    const value = codes[row]!
    if (value < 0) throw missingIds(name, id_field, codes)
    if (starts[value + 1]! - starts[value]! > max_id_bytes) {
      throw new LensFault(`${name}: record ${row + 1} has an ${id_field} of more than ${max_id_bytes} bytes`)
    }
    if (rowOfId[value]! >= 0) {
      const id = new TextDecoder().decode(values.bytesOf(value))
      throw new LensFault(
        `${name}: records ${rowOfId[value]! + 1} and ${row + 1} both have the ${id_field} ${JSON.stringify(id)}`,
      )
    }
    rowOfId[value] = row
  }
}

/** Most records that the message names. */
const max_named_records = 10

function missingIds(name: string, id_field: string, codes: Int32Array): LensFault {
  const numbers: number[] = []
  let count = 0
  for (const [row, code] of codes.entries()) {
    if (code >= 0) continue
    if (count++ < max_named_records) numbers.push(row + 1)
  }
  const verb = count === 1 ? '1 record has' : `${count} records have`
  const others = count > numbers.length ? ', …' : ''
  return new LensFault(`${name}: ${verb} no ${id_field} (${numbers.join(', ')}${others})`, 'fill them', 'no_ids')
}

function findColumn(source: RecordSource, field: Lens['fields'][number]): RawColumn | undefined {
  const { name, names, columns } = source
  if (field.join) return joinColumns(source, { ...field, join: field.join })
  const columnNames = field.columns ?? [field.name]
  for (const columnName of columnNames) {
    const column = columns.find((candidate) => candidate.name === columnName)
    if (column) return column
  }
  if (field.optional) return undefined
  throw new LensFault(`${name} has no column for ${field.name} (${columnNames.join(', ')}); it has ${names.join(', ')}`)
}

type JoinedField = Lens['fields'][number] & { readonly join: readonly string[] }

/**
 * Joins the values of several columns with commas. A record that lacks one of them has no value, except in a field that
 * lists what any of them has.
 */
function joinColumns(
  { name, rows, names, columns }: RecordSource,
  { name: field, join, optional, type }: JoinedField,
): RawColumn | undefined {
  const isList = type === 'codes' || type === 'numbers'
  const parts = join.flatMap((columnName) => columns.filter((column) => column.name === columnName))
  if (parts.length < (isList ? 1 : join.length)) {
    if (optional) return undefined
    throw new LensFault(`${name} lacks a column for ${field} (${join.join(' and ')}); it has ${names.join(', ')}`)
  }
  const values = new ValueTable()
  const codes = new Int32Array(rows).fill(-1)
  for (let row = 0; row < rows; row++) {
    const present = parts.filter((part) => part.codes[row]! >= 0)
    if (present.length === 0 || (present.length < parts.length && !isList)) continue
    const bytes = present.flatMap((part, at) => [...(at > 0 ? [comma] : []), ...part.values.bytesOf(part.codes[row]!)])
    codes[row] = values.add(Uint8Array.from(bytes), 0, bytes.length)
  }
  return { name: field, values, codes }
}

const comma = 44

function normaliseFieldColumn(...args: Parameters<typeof normaliseColumn>): FieldColumn['column'] {
  try {
    return normaliseColumn(...args)
  } catch (error) {
    if (!(error instanceof Utf8Fault)) throw error
    const row = error.column.codes.indexOf(error.value)
    throw new LensFault(`record ${row + 1}: the value of ${error.column.name} is not UTF-8`)
  }
}
