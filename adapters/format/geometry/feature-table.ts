// Features as columns of text: their attributes, and their geometry in the last column.
import { type DataBlock, maxBlockRows, TextColumnBuilder } from '../../../daemon/kernel/data/data-block.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { ValueType } from '../../../daemon/kernel/data/data-schema.ts'
import { type DataReadOptions, max_record_bytes } from '../../../daemon/kernel/data/read-options.ts'

export type FeatureColumn = {
  readonly name: string
  /** Absent where the values decide. */
  readonly stated?: ValueType | undefined
}

type FeatureValue = string | Uint8Array | undefined

const max_block_bytes = 16_777_216

export class FeatureTable {
  readonly #options: DataReadOptions
  readonly #columns: readonly (FeatureColumn & {
    readonly builder: TextColumnBuilder | undefined
    readonly max_bytes: number
  })[]
  readonly #encoder = new TextEncoder()
  readonly #max_rows: number
  #lines: number[] = []
  #rows_before = 0
  #bytes = 0
  #number = 0
  rows = 0

  /** Throws `DataFault` for columns that cannot be read. */
  constructor(columns: readonly FeatureColumn[], options: DataReadOptions) {
    const { limits, isSelected, isOptional, block_rows = Number.POSITIVE_INFINITY } = options
    if (columns.length > limits.names) throw new DataFault(`more than ${limits.names} columns`)
    const rest = new Set(columns.map(({ name }) => name))
    const repeated = columns.find(({ name }) => !rest.delete(name))
    if (repeated) throw new DataFault(`two columns have the name ${JSON.stringify(repeated.name)}`)
    this.#options = options
    this.#max_rows = Math.min(block_rows, maxBlockRows(columns.length))
    this.#columns = columns.map((column) => ({
      ...column,
      builder: isSelected(column.name) ? new TextColumnBuilder(column.name) : undefined,
      max_bytes: isOptional?.(column.name) ? max_record_bytes : limits.maxFieldBytes(column.name),
    }))
  }

  get isFull(): boolean {
    return this.rows >= this.#max_rows || this.#bytes >= max_block_bytes
  }

  /**
   * Adds the next record. `read` returns the value of the column with this number; it is called for selected columns, and throws
   * `DataFault` for a value that cannot be read, which makes the record a bad one. Throws `DataFault` for a fault of the file.
   */
  add(read: (column: number) => FeatureValue): void {
    this.#number++
    const values = this.#readValues(read)
    if (typeof values === 'string') {
      if (!this.#options.onReject) throw new DataFault(`record ${this.#number}: ${values}`)
      this.#options.onReject({ reason: values, place: { line: this.#number, offset: 0 } })
      return
    }
    const { rows } = this.#options.limits
    if (this.#rows_before + this.rows === rows) throw new DataFault(`more than ${rows} records`)
    for (const [at, { builder }] of this.#columns.entries()) builder?.add(values[at])
    if (this.#options.hasLines) this.#lines.push(this.#number)
    this.rows++
  }

  /** Counts a record that is not one any more. */
  skip(): void {
    this.#number++
  }

  #readValues(read: (column: number) => FeatureValue): FeatureValue[] | string {
    let bytes = 0
    const values: FeatureValue[] = []
    for (const [at, { name, builder, max_bytes }] of this.#columns.entries()) {
      try {
        const value = builder ? read(at) : undefined
        if (value !== undefined && this.#isLong(value, max_bytes)) throw new DataFault(`more than ${max_bytes} bytes`)
        values.push(value)
        bytes += value?.length ?? 0
      } catch (error) {
        if (!(error instanceof DataFault)) throw error
        return `${JSON.stringify(name)} has ${error.reason}`
      }
    }
    this.#bytes += bytes
    return values
  }

  #isLong(value: string | Uint8Array, max_bytes: number): boolean {
    if (value.length * 3 <= max_bytes) return false
    return (typeof value === 'string' ? this.#encoder.encode(value).length : value.length) > max_bytes
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
    this.#bytes = 0
    this.#lines = []
  }
}
