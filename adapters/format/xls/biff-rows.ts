// Reads the cells of a sheet row by row. Formulas have the results that the workbook stores, and are never evaluated.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import { formatNumber } from '../xlsx/cell-text.ts'
import { type BiffRecord, BiffRecords, recordTypes } from './biff-records.ts'
import { TextCursor } from './biff-text.ts'
import type { BiffSheet, BiffWorkbook } from './biff-workbook.ts'

/** As a sheet of Excel 97 has them. */
const max_columns = 256
const cell_bytes = 6
/** Marks the result of a formula that is not a number, in its last two bytes. */
const not_a_number = 0xffff
const [textResult, truthResult] = [0, 1]

/** Values of a row by column under its number from 1. */
export type BiffRow = {
  readonly number: number
  readonly values: readonly (string | undefined)[]
  readonly position: number
}

/** Yields rows with at least one value. Throws `DataFault`. */
export function* biffRows(workbook: BiffWorkbook, { start }: BiffSheet): Generator<BiffRow, void, undefined> {
  const records = new BiffRecords(workbook.stream, start)
  if (records.next().type !== recordTypes.bof) throw new DataFault('damaged: a sheet has no beginning')
  const reader = new CellReader(workbook, records)
  let [number, values]: [number, (string | undefined)[]] = [0, []]
  for (let record = records.next(); record.type !== recordTypes.eof; record = records.next()) {
    if (record.type === recordTypes.bof) skipPart(records)
    if (!cellTypes.has(record.type)) continue
    const { data } = record
    if (data.byteLength < cell_bytes) throw new DataFault('damaged: a cell is too short')
    const row = data.getUint16(0, true) + 1
    if (row < number)
      throw new DataFault(
        `row ${row} follows row ${number}: open the workbook in a spreadsheet program and save it, which puts its rows in order`,
      )
    if (row > number && number > 0) {
      yield { number, values, position: records.position }
      values = []
    }
    number = row
    reader.read(record, values)
  }
  if (number > 0) yield { number, values, position: records.position }
}

/** A chart within a sheet is a part with a beginning and an end, and may have parts. */
function skipPart(records: BiffRecords): void {
  for (let depth = 1; depth > 0; ) {
    const { type } = records.next()
    if (type === recordTypes.bof) depth++
    if (type === recordTypes.eof) depth--
  }
}

const cellTypes: ReadonlySet<number> = new Set([
  ...[recordTypes.number, recordTypes.rk, recordTypes.multipleRk, recordTypes.labelShared, recordTypes.label],
  ...[recordTypes.richText, recordTypes.boolOrError, recordTypes.formula],
])

class CellReader {
  readonly #workbook: BiffWorkbook
  readonly #records: BiffRecords

  constructor(workbook: BiffWorkbook, records: BiffRecords) {
    this.#workbook = workbook
    this.#records = records
  }

  read(record: BiffRecord, into: (string | undefined)[]): void {
    const { type, data } = record
    const column = data.getUint16(2, true)
    if (type !== recordTypes.multipleRk) {
      put(into, column, this.#readValue(record))
      return
    }
    // Of each number its format and its value; the last column is behind them.
    const count = (data.byteLength - cell_bytes) / 6
    if (!Number.isInteger(count)) throw new DataFault('damaged: a row of numbers has no known length')
    for (let at = 0; at < count; at++)
      put(into, column + at, this.#number(data.getUint16(4 + at * 6, true), decodeRk(data.getUint32(6 + at * 6, true))))
  }

  #readValue(record: BiffRecord): string | undefined {
    const { type, data } = record
    const style = data.getUint16(4, true)
    const rest = (bytes: number) => {
      if (data.byteLength < cell_bytes + bytes) throw new DataFault('damaged: a cell is too short')
      return cell_bytes
    }
    switch (type) {
      case recordTypes.number:
        return this.#number(style, data.getFloat64(rest(8), true))
      case recordTypes.rk:
        return this.#number(style, decodeRk(data.getUint32(rest(4), true)))
      case recordTypes.labelShared:
        return this.#sharedText(data.getUint32(rest(4), true))
      case recordTypes.boolOrError:
        return data.getUint8(rest(2) + 1) === 0 ? nameTruth(data.getUint8(cell_bytes)) : undefined
      case recordTypes.formula:
        rest(8)
        return this.#readResult(data, style)
      default: {
        rest(2)
        return this.#readText(record, cell_bytes)
      }
    }
  }

  #number(style: number, value: number): string | undefined {
    const { styles, has1904Dates } = this.#workbook
    return formatNumber(String(value), styles[style] ?? 'number', has1904Dates)
  }

  #sharedText(number: number): string | undefined {
    const text = this.#workbook.shared[number]
    if (text === undefined) throw new DataFault(`damaged: the shared text ${number} is missing`)
    return text === '' ? undefined : text
  }

  #readText(record: BiffRecord, at: number): string | undefined {
    const cursor = new TextCursor(this.#records, record, at)
    const { decoder } = this.#workbook
    const characters = cursor.short()
    const text = decoder ? cursor.bytes(characters, decoder) : cursor.onlyText(characters)
    return text === '' ? undefined : text
  }

  /** The text of a result is in a record behind the formula, and behind the formula of its group. An error is a missing value. */
  #readResult(data: DataView, style: number): string | undefined {
    if (data.getUint16(12, true) !== not_a_number) return this.#number(style, data.getFloat64(6, true))
    const kind = data.getUint8(6)
    if (kind === truthResult) return nameTruth(data.getUint8(8))
    if (kind !== textResult) return undefined
    for (let next = this.#records.peek(); next !== undefined && groupTypes.has(next); next = this.#records.peek())
      this.#records.next()
    if (this.#records.peek() !== recordTypes.string) return undefined
    return this.#readText(this.#records.next(), 0)
  }
}

/** Formulas of arrays, tables and groups, and what continues them. */
const groupTypes: ReadonlySet<number> = new Set([0x0221, 0x0021, 0x0236, 0x0036, 0x0037, 0x04bc, recordTypes.continue])

function put(into: (string | undefined)[], column: number, value: string | undefined): void {
  if (column >= max_columns) throw new DataFault(`damaged: a cell is in column ${column + 1}`)
  while (into.length <= column) into.push(undefined)
  into[column] = value
}

function nameTruth(value: number): string {
  return value === 1 ? 'true' : 'false'
}

/** A number of 30 bits: an integer, or the upper bits of a double; either may be a hundredth. */
function decodeRk(bits: number): number {
  const [isHundredth, isInteger] = [(bits & 1) !== 0, (bits & 2) !== 0]
  const value = isInteger ? bits >> 2 : doubleOf((bits & 0xffff_fffc) >>> 0)
  return isHundredth ? value / 100 : value
}

const scratch = new DataView(new ArrayBuffer(8))

function doubleOf(upper: number): number {
  scratch.setUint32(0, upper)
  return scratch.getFloat64(0)
}
