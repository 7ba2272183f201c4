// A source of rows behind a connection: the contract of its adapters, one for each technology.
import type { DataSchema } from '../../kernel/data/data-schema.ts'
import type { RowCursor } from './row-cursor.ts'

/** What is read: a table, an index or another collection that the source has under this name. */
export type RowRequest = {
  readonly table: string
  /** Default: all columns. */
  readonly columns?: readonly string[] | undefined
  /** Only rows whose value of a column is at or above a bound. */
  readonly cursor?: RowCursor | undefined
}

/** A source that cannot be read. The message is a full sentence without an address, a path or a secret. */
export class RowSourceError extends Error {
  /** False where another attempt may succeed. */
  readonly isFinal: boolean
  constructor(message: string, isFinal = true) {
    super(message)
    this.name = 'RowSourceError'
    this.isFinal = isFinal
  }
}

export interface RowSource {
  /** Reads a little, and says what the source is. Throws `RowSourceError`. */
  probe(signal: AbortSignal): Promise<string>
  /**
   * All rows as they were at one moment, each a JSON object without line breaks, in blocks of bounded size: the next one is
   * read when it is requested. Changes nothing at the source. Throws `RowSourceError`, and the reason of the signal.
   */
  rows(request: RowRequest, signal: AbortSignal): AsyncIterable<readonly string[]>
  /**
   * Of the rows that were read last: the columns that the source gives a type which holds every value that they can have.
   * Those of others are inferred.
   */
  statedColumns?(): DataSchema
  /** The columns of the rows that were read last, where there were none: of the type that values of each usually have. */
  usualColumns?(): DataSchema
  close(): Promise<void>
}

/** Largest row as JSON, which a data file may have as a record. */
export const max_row_characters = 4_194_304

/** Largest value that servers send, in bytes; a larger one ends the reading. */
export const max_value_bytes = 1_048_576

/** Columns of a table at most. */
export const max_source_columns = 1_000

const max_named = 20

/** Names in messages are of the source: cut, and as JSON. */
export function nameSome(names: readonly string[]): string {
  const shown = names.slice(0, max_named).map((name) => JSON.stringify(name.slice(0, 64).toWellFormed()))
  return shown.length === 0 ? 'none' : shown.join(', ')
}
