// Records of a file as columns of text, in blocks, with the limits of a reading.
import { type DataBlock, maxBlockRows, TextColumnBuilder } from '../../../daemon/kernel/data/data-block.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { ValueType } from '../../../daemon/kernel/data/data-schema.ts'
import { type DataReadOptions, max_record_bytes } from '../../../daemon/kernel/data/read-options.ts'

export type RecordColumn = {
  readonly name: string
  /** Absent where the values decide. */
  readonly stated?: ValueType | undefined
}

export type RecordValue = string | Uint8Array | undefined

const max_block_bytes = 16_777_216

/** `add` of a format reads a record, and keeps or rejects it. The line of a record is its number. */
export abstract class RecordTable<Column extends RecordColumn> {
  readonly #options: DataReadOptions
  protected readonly columns: readonly (Column & {
    readonly isSelected: boolean
    /** Whether a value that cannot be read is missing, and rejects no record. */
    readonly isOptional: boolean
    readonly max_bytes: number
  })[]
  readonly #builders: readonly (TextColumnBuilder | undefined)[]
  readonly #encoder = new TextEncoder()
  readonly #max_rows: number
  #lines: number[] = []
  #rows_before = 0
  #bytes = 0
  #number = 0
  rows = 0

  /** Throws `DataFault` for columns that cannot be read. */
  constructor(columns: readonly Column[], options: DataReadOptions) {
    const { limits, isSelected, isOptional, block_rows = Number.POSITIVE_INFINITY } = options
    if (columns.length > limits.names) throw new DataFault(`more than ${limits.names} columns`)
    const rest = new Set(columns.map(({ name }) => name))
    const repeated = columns.find(({ name }) => !rest.delete(name))
    if (repeated) throw new DataFault(`two columns have the name ${JSON.stringify(repeated.name)}`)
    this.#options = options
    this.#max_rows = Math.min(block_rows, maxBlockRows(columns.length))
    this.columns = columns.map((column) => ({
      ...column,
      isSelected: isSelected(column.name),
      isOptional: isOptional?.(column.name) === true,
      max_bytes: isOptional?.(column.name) ? max_record_bytes : limits.maxFieldBytes(column.name),
    }))
    this.#builders = this.columns.map(({ name, isSelected: isKept }) =>
      isKept ? new TextColumnBuilder(name) : undefined,
    )
  }

  get isFull(): boolean {
    return this.rows >= this.#max_rows || this.#bytes >= max_block_bytes
  }

  /** Takes the next record, by a value for each column. Throws `DataFault` where the file has too many. */
  protected keep(values: readonly RecordValue[]): void {
    this.#number++
    const { rows } = this.#options.limits
    if (this.#rows_before + this.rows === rows) throw new DataFault(`more than ${rows} records`)
    for (const [at, builder] of this.#builders.entries()) {
      builder?.add(values[at])
      if (builder) this.#bytes += values[at]?.length ?? 0
    }
    if (this.#options.hasLines) this.#lines.push(this.#number)
    this.rows++
  }

  /** The next record is a bad one. Throws `DataFault` where the reading takes none. */
  protected reject(reason: string): void {
    this.#number++
    if (!this.#options.onReject) throw new DataFault(`record ${this.#number}: ${reason}`)
    this.#options.onReject({ reason, place: { line: this.#number, offset: 0 } })
  }

  /** Counts a record that is not one any more. */
  skip(): void {
    this.#number++
  }

  /** What is wrong with a value of more bytes than that. */
  protected findLength(value: RecordValue, max_bytes: number): string | undefined {
    if (value === undefined || value.length * 3 <= max_bytes) return undefined
    const length = typeof value === 'string' ? this.#encoder.encode(value).length : value.length
    return length > max_bytes ? `more than ${max_bytes} bytes` : undefined
  }

  /** Returns the rows since `clear`. */
  block(): DataBlock {
    const columns = this.#builders.flatMap((builder, at) => {
      const stated = this.columns[at]?.stated
      return builder ? [{ ...builder.column(), ...(stated && { stated }) }] : []
    })
    const lines = this.#options.hasLines ? { lines: Int32Array.from(this.#lines) } : {}
    return { rows: this.rows, names: this.columns.map(({ name }) => name), columns, ...lines }
  }

  clear(): void {
    for (const builder of this.#builders) builder?.clear()
    this.#rows_before += this.rows
    this.rows = 0
    this.#bytes = 0
    this.#lines = []
  }
}
