// Types of MySQL and MariaDB: how their texts become JSON, and which of them say what lands.
import type { DataColumn } from '../../../daemon/kernel/data/data-schema.ts'
import { describeJsonValue } from '../../../daemon/shared/row-source/json-row.ts'
import type { SqlColumn } from '../../../daemon/shared/row-source/sql-rows.ts'
import type { MysqlField, MysqlValue } from './mysql-session.ts'

/** Numbers of the protocol. */
const type_of = { float: 4, double: 5, timestamp: 7, longlong: 8, date: 10, datetime: 12, year: 13, bit: 16, json: 245 }
const integer_types: ReadonlySet<number> = new Set([1, 2, 3, 8, 9, type_of.year])
const float_types: ReadonlySet<number> = new Set([type_of.float, type_of.double])
/** Texts whose bytes may be of the character set `binary`. */
const string_types: ReadonlySet<number> = new Set([15, 249, 250, 251, 252, 253, 254, 255])
const binary_charset = 63
const unsigned_flag = 32
const max_bit_bytes = 8

export function columnOf(name: string, field: MysqlField): SqlColumn<MysqlValue> {
  const type = field.columnType ?? -1
  const isNumber = integer_types.has(type) || float_types.has(type) || type === type_of.bit
  const isBytes = string_types.has(type) && field.characterSet === binary_charset
  const textOf = (value: Buffer) => {
    if (isBytes) return value.toString('base64')
    if (type === type_of.bit && value.length <= max_bit_bytes) return BigInt(`0x0${value.toString('hex')}`).toString()
    if (integer_types.has(type)) return value.toString().replace(/^(-?)0+(?=\d)/, '$1')
    return normalizeText(type, value.toString())
  }
  const form = isNumber ? 'number' : 'text'
  return { name, describe: (value) => describeJsonValue(form, value && textOf(value)) }
}

/** Instants by ISO 8601: the session has the time zone UTC. A date of zeros stays as it is. */
function normalizeText(type: number, text: string): string {
  if ((type !== type_of.timestamp && type !== type_of.datetime) || text.startsWith('0000')) return text
  return `${text.replace(' ', 'T')}${type === type_of.timestamp ? 'Z' : ''}`
}

/** The type of a column where it holds every value. Dates may be of zeros: the rows decide, as they do for floating numbers. */
export function findStatedType(name: string, field: MysqlField): DataColumn | undefined {
  const type = field.columnType ?? -1
  const flags = typeof field.flags === 'number' ? field.flags : 0
  if (integer_types.has(type))
    return type === type_of.longlong && (flags & unsigned_flag) !== 0 ? undefined : { name, type: 'int64' }
  const hasExceptions = [type_of.timestamp, type_of.date, type_of.datetime, type_of.bit].includes(type)
  return float_types.has(type) || hasExceptions ? undefined : { name, type: 'text' }
}

const usual_types: Readonly<Record<string, DataColumn['type']>> = {
  ...{
    tinyint: 'int64',
    smallint: 'int64',
    mediumint: 'int64',
    int: 'int64',
    bigint: 'int64',
    year: 'int64',
    bit: 'int64',
  },
  ...{ float: 'double', double: 'double', date: 'date', datetime: 'local_timestamp', timestamp: 'timestamp' },
}

/** The type that most values of a column have, by its type in the catalog: of one without rows. */
export function findUsualType(name: string, type_name: string): DataColumn {
  return { name, type: usual_types[type_name] ?? 'text' }
}
