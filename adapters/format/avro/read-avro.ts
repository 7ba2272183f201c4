// Reads an Avro file by blocks: one block of the file is in memory.
import type { RangeSource } from '../../../daemon/kernel/data/byte-source.ts'
import { type DataBlock, maxBlockRows, TextColumnBuilder } from '../../../daemon/kernel/data/data-block.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { type DataReadOptions, max_record_bytes } from '../../../daemon/kernel/data/read-options.ts'
import { AvroCursor } from './avro-cursor.ts'
import { openAvroFile } from './avro-file.ts'
import { parseAvroSchema } from './avro-schema.ts'
import { type AvroColumn, columnsOf, ReadingState } from './avro-values.ts'

const max_block_bytes = 16_777_216

/**
 * `separator`: joins the items of a list. The line of a record is its number. `onRead` receives the bytes that were read so far.
 * Throws `DataFault`, and what the file or `onReject` throws.
 */
export async function* readAvro(
  file: RangeSource,
  separator: string,
  options: DataReadOptions,
  onRead: (read_bytes: number) => void = () => undefined,
): AsyncGenerator<DataBlock, void, undefined> {
  onRead(0)
  const { schema, blocks } = openAvroFile(file)
  const isOptional = (name: string) => options.isOptional?.(name) === true
  const table = new AvroTable(columnsOf(parseAvroSchema(schema), separator, isOptional), options)
  let hasBlock = false
  for (const { count, bytes } of blocks(onRead)) {
    // Records without a byte would be without end.
    if (count > bytes.length) throw new DataFault(`a block claims ${count} records in ${bytes.length} bytes`)
    const cursor = new AvroCursor(bytes)
    const state = new ReadingState(bytes.length)
    for (let left = count; left > 0; left--) {
      table.add(cursor, state)
      if (!table.isFull) continue
      hasBlock = true
      yield table.block()
      table.clear()
    }
    if (!cursor.isAtEnd) throw new DataFault('damaged: a block has more bytes than its records')
  }
  if (table.rows > 0 || !hasBlock) yield table.block()
}

class AvroTable {
  readonly #options: DataReadOptions
  readonly #columns: readonly (AvroColumn & {
    readonly builder: TextColumnBuilder | undefined
    readonly max_bytes: number
  })[]
  readonly #values: (string | Uint8Array | undefined)[]
  readonly #encoder = new TextEncoder()
  readonly #max_rows: number
  #lines: number[] = []
  #number = 0
  #rows_before = 0
  rows = 0

  constructor(columns: readonly AvroColumn[], options: DataReadOptions) {
    const { limits, isSelected, block_rows = Number.POSITIVE_INFINITY } = options
    if (columns.length > limits.names) throw new DataFault(`more than ${limits.names} columns`)
    this.#options = options
    this.#values = columns.map(() => undefined)
    this.#columns = columns.map((column) => ({
      ...column,
      builder: isSelected(column.name) ? new TextColumnBuilder(column.name) : undefined,
      max_bytes: options.isOptional?.(column.name) ? Number.POSITIVE_INFINITY : limits.maxFieldBytes(column.name),
    }))
    this.#max_rows = Math.min(block_rows, maxBlockRows(columns.length))
  }

  get isFull(): boolean {
    if (this.rows >= this.#max_rows) return true
    return this.#columns.reduce((sum, { builder }) => sum + (builder?.length ?? 0), 0) >= max_block_bytes
  }

  /** Reads the record at the cursor. */
  add(cursor: AvroCursor, state: ReadingState): void {
    this.#number++
    const fault = this.#readValues(cursor, state)
    if (fault !== undefined) {
      const place = { line: this.#number, offset: 0 }
      if (!this.#options.onReject) throw new DataFault(`record ${this.#number}: ${fault}`)
      this.#options.onReject({ reason: fault, place })
      return
    }
    const { rows } = this.#options.limits
    if (this.#rows_before + this.rows === rows) throw new DataFault(`more than ${rows} records`)
    for (const [at, { builder }] of this.#columns.entries()) builder?.add(this.#values[at])
    if (this.#options.hasLines) this.#lines.push(this.#number)
    this.rows++
  }

  /** Returns what is wrong with the record, once all of it is read. */
  #readValues(cursor: AvroCursor, state: ReadingState): string | undefined {
    let fault: string | undefined
    for (const [at, column] of this.#columns.entries()) {
      state.count()
      const value = column.read(cursor, state, 0)
      this.#values[at] = value
      const damage = state.damage ?? this.#findLength(value, max_record_bytes)
      const reason = damage ?? (column.builder && (state.fault ?? this.#findLength(value, column.max_bytes)))
      if (reason !== undefined) fault ??= `${JSON.stringify(column.name)} has ${reason}`
      state.fault = undefined
      state.damage = undefined
    }
    return fault
  }

  #findLength(value: string | Uint8Array | undefined, max_bytes: number): string | undefined {
    if (value === undefined || value.length * 3 <= max_bytes) return undefined
    const length = typeof value === 'string' ? this.#encoder.encode(value).length : value.length
    return length > max_bytes ? `more than ${max_bytes} bytes` : undefined
  }

  /** Returns the rows since `clear`. */
  block(): DataBlock {
    const columns = this.#columns.flatMap(({ builder, stated }) =>
      builder ? [{ ...builder.column(), ...(stated && { stated }) }] : [],
    )
    const lines = this.#options.hasLines ? { lines: Int32Array.from(this.#lines) } : {}
    return { rows: this.rows, names: this.#columns.map(({ name }) => name), columns, ...lines }
  }

  clear(): void {
    for (const { builder } of this.#columns) builder?.clear()
    this.#rows_before += this.rows
    this.rows = 0
    this.#lines = []
  }
}
