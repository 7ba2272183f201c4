// Types of SQL Server: as what each is selected, how its values become JSON, and which of them say what lands.
import type { DataColumn } from '../../../daemon/kernel/data/data-schema.ts'
import { describeJsonValue, shortenFloat } from '../../../daemon/shared/row-source/json-row.ts'
import { nameSome, RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import { notMssql } from './mssql-errors.ts'

/** Of the catalog. `type_name`: of the type of the system that it has; `max_length`: in bytes, -1 for any. */
export type MssqlColumn = { readonly name: string; readonly type_name: string; readonly max_length: number }

/**
 * How the values of a type are read. What the library would make a floating number or a date of JavaScript is selected as the text
 * that the server writes for it, with all digits, whatever its settings.
 */
type MssqlForm = 'integer' | 'double' | 'float' | 'boolean' | 'text' | 'bytes'
type TypeReading = {
  readonly form: MssqlForm
  readonly select: (quoted: string, column: MssqlColumn) => string
  /** Of every value. */
  readonly stated?: DataColumn['type']
  /** Of most values. */
  readonly usual?: DataColumn['type']
}

const itself = (quoted: string) => quoted
const convert = (type: string, style?: number) => (quoted: string) =>
  `CONVERT(${type}, ${quoted}${style === undefined ? '' : `, ${style}`})`

const integer: TypeReading = { form: 'integer', select: itself, stated: 'int64' }
const decimal: TypeReading = { form: 'text', select: convert('nvarchar(50)'), stated: 'text' }
/** Style 2 has all four digits after the point. */
const money: TypeReading = { form: 'text', select: convert('nvarchar(50)', 2), stated: 'text' }
/** Style 126: ISO 8601. */
const localTime: TypeReading = { form: 'text', select: convert('nvarchar(40)', 126), usual: 'local_timestamp' }
const nationalText: TypeReading = { form: 'text', select: itself, stated: 'text' }
/** Letters of a code page become those of Unicode at the server. */
const text: TypeReading = {
  ...{ form: 'text', stated: 'text' },
  select: (quoted, { max_length }) =>
    `CONVERT(nvarchar(${max_length > 0 && max_length <= 4_000 ? max_length : 'max'}), ${quoted})`,
}
const longText: TypeReading = { form: 'text', select: convert('nvarchar(max)'), stated: 'text' }
const bytes: TypeReading = { form: 'bytes', select: itself, stated: 'text' }
const longBytes: TypeReading = { form: 'bytes', select: convert('varbinary(max)'), stated: 'text' }

const readings: ReadonlyMap<string, TypeReading> = new Map<string, TypeReading>([
  ...(['tinyint', 'smallint', 'int', 'bigint'] as const).map((name) => [name, integer] as const),
  ['bit', { form: 'boolean', select: itself, stated: 'boolean' }],
  ['decimal', decimal],
  ['numeric', decimal],
  ['money', money],
  ['smallmoney', money],
  ['float', { form: 'double', select: itself, usual: 'double' }],
  ['real', { form: 'float', select: itself, usual: 'double' }],
  ['date', { form: 'text', select: convert('nvarchar(10)', 23), usual: 'date' }],
  ['datetime', localTime],
  ['datetime2', localTime],
  ['smalldatetime', localTime],
  // An instant would lose the offset.
  ['datetimeoffset', { form: 'text', select: convert('nvarchar(40)', 126), stated: 'text' }],
  ['time', { form: 'text', select: convert('nvarchar(20)', 121), stated: 'text' }],
  ['uniqueidentifier', { form: 'text', select: convert('nvarchar(36)'), stated: 'text' }],
  ['char', text],
  ['varchar', text],
  ['nchar', nationalText],
  ['nvarchar', nationalText],
  ...(['text', 'ntext', 'xml', 'json'] as const).map((name) => [name, longText] as const),
  ['binary', bytes],
  ['varbinary', bytes],
  ['timestamp', { ...bytes, select: convert('binary(8)') }],
  ['image', longBytes],
  ['geometry', longBytes],
  ['geography', longBytes],
  ['hierarchyid', { form: 'text', select: (quoted) => `${quoted}.ToString()`, stated: 'text' }],
])

/** Throws `RowSourceError` for a type that is not read, such as `sql_variant`, whose values have one of their own each. */
export function findReading({ name, type_name }: MssqlColumn): TypeReading {
  const found = readings.get(type_name)
  if (found) return found
  throw new RowSourceError(
    `the column ${nameSome([name])} is of the type ${nameSome([type_name])}, which is not read: name the columns to read`,
  )
}

/** Whose values may be above the limit. */
export function isLarge({ type_name, max_length }: MssqlColumn): boolean {
  return max_length === -1 || large_types.has(type_name)
}
const large_types: ReadonlySet<string> = new Set(['text', 'ntext', 'image', 'xml', 'json', 'geometry', 'geography'])

/** A value as JSON. Throws `RowSourceError` where it is none of the form: the server may be hostile. */
export function describeValue(form: MssqlForm, value: unknown): string {
  if (value === null) return 'null'
  if (form === 'bytes' && Buffer.isBuffer(value)) return JSON.stringify(value.toString('base64'))
  if (form === 'boolean' && typeof value === 'boolean') return String(value)
  if (form === 'text' && typeof value === 'string') return describeJsonValue('text', value)
  if (form === 'integer' && (typeof value === 'string' || Number.isSafeInteger(value)))
    return describeJsonValue('number', String(value))
  if (typeof value !== 'number' || (form !== 'double' && form !== 'float')) throw notMssql()
  const shown = form === 'float' ? shortenFloat(value) : value
  return describeJsonValue('number', Object.is(shown, -0) ? '-0' : String(shown))
}

export function findStatedType(column: MssqlColumn): DataColumn | undefined {
  const { stated } = findReading(column)
  return stated === undefined ? undefined : { name: column.name, type: stated }
}

export function findUsualType(column: MssqlColumn): DataColumn {
  const { stated, usual = stated ?? 'text' } = findReading(column)
  return { name: column.name, type: usual }
}
