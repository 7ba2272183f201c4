// The texts and types of single values of Avro: those that the same values of Parquet have.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { ValueType } from '../../../daemon/kernel/data/data-schema.ts'
import { selectValueForm, type ValueForm } from '../parquet/text-formatters.ts'
import type { AvroCursor } from './avro-cursor.ts'
import type { AvroType } from './avro-schema.ts'

export type AvroScalarType = Extract<AvroType, { kind: 'primitive' | 'fixed' | 'enum' }>

export type AvroScalar = {
  /** Reads the stored value. */
  read(cursor: AvroCursor): unknown
  /** Its text, undefined for a missing value. */
  readonly format: (stored: unknown) => string | Uint8Array | undefined
  /** Absent where not every value has a text of its type: that of the column is inferred then. */
  readonly stated?: ValueType
  /** The stored value as JSON has it, where that is not its text. */
  readonly toJson?: (stored: unknown) => unknown
}

type ParquetElement = Parameters<typeof selectValueForm>[0]
type Unit = 'MILLIS' | 'MICROS' | 'NANOS'

const time = (type: 'INT32' | 'INT64', unit: Unit): ParquetElement => ({
  ...{ name: '', type },
  logical_type: { type: 'TIME', isAdjustedToUTC: false, unit },
})
const timestamp = (unit: Unit, isAdjustedToUTC: boolean): ParquetElement => ({
  ...{ name: '', type: 'INT64' },
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit },
})

/** By the type, and its logical type. */
const elements: Readonly<Record<string, ParquetElement>> = {
  boolean: { name: '', type: 'BOOLEAN' },
  int: { name: '', type: 'INT32' },
  'int date': { name: '', type: 'INT32', converted_type: 'DATE' },
  'int time-millis': time('INT32', 'MILLIS'),
  long: { name: '', type: 'INT64' },
  'long time-micros': time('INT64', 'MICROS'),
  'long timestamp-millis': timestamp('MILLIS', true),
  'long timestamp-micros': timestamp('MICROS', true),
  'long timestamp-nanos': timestamp('NANOS', true),
  'long local-timestamp-millis': timestamp('MILLIS', false),
  'long local-timestamp-micros': timestamp('MICROS', false),
  'long local-timestamp-nanos': timestamp('NANOS', false),
  float: { name: '', type: 'FLOAT' },
  double: { name: '', type: 'DOUBLE' },
  string: { name: '', type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  'fixed uuid': { name: '', type: 'FIXED_LEN_BYTE_ARRAY', logical_type: { type: 'UUID' } },
}

const text: ValueType = { type: 'text' }
const uuid_bytes = 16

export function scalarOf(type: AvroScalarType): AvroScalar {
  if (type.kind === 'enum') return enumOf(type.symbols)
  if (type.kind === 'primitive' && type.type === 'null')
    return { read: () => null, format: () => undefined, stated: text }
  const { format, stated } = formOf(type)
  const read = readerOf(type)
  const isBig = stated.type.endsWith('timestamp')
  if (isBig || stated.type === 'date') return { read, format: withinCalendar(format, isBig) }
  return { read, format, stated, ...(isOfJson(type) && { toJson: jsonOf(format) }) }
}

/** A time beyond the calendar is the number that it is stored as: no text of its type. */
function withinCalendar(format: ValueForm['format'], isBig: boolean): ValueForm['format'] {
  return (stored) => {
    try {
      return format(isBig ? BigInt(stored as number | bigint) : stored)
    } catch (error) {
      if (error instanceof RangeError) return String(stored)
      throw error
    }
  }
}

/** Numbers as the shortest text has them; those that JSON lacks are texts. */
function jsonOf(format: ValueForm['format']) {
  return (stored: unknown) => {
    if (typeof stored === 'boolean') return stored
    const text = String(format(stored) ?? 'NaN')
    return Number.isFinite(stored) ? Number(text) : text
  }
}

/** A logical type that is unknown, or does not fit its type, is left out of account, as Avro says. */
function formOf(type: Exclude<AvroScalarType, { kind: 'enum' }>): ValueForm {
  const name = type.kind === 'fixed' ? 'fixed' : type.type
  if (isDecimal(type))
    return requireForm({ name: '', type: 'BYTE_ARRAY', converted_type: 'DECIMAL', scale: type.scale })
  const isOther = type.kind === 'fixed' && type.size !== uuid_bytes
  const element = isOther ? undefined : (elements[`${name} ${type.logical}`] ?? elements[name])
  // Bytes are binary, whatever they look like.
  return element ? requireForm(element) : { format: (stored) => toHex(stored as Uint8Array), stated: text }
}

export function isDecimal(type: AvroScalarType): boolean {
  const isBytes = type.kind === 'fixed' || (type.kind === 'primitive' && type.type === 'bytes')
  return isBytes && type.logical === 'decimal'
}

function requireForm(element: ParquetElement): ValueForm {
  const form = selectValueForm(element)
  if (typeof form === 'string') throw new TypeError(`no form of ${form}`)
  return form
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

function isOfJson(type: AvroScalarType): boolean {
  return (
    type.kind === 'primitive' &&
    type.logical === undefined &&
    ['boolean', 'int', 'long', 'float', 'double'].includes(type.type)
  )
}

function readerOf(type: Exclude<AvroScalarType, { kind: 'enum' }>): (cursor: AvroCursor) => unknown {
  if (type.kind === 'fixed') return (cursor) => cursor.bytes(type.size)
  switch (type.type) {
    case 'boolean':
      return (cursor) => cursor.boolean()
    case 'int':
    case 'long':
      return (cursor) => cursor.long()
    case 'float':
      return (cursor) => cursor.float()
    case 'double':
      return (cursor) => cursor.double()
    default:
      return (cursor) => cursor.bytes()
  }
}

function enumOf(symbols: readonly string[]): AvroScalar {
  const read = (cursor: AvroCursor) => {
    const symbol = symbols[cursor.count()]
    if (symbol === undefined) throw new DataFault('damaged: a value is not a symbol of its schema')
    return symbol
  }
  return { read, format: (stored) => stored as string, stated: text }
}
