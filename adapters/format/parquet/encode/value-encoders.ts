// Encoders of numbers, times and truth values: as they are, each with its least and greatest value.
import type { Statistics } from 'hyparquet/src/types.js'
import { type DataColumn, parseTyped, type TimeUnit } from '../../../../daemon/kernel/data/data-schema.ts'
import { readDay, readDecimal, readInteger, readTime, readTruth } from '../../../../daemon/kernel/data/value-bytes.ts'
import { ByteBuffer } from './byte-buffer.ts'
import { ColumnEncoder, PLAIN } from './column-encoder.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const high_unit = 4_294_967_296

/** Values of four or eight bytes. `read` knows the usual forms, and gives NaN for others. */
abstract class NumberEncoder extends ColumnEncoder {
  protected readonly values = new ByteBuffer(1 << 16)
  #least = Number.POSITIVE_INFINITY
  #greatest = Number.NEGATIVE_INFINITY
  #hasBounds = true

  protected abstract read(bytes: Uint8Array, start: number, end: number): number
  protected abstract put(value: number): void
  /** Adds a value beyond the integers that a double keeps. */
  protected putLarge(_value: bigint): void {
    throw new RangeError(`${this.column.type} has no value of this size`)
  }
  protected toBound(value: number): number | bigint {
    return value
  }

  protected addValue(bytes: Uint8Array, start: number, end: number): boolean {
    const value = this.read(bytes, start, end)
    return Number.isNaN(value) ? this.#addUnusual(bytes, start, end) : this.#take(value)
  }

  #take(value: number): boolean {
    this.put(value)
    if (value < this.#least) this.#least = value
    if (value > this.#greatest) this.#greatest = value
    return true
  }

  #addUnusual(bytes: Uint8Array, start: number, end: number): boolean {
    const value = parseTyped(this.column, decoder.decode(bytes.subarray(start, end)))
    if (value === undefined) return false
    if (typeof value !== 'bigint' || Number.isSafeInteger(Number(value))) return this.#take(Number(value))
    this.putLarge(value)
    this.#hasBounds = false
    return true
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

class DoubleEncoder extends NumberEncoder {
  protected read(bytes: Uint8Array, start: number, end: number): number {
    return readDecimal(bytes, start, end)
  }

  protected put(value: number): void {
    const { values } = this
    values.reserve(8)
    values.view.setFloat64(values.length, value, true)
    values.length += 8
  }
}

/** Integers of four bytes. */
class Int32Encoder extends NumberEncoder {
  protected read(bytes: Uint8Array, start: number, end: number): number {
    const value = readInteger(bytes, start, end)
    return value === (value | 0) ? value : Number.NaN
  }

  protected put(value: number): void {
    const { values } = this
    values.reserve(4)
    values.view.setInt32(values.length, value, true)
    values.length += 4
  }
}

class DayEncoder extends Int32Encoder {
  protected override read(bytes: Uint8Array, start: number, end: number): number {
    return readDay(bytes, start, end)
  }
}

/** Integers of eight bytes. */
class Int64Encoder extends NumberEncoder {
  protected read(bytes: Uint8Array, start: number, end: number): number {
    return readInteger(bytes, start, end)
  }

  protected put(value: number): void {
    const { values } = this
    values.reserve(8)
    const high = Math.floor(value / high_unit)
    values.view.setUint32(values.length, value - high * high_unit, true)
    values.view.setInt32(values.length + 4, high, true)
    values.length += 8
  }

  protected override putLarge(value: bigint): void {
    this.values.reserve(8)
    this.values.view.setBigInt64(this.values.length, value, true)
    this.values.length += 8
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

  protected override read(bytes: Uint8Array, start: number, end: number): number {
    return readTime(bytes, start, end, this.#hasOffset, this.#per_second)
  }
}

/** A bit for each value. */
class BooleanEncoder extends ColumnEncoder {
  readonly #bits = new ByteBuffer(1 << 10)
  #count = 0

  protected addValue(bytes: Uint8Array, start: number, end: number): boolean {
    const truth = readTruth(bytes, start, end)
    if (Number.isNaN(truth)) return false
    const bit = this.#count++ & 7
    if (bit === 0) this.#bits.addByte(0)
    const last = this.#bits.length - 1
    this.#bits.bytes[last] = this.#bits.bytes[last]! | (truth << bit)
    return true
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
