// Types of Oracle: as what each is selected, how its values become JSON, and which of them say what lands.
import type { DataColumn } from '../../../daemon/kernel/data/data-schema.ts'
import { describeJsonValue, shortenFloat } from '../../../daemon/shared/row-source/json-row.ts'
import { max_value_bytes, nameSome, RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import { notOracle } from './oracle-errors.ts'

/** Of the catalog. `type_name`: without its sizes. */
export type OracleColumn = {
  readonly name: string
  readonly type_name: string
  readonly precision: number | undefined
  readonly scale: number | undefined
}

type OracleForm = 'integer' | 'decimal' | 'double' | 'float' | 'boolean' | 'text' | 'time' | 'zoned' | 'bytes'
type OracleReading = {
  readonly form: OracleForm
  readonly select: (quoted: string) => string
  /** The length of a value that may be above the limit, in characters or bytes. */
  readonly measure?: (quoted: string) => string
  readonly stated?: DataColumn['type']
  readonly usual?: DataColumn['type']
}

const itself = (quoted: string) => quoted
/** Texts of the server for what the library makes numbers and dates of JavaScript, by no setting of the session. */
const numberText = (quoted: string) => `TO_CHAR(${quoted}, 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''')`
const day = 'SYYYY-MM-DD"T"HH24:MI:SS'
const timeText = (format: string) => (quoted: string) => `TO_CHAR(${quoted}, '${format}')`
const lobLength = (quoted: string) => `DBMS_LOB.GETLENGTH(${quoted})`
const jsonText = (quoted: string) => `JSON_SERIALIZE(${quoted} RETURNING CLOB)`
const xmlText = (quoted: string) => `XMLSERIALIZE(CONTENT ${quoted} AS CLOB)`
const large = (select: (quoted: string) => string) => (quoted: string) => lobLength(select(quoted))

const text: OracleReading = { form: 'text', select: itself, stated: 'text' }
const interval: OracleReading = { form: 'text', select: (quoted) => `TO_CHAR(${quoted})`, stated: 'text' }
const clob: OracleReading = { ...text, measure: lobLength }

const readings: ReadonlyMap<string, OracleReading> = new Map<string, OracleReading>([
  ...(['CHAR', 'VARCHAR2', 'NCHAR', 'NVARCHAR2', 'ROWID', 'UROWID'] as const).map((name) => [name, text] as const),
  ['CLOB', clob],
  ['NCLOB', clob],
  ['BINARY_FLOAT', { form: 'float', select: itself, usual: 'double' }],
  ['BINARY_DOUBLE', { form: 'double', select: itself, usual: 'double' }],
  ['BOOLEAN', { form: 'boolean', select: itself, stated: 'boolean' }],
  ['DATE', { form: 'time', select: timeText(day), usual: 'local_timestamp' }],
  ['TIMESTAMP', { form: 'time', select: timeText(`${day}.FF9`), usual: 'local_timestamp' }],
  // The session has the time zone UTC.
  ['TIMESTAMP WITH LOCAL TIME ZONE', { form: 'time', select: timeText(`${day}.FF9"Z"`), usual: 'timestamp' }],
  ['TIMESTAMP WITH TIME ZONE', { form: 'zoned', select: timeText(`${day}.FF9TZH:TZM"["TZR"]"`), stated: 'text' }],
  ['INTERVAL YEAR TO MONTH', interval],
  ['INTERVAL DAY TO SECOND', interval],
  ['RAW', { form: 'bytes', select: itself, stated: 'text' }],
  ['BLOB', { form: 'bytes', select: itself, measure: lobLength, stated: 'text' }],
  ['JSON', { form: 'text', select: jsonText, measure: large(jsonText), stated: 'text' }],
  ['XMLTYPE', { form: 'text', select: xmlText, measure: large(xmlText), stated: 'text' }],
])

/** Throws `RowSourceError` for a type that is not read, such as `LONG`, which no statement can measure. */
export function findOracleReading(column: OracleColumn): OracleReading {
  if (column.type_name === 'NUMBER' || column.type_name === 'FLOAT') return readNumber(column)
  const found = readings.get(column.type_name)
  if (found) return found
  throw new RowSourceError(
    `the column ${nameSome([column.name])} is of the type ${nameSome([column.type_name])}, which is not read: name the columns to read`,
  )
}

/** Up to 18 digits without a fraction fit into 64 bits; a number of no stated scale may have any. */
function readNumber({ type_name, precision, scale }: OracleColumn): OracleReading {
  const isWhole = type_name === 'NUMBER' && scale !== undefined && scale <= 0
  if (isWhole && precision !== undefined && precision - scale <= 18)
    return { form: 'integer', select: numberText, stated: 'int64' }
  if (isWhole) return { form: 'integer', select: numberText, usual: 'int64' }
  if (scale !== undefined && scale > 0) return { form: 'decimal', select: numberText, stated: 'text' }
  return { form: 'integer', select: numberText, usual: 'text' }
}

/** `TIMESTAMP(6) WITH TIME ZONE` is `TIMESTAMP WITH TIME ZONE`. */
export function stripSizes(type_name: string): string {
  return type_name.replaceAll(/\(\d{1,4}\)/g, '')
}

/** A value as JSON. Throws `RowSourceError` where it is none of the form: the server may be hostile. */
export function describeOracleValue(form: OracleForm, value: unknown): string {
  // Oracle keeps an empty text as null.
  if (value === null) return 'null'
  if (form === 'bytes' && Buffer.isBuffer(value)) return JSON.stringify(value.toString('base64'))
  if (form === 'boolean' && typeof value === 'boolean') return String(value)
  if ((form === 'double' || form === 'float') && typeof value === 'number') {
    const shown = form === 'float' && Number.isFinite(value) ? shortenFloat(value) : value
    return describeJsonValue('number', Object.is(shown, -0) ? '-0' : String(shown))
  }
  if (typeof value !== 'string') throw notOracle()
  if (form === 'integer' || form === 'decimal') return describeNumber(form, value)
  return describeJsonValue(
    'text',
    form === 'zoned' ? describeZone(value.trim()) : form === 'time' ? value.trim() : value,
  )
}

/** `.5` is what the server writes. A number with a fraction is a text, which keeps it. */
function describeNumber(form: 'integer' | 'decimal', value: string): string {
  const whole = value.replace(/^(-?)\./, '$10.')
  return describeJsonValue(form === 'integer' && /^-?\d+$/.test(whole) ? 'number' : 'text', whole)
}

/** The name of a region after its offset, as RFC 9557 has it; an offset is not named twice. */
function describeZone(value: string): string {
  const [, time, zone] = /^(.*)\[([^\]]*)\]$/.exec(value) ?? []
  return time === undefined || zone === undefined || /^[+-]\d\d:\d\d$/.test(zone) ? (time ?? value) : `${time}[${zone}]`
}

