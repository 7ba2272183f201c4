// The rows of a sheet as columns of text: the first row with a value names the columns.
import { type DataBlock, TextColumnBuilder } from '../../../daemon/kernel/data/data-block.ts'
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { type DataReadOptions, max_beginning_bytes } from '../../../daemon/kernel/data/read-options.ts'
import { lettersOf } from './cell-text.ts'

/** Values of a row by column; undefined for an empty cell. */
export type SheetRow = readonly (string | undefined)[]

/** Bytes of all values: those of shared texts count each time. */
const max_value_bytes = 4_294_967_296

export class SheetTable {
  readonly #options: DataReadOptions
  #names: readonly string[] | undefined
  #builders: readonly (TextColumnBuilder | undefined)[] = []
  #limits: readonly number[] = []
  #lines: number[] = []
  #rows = 0
  #rowsBefore = 0
  #lengthBefore = 0
  #header = 0
  readonly #encoder = new TextEncoder()

  constructor(options: DataReadOptions) {
    this.#options = options
  }

  /** Adds the row with this number, from 1. Throws `DataFault`. */
  add(number: number, row: SheetRow, uncomputed: readonly number[] = []): void {
    const width = row.findLastIndex((value) => value !== undefined) + 1
    if (width === 0 && uncomputed.length === 0) return
    if (!this.#names) {
      this.#begin(number, row, width)
      return
    }
    const fault = this.#findFault(this.#names, row, width) ?? this.#findUncomputed(this.#names, uncomputed)
    if (fault !== undefined) {
      if (!this.#options.onReject) throw new DataFault(`row ${number}: ${fault}`)
      const beginning = JSON.stringify(row).slice(0, max_beginning_bytes)
      this.#options.onReject({ reason: fault, place: { line: number, offset: 0 } }, this.#encoder.encode(beginning))
      return
    }
    const { rows } = this.#options.limits
    if (this.#rowsBefore + this.#rows === rows) throw new DataFault(`row ${number}: more than ${rows} records`)
    for (const [column, builder] of this.#builders.entries()) builder?.add(row[column])
    if (this.#options.hasLines) this.#lines.push(number)
    this.#rows++
  }

  #begin(number: number, row: SheetRow, width: number): void {
    const { limits, isSelected } = this.#options
    if (width > limits.names) throw new DataFault(`row ${number}: more than ${limits.names} columns`)
    const names = Array.from({ length: width }, (_, column) => row[column]?.trim() ?? `column_${lettersOf(column)}`)
    const rest = new Set(names)
    const repeated = names.find((name) => !rest.delete(name))
    if (repeated !== undefined)
      throw new DataFault(`row ${number}: two columns have the name ${JSON.stringify(repeated)}`)
    this.#header = number
    this.#names = names
    this.#limits = names.map((name) => limits.maxFieldBytes(name))
    this.#builders = names.map((name) => (isSelected(name) ? new TextColumnBuilder(name) : undefined))
  }

  #findFault(names: readonly string[], row: SheetRow, width: number): string | undefined {
    if (width > names.length)
      return `a value in column ${lettersOf(width - 1)}, and row ${this.#header} names ${names.length} columns`
    const long = this.#limits.findIndex((limit, column) => this.#isLong(row[column], limit))
    return long < 0 ? undefined : `${JSON.stringify(names[long])} has more than ${this.#limits[long]} bytes`
  }

  #findUncomputed(names: readonly string[], uncomputed: readonly number[]): string | undefined {
    const { isOptional } = this.#options
    const column = uncomputed.find((each) => this.#builders[each] && !isOptional?.(names[each] ?? ''))
    if (column === undefined) return undefined
    return `${JSON.stringify(names[column])} is a formula without a result; open the workbook in a spreadsheet program and save it`
  }

  #isLong(text: string | undefined, max_bytes: number): boolean {
    return text !== undefined && text.length * 3 > max_bytes && this.#encoder.encode(text).length > max_bytes
  }

  get rows(): number {
    return this.#rows
  }

  get columns(): number {
    return this.#builders.length
  }

  /** Bytes of the values of the block. */
  get length(): number {
    return this.#builders.reduce((sum, builder) => sum + (builder?.length ?? 0), 0)
  }

  /** Throws `DataFault` where no row has named the columns. */
  requireNames(): void {
    if (!this.#names) throw new DataFault('the first row with a value must name the columns, and the sheet has none')
  }

  /** Returns the rows since `clear`. */
  block(): DataBlock {
    const columns = this.#builders.flatMap((builder) => (builder ? [builder.column()] : []))
    const lines = this.#options.hasLines ? { lines: Int32Array.from(this.#lines) } : {}
    return { rows: this.#rows, names: this.#names ?? [], columns, ...lines }
  }

  clear(): void {
    this.#lengthBefore += this.length
    if (this.#lengthBefore > max_value_bytes)
      throw new DataFault(`the values of the sheet have more than ${max_value_bytes} bytes`)
    for (const builder of this.#builders) builder?.clear()
    this.#rowsBefore += this.#rows
    this.#rows = 0
    this.#lines = []
  }
}
