// A source of rows behind a connection: the contract of its adapters, one for each technology.

/** What is read: a table, an index or another collection that the source has under this name. */
export type RowRequest = {
  readonly table: string
  /** Default: all columns. */
  readonly columns?: readonly string[] | undefined
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
  close(): Promise<void>
}

/** Largest row as JSON, which a data file may have as a record. */
export const max_row_characters = 4_194_304
