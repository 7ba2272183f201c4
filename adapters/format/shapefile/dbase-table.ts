// The attributes of a shapefile: the header of a table of dBASE III, and the values of its fields as texts.
import { isUtf8 } from 'node:buffer'
import { DataFault, describeForeignBytes } from '../../../daemon/kernel/data/data-fault.ts'
import type { ValueType } from '../../../daemon/kernel/data/data-schema.ts'
import { type TextEncodingName, toUtf8 } from '../../../daemon/kernel/data/utf8-source.ts'
import type { PieceReader } from '../zip/piece-reader.ts'

type DbaseField = {
  readonly name: Uint8Array
  readonly type: string
  /** In the record. */
  readonly start: number
  readonly end: number
}

export type DbaseHeader = {
  readonly rows: number
  readonly record_bytes: number
  /** Number of the code page; 0 for none. */
  readonly language: number
  readonly fields: readonly DbaseField[]
}

type DbaseColumn = {
  readonly name: string
  readonly stated?: ValueType
  /** The text of the value in a record; undefined for a missing one. Throws `DataFault`. */
  read(record: Uint8Array): string | Uint8Array | undefined
}

const [head_bytes, field_bytes, name_bytes] = [32, 32, 11]
const end_of_fields = 0x0d
const [blank, nothing, asterisk] = [0x20, 0, 0x2a]
const max_fields = 2_046

/** Reads up to the first record. Throws `DataFault`. */
export async function readDbaseHeader(reader: PieceReader): Promise<DbaseHeader> {
  const head = Uint8Array.from(await reader.take(head_bytes))
  const view = new DataView(head.buffer)
  const [rows, header_bytes, record_bytes] = [
    view.getUint32(4, true),
    view.getUint16(8, true),
    view.getUint16(10, true),
  ]
  const rest = Uint8Array.from(await reader.take(Math.max(1, header_bytes - head_bytes)))
  const fields: DbaseField[] = []
  // The first byte of a record says whether it is deleted.
  let start = 1
  // Some programs leave the mark of the end out.
  for (let at = 0; rest[at] !== end_of_fields && (at === 0 || at < rest.length); at += field_bytes) {
    if (at + field_bytes > rest.length || fields.length === max_fields)
      throw new DataFault('damaged: the fields of the .dbf have no end')
    const end = start + (rest[at + 16] ?? 0)
    const name = rest.subarray(at, at + name_bytes)
    const type = String.fromCharCode(rest[at + 11] ?? 0)
    const length = name.indexOf(nothing)
    fields.push({ name: length < 0 ? name : name.subarray(0, length), type, start, end })
    start = end
  }
  if (start > record_bytes) throw new DataFault('damaged: the fields of the .dbf are longer than its records')
  return { rows, record_bytes, language: head[29] ?? 0, fields }
}

/** Whether the record is marked as deleted. */
export function isDeleted(record: Uint8Array): boolean {
  return record[0] === asterisk
}

/** Throws `DataFault` for a field of a type that shapefiles do not have. */
export function columnsOfDbase({ fields }: DbaseHeader, encoding: TextEncodingName): DbaseColumn[] {
  return fields.map(({ name: stored, type, start, end }) => {
    const name = Buffer.from(decode(stored, encoding)).toString('utf8')
    const form = Object.hasOwn(forms, type) ? forms[type] : undefined
    if (!form)
      throw new DataFault(`the field ${JSON.stringify(name)} is of type ${JSON.stringify(type)}, which is not read`)
    const { stated, read } = form
    return {
      name,
      ...(stated && { stated }),
      read(record) {
        const value = trimBytes(record.subarray(start, end))
        return value.length === 0 ? undefined : read(value, encoding)
      },
    }
  })
}

type FieldForm = {
  readonly stated?: ValueType
  /** `value`: without blanks at its end, and not empty. */
  read(value: Uint8Array, encoding: TextEncodingName): string | Uint8Array | undefined
}

/** The types of a number are inferred: its field may be wider than a number of 64 bits, and its digits more than a double keeps. */
const number: FieldForm = { read: (value) => readNumber(toAscii(value)) }

const forms: Readonly<Record<string, FieldForm>> = {
  C: { stated: { type: 'text' }, read: decode },
  N: number,
  F: number,
  L: { stated: { type: 'boolean' }, read: (value) => readLogical(toAscii(value)) },
  D: { stated: { type: 'date' }, read: (value) => readDate(toAscii(value)) },
}

/** A zero byte ends a value: behind it may be what a program left in its memory. */
function trimBytes(bytes: Uint8Array): Uint8Array {
  const zero = bytes.indexOf(nothing)
  let end = zero < 0 ? bytes.length : zero
  while (end > 0 && bytes[end - 1] === blank) end--
  return bytes.subarray(0, end)
}

function decode(bytes: Uint8Array, encoding: TextEncodingName): Uint8Array {
  const text = toUtf8(bytes, encoding)
  if (!isUtf8(text)) throw new DataFault(describeForeignBytes(encoding))
  return text
}

const toAscii = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')

/** The same number without blanks and zeros that say nothing. A number that is too wide for its field is stored as asterisks. */
function readNumber(stored: string): string | undefined {
  const text = stored.trim()
  if (text === '' || /^\*+$/.test(text)) return undefined
  const parts = /^([-+]?)(\d*)(?:\.(\d*))?([eE][-+]?\d{1,3})?$/.exec(text)
  const [, sign = '', whole = '', decimals = '', exponent = ''] = parts ?? []
  if (!parts || whole + decimals === '') throw new DataFault('a value that is not a number')
  const shortest = exponent === '' ? readLongDouble(`${sign === '-' ? '-' : ''}${whole}`, decimals) : undefined
  if (shortest !== undefined) return shortest
  const kept = decimals.replace(/0+$/, '')
  const digits = `${whole.replace(/^0+(?=\d)/, '') || '0'}${kept === '' ? '' : `.${kept}`}${exponent}`
  return sign === '-' && /[1-9]/.test(whole + kept) ? `-${digits}` : digits
}

const [kept_digits, max_decimals] = [15, 100]

/**
 * The shortest text of a double that was written with more digits than it has, as programs do for fields of many decimals:
 * undefined where the digits are not those of a double.
 */
function readLongDouble(whole: string, decimals: string): string | undefined {
  if (whole.length + decimals.length <= kept_digits || decimals === '' || decimals.length > max_decimals)
    return undefined
  const value = Number(`${whole}.${decimals}`)
  return value !== 0 && value.toFixed(decimals.length) === `${whole}.${decimals}` ? String(value) : undefined
}

function readLogical(stored: string): string | undefined {
  if (stored === '?') return undefined
  if (/^[TtYy]$/.test(stored)) return 'true'
  if (/^[FfNn]$/.test(stored)) return 'false'
  throw new DataFault('a value that is not a logical one')
}

function readDate(stored: string): string | undefined {
  if (/^0+$/.test(stored)) return undefined
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})$/.exec(stored) ?? []
  const text = `${year}-${month}-${day}`
  const time = Date.parse(`${text}T00:00:00Z`)
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== text)
    throw new DataFault('a value that is not a date')
  return text
}
