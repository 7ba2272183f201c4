// Rows as JSON, from the texts that servers send for their values.
import { max_row_characters, RowSourceError } from './row-source.ts'

/** What a text of a server stands for. */
export type JsonForm = 'text' | 'number' | 'boolean'

/**
 * A number as it is written, with all its digits. Anything else is a text, whatever the server calls it: it may be hostile, and
 * some numbers of databases are none of JSON.
 */
export function describeJsonValue(form: JsonForm, text: string | null): string {
  if (text === null) return 'null'
  if (form === 'number' && jsonNumber.test(text)) return text
  if (form === 'boolean' && (text === 'true' || text === 'false')) return text
  return JSON.stringify(text.toWellFormed())
}

const jsonNumber = /^-?(?:0|[1-9]\d{0,30})(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?$/

/** The number with the fewest digits that is this one of 32 bits. */
export function shortenFloat(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return Object.is(value, -0) ? value : short
  }
  return Number(value.toPrecision(9))
}

/** `values`: JSON, in the order of the names. Throws `RowSourceError`. */
export function describeJsonRow(names: readonly string[], values: readonly string[]): string {
  const line = `{${names.map((name, at) => `${JSON.stringify(name)}:${values[at]}`).join(',')}}`
  if (line.length > max_row_characters) throw refuseLargeRow()
  return line
}

export function refuseLargeRow(): RowSourceError {
  return new RowSourceError(`a row has more than ${max_row_characters} characters`)
}

const page_characters = 2_097_152
/** Should each of the next page have the largest value, it is in memory still. */
const most_rows = 128

/** How many rows to request next, so that those of the size of the last page have some 2 MiB: at first few, then twice as many. */
export function choosePageRows(
  last: { readonly rows: number; readonly characters: number } | undefined,
  most = most_rows,
): number {
  if (!last || last.rows === 0) return 4
  const fitting = Math.floor(page_characters / Math.max(1, last.characters / last.rows))
  return Math.max(1, Math.min(fitting, last.rows * 2, most))
}
