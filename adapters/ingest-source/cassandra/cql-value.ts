// Values of Cassandra as JSON, from their bytes: with all digits of numbers.
import { isUtf8 } from 'node:buffer'
import { shortenFloat } from '../../../daemon/shared/row-source/json-row.ts'
import { max_value_bytes, nameSome, RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import { CqlReader, notCassandra } from './cql-frame.ts'

/** `parts`: of what has parts, with the names of those of a type that a user defined. */
export type CqlType = {
  readonly kind: string
  readonly parts: readonly CqlType[]
  readonly names: readonly string[]
}

const max_depth = 32
/** Of one answer, all levels together: two bytes of it are a type. */
const max_types = 100_000
/** Of a number, some 10,000 digits. */
const max_number_bytes = 4_096

const kinds: Readonly<Record<number, string>> = {
  ...{
    1: 'ascii',
    2: 'bigint',
    3: 'blob',
    4: 'boolean',
    5: 'counter',
    6: 'decimal',
    7: 'double',
    8: 'float',
    9: 'int',
  },
  ...{ 11: 'timestamp', 12: 'uuid', 13: 'text', 14: 'varint', 15: 'timeuuid', 16: 'inet', 17: 'date', 18: 'time' },
  ...{ 19: 'smallint', 20: 'tinyint', 21: 'duration' },
}
const duration_class = 'org.apache.cassandra.db.marshal.DurationType'
const vectorPattern =
  /^org\.apache\.cassandra\.db\.marshal\.VectorType\(org\.apache\.cassandra\.db\.marshal\.FloatType\s*,\s*\d{1,6}\)$/

/** Counts the types that one answer describes. */
export type TypeCount = { types: number }

/** The type of a column as a result describes it. Throws `RowSourceError`. */
export function readType(reader: CqlReader, count: TypeCount, depth = 0): CqlType {
  count.types++
  if (depth > max_depth || count.types > max_types) throw notCassandra()
  const id = reader.short()
  const part = () => readType(reader, count, depth + 1)
  const known = kinds[id]
  if (known !== undefined) return { kind: known, parts: [], names: [] }
  if (id === 0x00) return { kind: kindOfClass(reader.string()), parts: [], names: [] }
  if (id === 0x20 || id === 0x22) return { kind: 'list', parts: [part()], names: [] }
  if (id === 0x21) return { kind: 'map', parts: [part(), part()], names: [] }
  if (id === 0x31) return { kind: 'tuple', parts: Array.from({ length: reader.short() }, part), names: [] }
  if (id !== 0x30) throw notCassandra()
  reader.string()
  reader.string()
  const fields = Array.from({ length: reader.short() }, () => [reader.string(), part()] as const)
  return { kind: 'record', parts: fields.map(([, type]) => type), names: fields.map(([name]) => name) }
}

const kindOfClass = (name: string) =>
  name === duration_class ? 'duration' : vectorPattern.test(name) ? 'vector' : 'unknown'

const json = JSON.stringify
const composed: ReadonlySet<string> = new Set(['list', 'map', 'tuple', 'record', 'vector'])

/** The JSON of a column: a text for what has parts. Throws `RowSourceError` above the limit, and for types that are not read. */
export function describeColumn(name: string, type: CqlType, value: Buffer | undefined): string {
  if (value !== undefined && value.length > max_value_bytes) throw refuseSize(name)
  if (value === undefined || !composed.has(type.kind)) return describeScalar(type, value, name)
  const text = describeParts(type, value, { name, left: max_value_bytes })
  if (Buffer.byteLength(text) > max_value_bytes) throw refuseSize(name)
  return json(text)
}

function refuseSize(name: string): RowSourceError {
  return new RowSourceError(`a row has a value of more than ${max_value_bytes} bytes: that of ${nameSome([name])}`)
}

/** `left`: characters that the parts of a value may have still. Parts that it lacks have a text too, so that few bytes can be many. */
type PartBudget = { readonly name: string; left: number }

function spend(budget: PartBudget, text: string): string {
  budget.left -= text.length
  if (budget.left < 0) throw refuseSize(budget.name)
  return text
}

function describeValue(type: CqlType, value: Buffer | undefined, budget: PartBudget): string {
  if (value !== undefined && composed.has(type.kind)) return describeParts(type, value, budget)
  return spend(budget, describeScalar(type, value, budget.name))
}

function describeScalar(type: CqlType, value: Buffer | undefined, name: string): string {
  if (value === undefined) return 'null'
  const size = sizes[type.kind]
  // Empty values of old tables are none.
  if (size !== undefined && value.length === 0) return 'null'
  if (size !== undefined && value.length !== size) throw notCassandra()
  const describe = scalars[type.kind]
  if (describe) return describe(value)
  throw new RowSourceError(`the column ${nameSome([name])} has a type that is not read: name the columns to read`)
}

const sizes: Readonly<Record<string, number>> = {
  ...{ bigint: 8, counter: 8, int: 4, smallint: 2, tinyint: 1, boolean: 1, double: 8, float: 4 },
  ...{ timestamp: 8, date: 4, time: 8, uuid: 16, timeuuid: 16 },
}

const scalars: Readonly<Record<string, (value: Buffer) => string>> = {
  ascii: (value) => json(textOf(value)),
  text: (value) => json(textOf(value)),
  blob: (value) => json(value.toString('base64')),
  boolean: (value) => String(value[0] !== 0),
  bigint: (value) => String(value.readBigInt64BE()),
  counter: (value) => String(value.readBigInt64BE()),
  int: (value) => String(value.readInt32BE()),
  smallint: (value) => String(value.readInt16BE()),
  tinyint: (value) => String(value.readInt8()),
  varint: (value) => (value.length === 0 ? 'null' : String(integerOf(value))),
  decimal: (value) => (value.length === 0 ? 'null' : json(decimalOf(value))),
  double: (value) => describeDouble(value.readDoubleBE()),
  float: (value) => describeFloat(value.readFloatBE()),
  timestamp: (value) => describeInstant(value.readBigInt64BE()),
  date: (value) => describeDay(value.readUInt32BE() - 2 ** 31),
  time: (value) => json(timeOf(value.readBigInt64BE())),
  uuid: (value) => json(uuidOf(value)),
  timeuuid: (value) => json(uuidOf(value)),
  inet: (value) => (value.length === 0 ? 'null' : json(addressOf(value))),
  duration: (value) => (value.length === 0 ? 'null' : json(durationOf(value))),
}

function describeParts({ kind, parts, names }: CqlType, value: Buffer, budget: PartBudget): string {
  spend(budget, '[]')
  const reader = new CqlReader(value)
  const [first, second] = parts
  if (kind === 'vector') {
    if (value.length % 4 !== 0) throw notCassandra()
    const describe = () => spend(budget, describeFloat(reader.take(4).readFloatBE()))
    return `[${Array.from({ length: value.length / 4 }, describe).join(',')}]`
  }
  if (kind === 'list' && first)
    return `[${repeat(reader, () => describeValue(first, reader.bytes(), budget)).join(',')}]`
  if (kind === 'map' && first && second) {
    const pairs = repeat(reader, () => {
      const key = describeValue(first, reader.bytes(), budget)
      // Names of JSON are texts, whatever the keys are.
      return `${key.startsWith('"') ? key : json(key)}:${describeValue(second, reader.bytes(), budget)}`
    })
    return `{${pairs.join(',')}}`
  }
  // Parts that were added to a type later are missing in values of before.
  const values = parts.map((part) => describeValue(part, reader.left > 0 ? reader.bytes() : undefined, budget))
  if (kind === 'tuple') return `[${values.join(',')}]`
  return `{${values.map((text, at) => `${spend(budget, json(names[at]))}:${text}`).join(',')}}`
}

function repeat<T>(reader: CqlReader, read: () => T): T[] {
  const count = reader.int()
  // Each has a length of its own.
  if (count < 0 || count * 4 > reader.left) throw notCassandra()
  return Array.from({ length: count }, read)
}

/** Bytes that are not text are base64. */
function textOf(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString() : bytes.toString('base64')
}

export function integerOf(bytes: Buffer): bigint {
  if (bytes.length > max_number_bytes)
    throw new RowSourceError(`a row has a number of more than ${max_number_bytes} bytes`)
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x0${bytes.toString('hex')}`))
}

const most_zeros = 400

function decimalOf(value: Buffer): string {
  const reader = new CqlReader(value)
  const scale = reader.int()
  const unscaled = integerOf(reader.take(reader.left))
  if (scale === 0) return String(unscaled)
  if (scale < 0 || scale > most_zeros) return `${unscaled}E${-scale}`
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0')
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** JSON has neither infinity nor what is not a number: their names are texts. */
function describeDouble(value: number): string {
  if (!Number.isFinite(value)) return json(String(value))
  return Object.is(value, -0) ? '-0' : String(value)
}

/** With the fewest digits that are this number of 32 bits, of which nine are enough. */
function describeFloat(value: number): string {
  return describeDouble(Number.isFinite(value) ? shortenFloat(value) : value)
}

/** An instant by ISO 8601; one that no calendar of JavaScript has is its milliseconds. */
export function describeInstant(milliseconds: bigint): string {
  const date = new Date(Number(milliseconds))
  return Number.isNaN(date.getTime()) ? String(milliseconds) : json(date.toISOString())
}

/** `days`: since 1970. */
function describeDay(days: number): string {
  const date = new Date(days * 86_400_000)
  return Number.isNaN(date.getTime()) ? String(days) : json(date.toISOString().replace(/T.*$/, ''))
}

function timeOf(nanoseconds: bigint): string {
  const seconds = Number(nanoseconds / 1_000_000_000n)
  const parts = [seconds / 3_600, (seconds / 60) % 60, seconds % 60].map((part) =>
    String(Math.floor(part)).padStart(2, '0'),
  )
  return `${parts.join(':')}.${String(nanoseconds % 1_000_000_000n).padStart(9, '0')}`
}

function uuidOf(value: Buffer): string {
  return value.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function addressOf(value: Buffer): string {
  if (value.length === 4) return value.join('.')
  if (value.length !== 16) throw notCassandra()
  const groups = value.toString('hex').match(/.{4}/g) ?? []
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

/** Months, days and nanoseconds, as CQL writes them. */
function durationOf(value: Buffer): string {
  const reader = new CqlReader(value)
  const parts = [zigzag(readVint(reader)), zigzag(readVint(reader)), zigzag(readVint(reader))]
  const [months = 0n, days = 0n, nanoseconds = 0n] = parts.map((part) => (part < 0n ? -part : part))
  return `${parts.some((part) => part < 0n) ? '-' : ''}${months}mo${days}d${nanoseconds}ns`
}

/** The ones at the beginning of the first byte say how many follow it. */
function readVint(reader: CqlReader): bigint {
  const first = reader.take(1)[0] ?? 0
  const more = Math.clz32(~(first << 24))
  const rest = reader.take(more)
  return BigInt(`0x0${(first & (0xff >> more)).toString(16).padStart(2, '0')}${rest.toString('hex')}`)
}

const zigzag = (value: bigint) => (value >> 1n) ^ -(value & 1n)
