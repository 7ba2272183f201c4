// Encoders of numbers, times and truth values: as they are, each with its least and greatest value.
import type { Statistics } from 'hyparquet/src/types.js'
import type { TextColumn } from '../../../../daemon/kernel/data/data-block.ts'
import { type DataColumn, parseTyped, type TimeUnit } from '../../../../daemon/kernel/data/data-schema.ts'
import { readDay, readDecimal, readInteger, readTime, readTruth } from '../../../../daemon/kernel/data/value-bytes.ts'
import { ByteBuffer } from './byte-buffer.ts'
import { ColumnEncoder, max_page_rows, PLAIN } from './column-encoder.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const high_unit = 4_294_967_296

/** The values of a range of rows, and a place for those of a page. */
const numbers = new Float64Array(max_page_rows)

/** Values of four or eight bytes. */
abstract class NumberEncoder extends ColumnEncoder {
  protected readonly values = new ByteBuffer(1 << 16)
  #least = Number.POSITIVE_INFINITY
  #greatest = Number.NEGATIVE_INFINITY
  #hasBounds = true

  /** Reads the values of the range into `numbers`, without missing ones; returns how many. Other forms than the usual ones are NaN. */
  protected abstract read(values: TextColumn, from: number, to: number): number
  /** Adds so many values of `numbers`. */
  protected abstract put(count: number): void
  /** Replaces one of the last values, this many before the end, by one beyond the integers that a double keeps. */
  protected putLarge(_back: number, _value: bigint): void {
    throw new RangeError(`${this.column.type} has no value of this size`)
  }
  protected toBound(value: number): number | bigint {
    return value
  }

  protected addValues(values: TextColumn, from: number, to: number): number {
    const count = this.read(values, from, to)
    const large = new Map<number, bigint>()
    const misfit = findNaN(count) < 0 ? -1 : this.#readUnusual(values, from, to, large)
    if (misfit >= 0) return ~misfit
    let [least, greatest] = [this.#least, this.#greatest]
    for (let index = 0; index < count; index++) {
      const value = numbers[index]!
      if (value < least) least = value
      if (value > greatest) greatest = value
    }
    this.#least = least
    this.#greatest = greatest
    this.put(count)
    for (const [index, value] of large) this.putLarge(count - index, value)
    if (large.size > 0) this.#hasBounds = false
    return to
  }

  /** Reads the values of other forms; returns the first row whose value is not of the type, or -1. */
  #readUnusual(values: TextColumn, from: number, to: number, large: Map<number, bigint>): number {
    const { bytes, starts, ends } = values
    for (let [row, index] = [from, 0]; row < to; row++) {
      const start = starts[row]!
      if (start < 0) continue
      if (Number.isNaN(numbers[index]!)) {
        const value = parseTyped(this.column, decoder.decode(bytes.subarray(start, ends[row])))
        if (value === undefined) return row
        if (typeof value !== 'bigint' || Number.isSafeInteger(Number(value))) numbers[index] = Number(value)
        else large.set(index, value)
      }
      index++
    }
    return -1
  }

  protected get value_bytes(): number {
    return this.values.length
  }

  protected writeValues(into: ByteBuffer): number {
    into.add(this.values.content())
    this.values.clear()
    return PLAIN
  }

