// Records as a lens sees them: the columns of one or more sources under the names of its fields, in normal form.
import { levelsGiven, normalisersOf } from '../../lens/field.ts'
import type { Lens } from '../../lens/model.ts'
import type { Field } from '../compare/pairs.ts'
import { DictionaryBuilder } from '../text/dictionary.ts'
import { normalisedBy } from '../text/normalisers.ts'
import type { RawColumn } from './csv.ts'
import { ValueTable } from './value-table.ts'

/** What was read of one source. */
export type Source = {
  readonly name: string
  readonly rows: number
  readonly names: readonly string[]
  readonly columns: readonly RawColumn[]
}

/** All records one after the other, source by source. */
export type Records = {
  readonly rows: number
  /** Of which source each record is. */
  readonly sources: Int32Array
  readonly names: readonly string[]
  readonly fields: readonly Field[]
  idOf(row: number): string
}

/** The data and the lens do not fit. */
export class LensFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'LensFault'
  }
}

/** Columns of a source that a lens reads. */
export function isWantedBy(lens: Lens): (name: string) => boolean {
  const wanted = new Set([
    lens.id_field,
    ...lens.fields.flatMap(({ name, columns, join }) => join ?? columns ?? [name]),
  ])
  return (name) => wanted.has(name)
}

/** Throws `LensFault`: a column that the lens needs is missing, ids are missing or doubled within a source. */
export function recordsOf(lens: Lens, sources: readonly Source[]): Records {
  const rows = sources.reduce((sum, source) => sum + source.rows, 0)
  const from = offsetsOf(sources)
  const ids = sources.map((source) => idsOf(source, lens.id_field))
  const fields = lens.fields.flatMap((field) => {
    const columns = sources.map((source) => columnFor(source, field))
    if (columns.every((column) => column === undefined)) return []
    const column = joined(columns, rows, from, normalisedBy(normalisersOf(field)))
    const { name, type, q, term_frequency } = field
    return [{ name, type, column, levels: levelsGiven(field), q, hasFrequencies: term_frequency }]
  })
  if (fields.length === 0) throw new LensFault('the data has none of the columns that the lens names')
  const sourceOf = new Int32Array(rows)
  for (const [at, source] of sources.entries()) sourceOf.fill(at, from[at]!, from[at]! + source.rows)
  return {
    rows,
    sources: sourceOf,
    names: sources.map(({ name }) => name),
    fields,
    idOf: (row) => ids[sourceOf[row]!]!(row - from[sourceOf[row]!]!),
  }
}

function offsetsOf(sources: readonly Source[]): number[] {
  let at = 0
  return sources.map(({ rows }) => {
    at += rows
    return at - rows
  })
}

function idsOf({ name, rows, names, columns }: Source, id_field: string): (row: number) => string {
  const column = columns.find((each) => each.name === id_field)
  if (!column) throw new LensFault(`${name} has no column ${id_field}; it has ${names.join(', ')}`)
  const seen = new Int32Array(column.values.size).fill(-1)
  const decoder = new TextDecoder()
  for (let row = 0; row < rows; row++) {
    const value = column.codes[row]!
    if (value < 0) throw new LensFault(`${name}: record ${row + 1} has no ${id_field}`)
    if (seen[value]! >= 0) {
      const id = decoder.decode(column.values.bytesOf(value))
      throw new LensFault(
        `${name}: records ${seen[value]! + 1} and ${row + 1} both have the ${id_field} ${JSON.stringify(id)}`,
      )
    }
    seen[value] = row
  }
  return (row) => decoder.decode(column.values.bytesOf(column.codes[row]!))
}

function columnFor(source: Source, field: Lens['fields'][number]): RawColumn | undefined {
  const { name, names, columns } = source
  if (field.join) return togetherOf(source, field.name, field.join, field.optional)
  const wanted = field.columns ?? [field.name]
  for (const each of wanted) {
    const column = columns.find((column) => column.name === each)
    if (column) return column
  }
  if (field.optional) return undefined
  throw new LensFault(`${name} has no column for ${field.name} (${wanted.join(', ')}); it has ${names.join(', ')}`)
}

/** Values of several columns as one, a comma between them; a record that lacks one of them has none. */
function togetherOf(
  { name, rows, names, columns }: Source,
  field: string,
  join: readonly string[],
  isOptional: boolean,
): RawColumn | undefined {
  const parts = join.flatMap((each) => columns.filter((column) => column.name === each))
  if (parts.length < join.length) {
    if (isOptional) return undefined
    throw new LensFault(`${name} lacks a column for ${field} (${join.join(' and ')}); it has ${names.join(', ')}`)
  }
  const values = new ValueTable()
  const codes = new Int32Array(rows).fill(-1)
  for (let row = 0; row < rows; row++) {
    if (parts.some((part) => part.codes[row]! < 0)) continue
    const bytes = parts.flatMap((part, at) => [...(at > 0 ? [comma] : []), ...part.values.bytesOf(part.codes[row]!)])
    codes[row] = values.add(Uint8Array.from(bytes), 0, bytes.length)
  }
  return { name: field, values, codes }
}

const comma = 44

/** One column of all sources, each distinct value brought into normal form once. */
function joined(
  columns: readonly (RawColumn | undefined)[],
  rows: number,
  from: readonly number[],
  normalise: (text: string) => string,
): Field['column'] {
  const builder = new DictionaryBuilder()
  const codes = new Int32Array(rows).fill(-1)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for (const [at, column] of columns.entries()) {
    if (!column) continue
    const numbers = new Int32Array(column.values.size)
    for (let value = 0; value < numbers.length; value++) {
      numbers[value] = builder.add(normalise(textIn(decoder, column, value)))
    }
    for (let row = 0; row < column.codes.length; row++) {
      const value = column.codes[row]!
      if (value >= 0) codes[from[at]! + row] = numbers[value]!
    }
  }
  return { codes, dictionary: builder.finish() }
}

function textIn(decoder: InstanceType<typeof TextDecoder>, column: RawColumn, value: number): string {
  try {
    return decoder.decode(column.values.bytesOf(value))
  } catch {
    const row = column.codes.indexOf(value)
    throw new LensFault(`record ${row + 1}: ${column.name} is not UTF-8`)
  }
}
