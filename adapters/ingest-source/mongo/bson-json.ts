// Documents of MongoDB as JSON, from their bytes: with all digits of numbers, and with names and texts as they are.
import { isUtf8 } from 'node:buffer'
import { max_value_bytes, nameSome, RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'

/** A field of a document. `type`: its number in BSON. */
export type BsonField = { readonly name: string; readonly type: number; readonly value: Buffer }

/** The text of the sixteen bytes of a decimal number. */
export type DecimalReader = (bytes: Buffer) => string

type BsonType = {
  /** As servers call it. */
  readonly name: string
  /** Bytes of the shortest value: those by which its size is read are there. */
  readonly least: number
  /** Bytes of the value that begins there; fewer than the least where it has no end. */
  size(bytes: Buffer, at: number): number
  /** Its JSON. `parts`: of documents in it. */
  describe(value: Buffer, parts: PartReader): string
}
type PartReader = { readonly decimal: DecimalReader; describe(value: Buffer, isList: boolean): string }

/** Servers allow 100. */
const max_depth = 200

const json = JSON.stringify
const fixed = (least: number) => ({ least, size: () => least })
const framed = (least: number) => ({ least, size: (bytes: Buffer, at: number) => bytes.readInt32LE(at) })
/** After its length, which counts the zero at its end. */
const stringSize = (bytes: Buffer, at: number) => 4 + bytes.readInt32LE(at)
const stringOf = (value: Buffer) => textOf(value.subarray(4, -1))
const string = { least: 5, size: stringSize, describe: (value: Buffer) => json(stringOf(value)) }

const types: Readonly<Record<number, BsonType>> = {
  1: { name: 'double', ...fixed(8), describe: (value) => describeDouble(value.readDoubleLE(0)) },
  2: { name: 'string', ...string },
  3: { name: 'object', ...framed(5), describe: (value, parts) => parts.describe(value, false) },
  4: { name: 'array', ...framed(5), describe: (value, parts) => parts.describe(value, true) },
  5: {
    ...{ name: 'binData', least: 5, size: (bytes, at) => 5 + bytes.readInt32LE(at) },
    describe: (value) => json(bytesOf(value)),
  },
  6: { name: 'undefined', ...fixed(0), describe: () => 'null' },
  7: { name: 'objectId', ...fixed(12), describe: (value) => json(value.toString('hex')) },
  8: { name: 'bool', ...fixed(1), describe: (value) => String(value[0] !== 0) },
  9: { name: 'date', ...fixed(8), describe: (value) => describeDate(value.readBigInt64LE(0)) },
  10: { name: 'null', ...fixed(0), describe: () => 'null' },
  11: { name: 'regex', least: 2, size: patternSize, describe: (value) => json(patternOf(value)) },
  12: {
    ...{ name: 'dbPointer', least: 17, size: (bytes, at) => 12 + stringSize(bytes, at) },
    describe: (value) =>
      `{"ref":${json(textOf(value.subarray(4, -13)))},"id":${json(value.subarray(-12).toString('hex'))}}`,
  },
  13: { name: 'javascript', ...string },
  14: { name: 'symbol', ...string },
  15: { name: 'javascriptWithScope', ...framed(14), describe: describeScoped },
  16: { name: 'int', ...fixed(4), describe: (value) => String(value.readInt32LE(0)) },
  17: {
    ...{ name: 'timestamp', ...fixed(8) },
    describe: (value) => `{"t":${value.readUInt32LE(4)},"i":${value.readUInt32LE(0)}}`,
  },
  18: { name: 'long', ...fixed(8), describe: (value) => String(value.readBigInt64LE(0)) },
  19: { name: 'decimal', ...fixed(16), describe: (value, parts) => json(parts.decimal(value)) },
  127: { name: 'maxKey', ...fixed(0), describe: () => '"MaxKey"' },
  255: { name: 'minKey', ...fixed(0), describe: () => '"MinKey"' },
}

/** Those that land as the text of their JSON. */
const composed: ReadonlySet<number> = new Set([3, 4, 12, 15, 17])

/** The fields of a document, in their order. Throws `RowSourceError`. */
export function* readFields(document: Buffer): Generator<BsonField> {
  const end = document.length - 1
  if (document.length < 5 || document.readInt32LE(0) !== document.length || document[end] !== 0) throw notMongo()
  for (let at = 4; at < end; ) {
    const type = document[at] ?? 0
    const known = types[type]
    const name_end = document.indexOf(0, at + 1)
    if (!known || name_end < 0 || name_end >= end) throw notMongo()
    const from = name_end + 1
    const size = from + known.least > end ? -1 : known.size(document, from)
    if (size < known.least || from + size > end) throw notMongo()
    yield { name: textOf(document.subarray(at + 1, name_end)), type, value: document.subarray(from, from + size) }
    at = from + size
  }
}

export function nameBsonType(type: number): string {
  return types[type]?.name ?? 'unknown'
}

/** The JSON of a value that is a column of its own: a text for what has parts. Throws `RowSourceError` above the limit. */
export function describeField({ name, type, value }: BsonField, decimal: DecimalReader): string {
  // The JSON of what has parts may be shorter than its bytes.
  if (!composed.has(type) && value.length > max_value_bytes + 5) throw refuseSize(name)
  const text = describeValue(type, value, decimal, 0)
  if (!composed.has(type)) return text
  if (Buffer.byteLength(text) > max_value_bytes) throw refuseSize(name)
  return json(text)
}

function refuseSize(name: string): RowSourceError {
  return new RowSourceError(`a row has a value of more than ${max_value_bytes} bytes: that of ${nameSome([name])}`)
}

function describeValue(type: number, value: Buffer, decimal: DecimalReader, depth: number): string {
  if (depth > max_depth) throw new RowSourceError(`a row has a value of more than ${max_depth} levels`)
  const parts: PartReader = {
    decimal,
    describe: (document, isList) => {
      const texts: string[] = []
      for (const part of readFields(document)) {
        const text = describeValue(part.type, part.value, decimal, depth + 1)
        texts.push(isList ? text : `${json(part.name)}:${text}`)
      }
      return isList ? `[${texts.join(',')}]` : `{${texts.join(',')}}`
    },
  }
  return types[type]?.describe(value, parts) ?? 'null'
}

/** JSON has neither infinity nor what is not a number: their names are texts. */
function describeDouble(value: number): string {
  if (!Number.isFinite(value)) return json(String(value))
  return Object.is(value, -0) ? '-0' : String(value)
}

/** An instant by ISO 8601; one that no calendar of JavaScript has is its milliseconds. */
function describeDate(milliseconds: bigint): string {
  const date = new Date(Number(milliseconds))
  return Number.isNaN(date.getTime()) ? String(milliseconds) : json(date.toISOString())
}

const uuid_kind = 4
const old_kind = 2

/** A UUID by its letters, other bytes as base64. */
function bytesOf(value: Buffer): string {
  const kind = value[4]
  const bytes = value.subarray(kind === old_kind ? 9 : 5)
  if (kind !== uuid_kind || bytes.length !== 16) return bytes.toString('base64')
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Bytes that are not text are base64. */
function textOf(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString() : bytes.toString('base64')
}

function patternSize(bytes: Buffer, at: number): number {
  const middle = bytes.indexOf(0, at)
  const end = middle < 0 ? -1 : bytes.indexOf(0, middle + 1)
  return end < 0 ? -1 : end + 1 - at
}

function patternOf(value: Buffer): string {
  const middle = value.indexOf(0)
  return `/${textOf(value.subarray(0, middle))}/${textOf(value.subarray(middle + 1, -1))}`
}

function describeScoped(value: Buffer, parts: PartReader): string {
  const size = stringSize(value, 4)
  const code = value.subarray(4, 4 + size)
  if (size < 5 || 4 + size > value.length) throw notMongo()
  return `{"code":${json(stringOf(code))},"scope":${parts.describe(value.subarray(4 + size), false)}}`
}

export function notMongo(): RowSourceError {
  return new RowSourceError('the server does not answer as a server of MongoDB does')
}