  protected override bounds(): Pick<Statistics, 'min_value' | 'max_value'> {
    if (!this.#hasBounds || this.#least > this.#greatest) return {}
    return { min_value: this.toBound(this.#least), max_value: this.toBound(this.#greatest) }
  }

  protected reset(): void {
    this.#least = Number.POSITIVE_INFINITY
    this.#greatest = Number.NEGATIVE_INFINITY
    this.#hasBounds = true
  }
}

function findNaN(count: number): number {
  for (let index = 0; index < count; index++) if (Number.isNaN(numbers[index]!)) return index
  return -1
}

class DoubleEncoder extends NumberEncoder {
  protected read({ bytes, starts, ends }: TextColumn, from: number, to: number): number {
    let count = 0
    for (let row = from; row < to; row++) {
      const start = starts[row]!
      if (start >= 0) numbers[count++] = readDecimal(bytes, start, ends[row]!)
    }
    return count
  }

  protected put(count: number): void {
    const { values } = this
    values.reserve(count * 8)
    new Float64Array(values.bytes.buffer, values.length, count).set(numbers.subarray(0, count))
    values.length += count * 8
  }
}

/** Integers of four bytes. */
class Int32Encoder extends NumberEncoder {
  protected read({ bytes, starts, ends }: TextColumn, from: number, to: number): number {
    let count = 0
    for (let row = from; row < to; row++) {
      const start = starts[row]!
      if (start < 0) continue
      const value = readInteger(bytes, start, ends[row]!)
      numbers[count++] = value === (value | 0) ? value : Number.NaN
    }
    return count
  }

  protected put(count: number): void {
    const { values } = this
    values.reserve(count * 4)
    const into = new Int32Array(values.bytes.buffer, values.length, count)
    for (let index = 0; index < count; index++) into[index] = numbers[index]!
    values.length += count * 4
  }
}

class DayEncoder extends Int32Encoder {
  protected override read({ bytes, starts, ends }: TextColumn, from: number, to: number): number {
    let count = 0
    for (let row = from; row < to; row++) {
      const start = starts[row]!
      if (start >= 0) numbers[count++] = readDay(bytes, start, ends[row]!)
    }
    return count
  }
}

/** Integers of eight bytes. */
class Int64Encoder extends NumberEncoder {
  protected read({ bytes, starts, ends }: TextColumn, from: number, to: number): number {
    let count = 0
    for (let row = from; row < to; row++) {
      const start = starts[row]!
      if (start >= 0) numbers[count++] = readInteger(bytes, start, ends[row]!)
    }
    return count
  }

  protected put(count: number): void {
    const { values } = this
    values.reserve(count * 8)
    const halves = new Int32Array(values.bytes.buffer, values.length, count * 2)
    for (let index = 0; index < count; index++) {
      const value = numbers[index]!
      halves[index * 2] = value | 0
      halves[index * 2 + 1] = Math.floor(value / high_unit)
    }
    values.length += count * 8
  }

  protected override putLarge(back: number, value: bigint): void {
    this.values.view.setBigInt64(this.values.length - back * 8, value, true)
  }

  protected override toBound(value: number): bigint {
    return BigInt(value)
  }
}

const per_second: Readonly<Record<TimeUnit, number>> = { ms: 1e3, us: 1e6, ns: 1e9 }

class TimeEncoder extends Int64Encoder {
  readonly #per_second: number
  readonly #hasOffset: boolean

  constructor(column: DataColumn) {
    super(column, 'INT64')
    this.#per_second = per_second[column.unit ?? 'us']
    this.#hasOffset = column.type === 'timestamp'
  }

  protected override read({ bytes, starts, ends }: TextColumn, from: number, to: number): number {
    const [hasOffset, second] = [this.#hasOffset, this.#per_second]
    let count = 0
    for (let row = from; row < to; row++) {
      const start = starts[row]!
      if (start >= 0) numbers[count++] = readTime(bytes, start, ends[row]!, hasOffset, second)
    }
    return count
  }
}

/** A bit for each value. */
class BooleanEncoder extends ColumnEncoder {
  readonly #bits = new ByteBuffer(1 << 10)
  #count = 0

  protected addValues({ bytes, starts, ends }: TextColumn, from: number, to: number): number {
    const bits = this.#bits
    for (let row = from; row < to; row++) {
      const start = starts[row]!
      if (start < 0) continue
      const truth = readTruth(bytes, start, ends[row]!)
      if (Number.isNaN(truth)) return ~row
      const bit = this.#count++ & 7
      if (bit === 0) bits.addByte(0)
      const last = bits.length - 1
      bits.bytes[last] = bits.bytes[last]! | (truth << bit)
    }
    return to
  }

  protected get value_bytes(): number {
    return this.#bits.length
  }

  protected writeValues(into: ByteBuffer): number {
    into.add(this.#bits.content())
    this.#bits.clear()
    this.#count = 0
    return PLAIN
  }

  protected reset(): void {
    this.#count = 0
  }
}

type NumberType = Exclude<DataColumn['type'], 'text'>

export const numberEncoders: Readonly<Record<NumberType, (column: DataColumn) => ColumnEncoder>> = {
  boolean: (column) => new BooleanEncoder(column, 'BOOLEAN'),
  int32: (column) => new Int32Encoder(column, 'INT32'),
  int64: (column) => new Int64Encoder(column, 'INT64'),
  double: (column) => new DoubleEncoder(column, 'DOUBLE'),
  date: (column) => new DayEncoder(column, 'INT32'),
  timestamp: (column) => new TimeEncoder(column),
  local_timestamp: (column) => new TimeEncoder(column),
}
