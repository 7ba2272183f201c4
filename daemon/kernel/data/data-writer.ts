// Writers of data files: the contract, and what all formats share.
import type { DataBlock, TextColumn } from './data-block.ts'
import { DataFault } from './data-fault.ts'
import { type DataColumn, type DataSchema, parseTyped, type TypedValue } from './data-schema.ts'

export interface DataWriter {
  /**
   * Writes rows whose columns are those of the schema, in its order. Throws `DataFault` for a value that is not of the type of
   * its column, and for a missing value of a required one; the file is of no use then.
   */
  write(block: DataBlock): void
  /** Ends the file. A file without `end` is incomplete. */
  end(): void
}

/** Receives the bytes of a file in order, and uses them before it returns. */
export type ByteSink = (bytes: Uint8Array) => void

/** Creates a writer. The same schema, blocks and types give the same bytes. */
export type DataWriterFactory = (schema: DataSchema, onBytes: ByteSink) => DataWriter

/** Reads the values of a block by the schema. */
export class BlockReader {
  readonly #schema: DataSchema
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  /** Rows before the block, and with it. */
  #first = 0
  #next = 0

  constructor(schema: DataSchema) {
    this.#schema = schema
  }

  /** Begins a block. Throws `DataFault` where its columns are not those of the schema. */
  columns(block: DataBlock): (readonly [DataColumn, TextColumn])[] {
    const names = block.columns.map(({ name }) => name)
    const isSame = names.length === this.#schema.length && this.#schema.every(({ name }, at) => names[at] === name)
    if (!isSame) {
      const expected = this.#schema.map(({ name }) => name).join(', ')
      throw new DataFault(`the block has the columns ${names.join(', ')}, and the schema ${expected}`)
    }
    this.#first = this.#next
    this.#next += block.rows
    return block.columns.map((column, at) => [this.#schema[at] as DataColumn, column])
  }

  /** Returns the text of a value; undefined for a missing one. */
  text(column: TextColumn, row: number): string | undefined {
    const start = column.starts[row] ?? -1
    return start < 0 ? undefined : this.#decoder.decode(column.bytes.subarray(start, column.ends[row]))
  }

  /** Returns a value by its type; undefined for a missing one. Throws `DataFault`. */
  value(wanted: DataColumn, column: TextColumn, row: number): TypedValue | undefined {
    const { name, type, unit, required } = wanted
    const text = this.text(column, row)
    const value = text === undefined ? undefined : parseTyped(wanted, text)
    if (value === undefined && (text !== undefined || required === true)) {
      const found = text === undefined ? 'is missing' : `is ${JSON.stringify(text.slice(0, 40))}`
      throw new DataFault(
        `record ${this.#first + row + 1}: ${name} ${found}; it must be ${type}${unit ? ` in ${unit}` : ''}`,
      )
    }
    return value
  }
}