export function findOracleStatedType(column: OracleColumn): DataColumn | undefined {
  const { stated } = findOracleReading(column)
  return stated === undefined ? undefined : { name: column.name, type: stated }
}

export function findOracleUsualType(column: OracleColumn): DataColumn {
  const { stated, usual = stated ?? 'text' } = findOracleReading(column)
  return { name: column.name, type: usual }
}

export const quoteOracleName = (name: string) => `"${name}"`

/** After the values a column says whether one is too large, which is then not sent. The last one is the place of the row. */
export function selectOracleRows(
  table: string,
  columns: readonly OracleColumn[],
  range: { readonly place: string; readonly where: string } | undefined,
): string {
  const tests: string[] = []
  const values = columns.map((column) => {
    const { select, measure } = findOracleReading(column)
    const quoted = quoteOracleName(column.name)
    if (!measure) return select(quoted)
    const test = `${measure(quoted)} > ${max_value_bytes}`
    tests.push(test)
    return `CASE WHEN ${test} THEN NULL ELSE ${select(quoted)} END`
  })
  const flag = tests.length === 0 ? "'0'" : `CASE WHEN ${tests.join(' OR ')} THEN '1' ELSE '0' END`
  const where = range ? ` WHERE ${range.where}` : ''
  return `SELECT ${[...values, flag, range?.place ?? "'0'"].join(', ')} FROM ${table}${where}`
}
