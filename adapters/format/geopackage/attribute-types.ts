// The texts and types of attributes by the types of their columns (OGC 12-128r19, "Data Types"). SQLite holds no value to its type.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { ValueType } from '../../../daemon/kernel/data/data-schema.ts'
import type { SqliteValue } from './sqlite-record.ts'

type AttributeType = {
  /** Absent where not every value has a text of its type. */
  readonly stated?: ValueType
  read(value: SqliteValue): string | Uint8Array | undefined
}

const integer: AttributeType = {
  stated: { type: 'int64' },
  read(value) {
    if (typeof value === 'number' && !Number.isInteger(value)) throw misfit('an integer')
    return readNumber(value)
  },
}
const double: AttributeType = { stated: { type: 'double' }, read: readNumber }
const boolean: AttributeType = {
  stated: { type: 'boolean' },
  read(value) {
    if (value === undefined) return undefined
    if (value !== 0 && value !== 1) throw misfit('a boolean')
    return value === 1 ? 'true' : 'false'
  },
}
const text: AttributeType = {
  stated: { type: 'text' },
  read(value) {
    if (value instanceof Uint8Array) throw misfit('a text')
    return readAny(value)
  },
}
/** Bytes are hexadecimal, as in other formats. */
const blob: AttributeType = { stated: { type: 'text' }, read: readAny }
/** Dates and times are texts that may have any form; columns of other types may have any value. */
const other: AttributeType = { read: readAny }

const types: Readonly<Record<string, AttributeType>> = {
  ...{ BOOLEAN: boolean, BLOB: blob, TEXT: text },
  ...{ TINYINT: integer, SMALLINT: integer, MEDIUMINT: integer, INT: integer, INTEGER: integer },
  ...{ FLOAT: double, DOUBLE: double, REAL: double },
}

/** `type`: as declared, in capitals; with a length, such as TEXT(20), or without. */
export function attributeOf(type: string): AttributeType {
  const name = type.replace(/\(\d+\)$/, '')
  return (Object.hasOwn(types, name) ? types[name] : undefined) ?? other
}

function readNumber(value: SqliteValue): string | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'number' && typeof value !== 'bigint') throw misfit('a number')
  return String(value)
}

function readAny(value: SqliteValue): string | undefined {
  if (value === undefined) return undefined
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')
  return String(value)
}

function misfit(wanted: string): DataFault {
  return new DataFault(`a value that is not ${wanted}, as its column states`)
}
