// Reads the values of a record of Avro as texts; what is nested as JSON.
import { isUtf8 } from 'node:buffer'
import { DataFault, not_utf8 } from '../../../daemon/kernel/data/data-fault.ts'
import type { ValueType } from '../../../daemon/kernel/data/data-schema.ts'
import { formatJsonValue } from '../json-lines/json-record.ts'
import type { AvroCursor } from './avro-cursor.ts'
import { type AvroScalarType, isDecimal, scalarOf } from './avro-scalars.ts'
import type { AvroField, AvroRecord, AvroType } from './avro-schema.ts'

/** Levels of values within values. */
const max_depth = 64
/** Values of a block for each of its bytes, and besides: records, lists and maps may have values that take none. */
const [values_per_byte, more_values] = [4, 1_048_576]
/** Digits of a decimal beyond these take long to write, and are nobody's. */
const max_decimal_bytes = 64

type ValueText = string | Uint8Array | undefined

/** Reads a value, and keeps in `state` what is wrong with it, so that what follows can be read. */
type AvroReader<T> = (cursor: AvroCursor, state: ReadingState, depth: number) => T

/** The state of the reading of a block. */
export class ReadingState {
  #values_left: number
  /** Why a value of the record has no text. */
  fault: string | undefined
  /** Why the record is none of Avro, whether the value is wanted or not. */
  damage: string | undefined

  constructor(block_bytes: number) {
    this.#values_left = values_per_byte * block_bytes + more_values
  }

  /** Counts a value. */
  count(): void {
    if (--this.#values_left < 0) throw new DataFault('a block has more values than its bytes can tell apart')
  }
}

export type AvroColumn = {
  readonly name: string
  readonly stated?: ValueType
  readonly read: AvroReader<ValueText>
}

/** `separator`: joins the items of a list. `isOptional`: columns whose values are JSON where they have no text. */
export function columnsOf(
  { fields }: AvroRecord,
  separator: string,
  isOptional: (name: string) => boolean,
): AvroColumn[] {
  const compiler = new ReaderCompiler()
  return fields.map(({ name, type }) => {
    const scalar = onlyScalar(type)
    if (scalar) return { name, ...compiler.column(type, scalar) }
    const value = compiler.json(type)
    const read: AvroColumn['read'] = (cursor, state, depth) =>
      toText(value(cursor, state, depth), separator, isOptional(name), state)
    return { name, stated: { type: 'text' }, read }
  })
}

function toText(value: unknown, separator: string, isOptional: boolean, state: ReadingState): string | undefined {
  const formatted = formatJsonValue(value, separator)
  if ('text' in formatted) return formatted.text
  if (isOptional) return JSON.stringify(value)
  state.fault ??= formatted.fault
  return undefined
}

function isScalar(type: AvroType): type is AvroScalarType {
  return type.kind === 'primitive' || type.kind === 'fixed' || type.kind === 'enum'
}

function isNull(type: AvroType): boolean {
  return type.kind === 'primitive' && type.type === 'null'
}

/** The type of all values that are not null. */
function onlyScalar(type: AvroType): AvroScalarType | undefined {
  if (type.kind !== 'union') return isScalar(type) ? type : undefined
  const [only, another] = type.branches.filter((branch) => !isNull(branch))
  return only && !another && isScalar(only) ? only : undefined
}

/** Makes the reader of each type once, since types may contain themselves. */
class ReaderCompiler {
  readonly #readers = new Map<AvroType, AvroReader<unknown>>()

  column(type: AvroType, scalarType: AvroScalarType): Omit<AvroColumn, 'name'> {
    const { stated } = scalarOf(scalarType)
    const known = stated && { stated }
    const own = readText(scalarType)
    if (type.kind !== 'union') return { ...known, read: own }
    const readers = type.branches.map((branch) => (isNull(branch) ? () => undefined : own))
    return { ...known, read: (cursor, state) => chooseBranch(readers, cursor)(cursor, state) }
  }

  json(type: AvroType): AvroReader<unknown> {
    const known = this.#readers.get(type)
    if (known) return known
    const later: { read?: AvroReader<unknown> } = {}
    this.#readers.set(type, (cursor, state, depth) => {
      if (depth > max_depth) throw new DataFault('a value is nested too deeply')
      return later.read?.(cursor, state, depth)
    })
    later.read = this.#compile(type)
    return this.#readers.get(type) ?? later.read
  }

  #compile(type: AvroType): AvroReader<unknown> {
    switch (type.kind) {
      case 'record':
        return this.#record(type.fields)
      case 'array':
      case 'map':
        return type.kind === 'array' ? readList(this.json(type.items)) : readMap(this.json(type.items))
      case 'union': {
        const readers = type.branches.map((branch) => this.json(branch))
        return (cursor, state, depth) => chooseBranch(readers, cursor)(cursor, state, depth)
      }
      default:
        return readScalar(type)
    }
  }

  #record(fields: readonly AvroField[]): AvroReader<unknown> {
    const readers = fields.map(({ name, type }) => [name, this.json(type)] as const)
    return (cursor, state, depth) => {
      const values = readers.map(([name, read]) => {
        state.count()
        return [name, read(cursor, state, depth + 1)] as const
      })
      return Object.fromEntries(values)
    }
  }
}

function chooseBranch<T>(readers: readonly T[], cursor: AvroCursor): T {
  const reader = readers[cursor.count()]
  if (reader === undefined) throw new DataFault('damaged: a value is of a type that its schema does not have')
  return reader
}

function readText(type: AvroScalarType): (cursor: AvroCursor, state: ReadingState) => ValueText {
  const { read, format } = scalarOf(type)
  const isLimited = isDecimal(type)
  return (cursor, state) => {
    const stored = read(cursor)
    if (isLimited && (stored as Uint8Array).length > max_decimal_bytes) {
      state.damage ??= `a decimal of more than ${max_decimal_bytes} bytes`
      return undefined
    }
    return checkText(format(stored), state)
  }
}

function readScalar(type: AvroScalarType): AvroReader<unknown> {
  const { read, toJson } = scalarOf(type)
  if (toJson) return (cursor) => toJson(read(cursor))
  const own = readText(type)
  return (cursor, state) => {
    const text = own(cursor, state)
    return text instanceof Uint8Array ? Buffer.from(text).toString('utf8') : (text ?? null)
  }
}

/** A text of Avro is UTF-8. */
function checkText(text: ValueText, state: ReadingState): ValueText {
  if (text instanceof Uint8Array && !isUtf8(text)) state.damage ??= not_utf8
  return text
}

function readList(item: AvroReader<unknown>): AvroReader<unknown> {
  return (cursor, state, depth) => {
    const items: unknown[] = []
    eachItem(cursor, state, () => items.push(item(cursor, state, depth + 1)))
    return items
  }
}

function readMap(item: AvroReader<unknown>): AvroReader<unknown> {
  return (cursor, state, depth) => {
    const items = new Map<string, unknown>()
    eachItem(cursor, state, () => {
      const bytes = cursor.bytes()
      checkText(bytes, state)
      const name = Buffer.from(bytes).toString('utf8')
      if (items.has(name)) state.damage ??= 'a map with a name twice'
      items.set(name, item(cursor, state, depth + 1))
    })
    return Object.fromEntries(items)
  }
}

/** Lists are in blocks: each has a count, negative where the bytes of the block follow; 0 is the end. */
function eachItem(cursor: AvroCursor, state: ReadingState, take: () => void): void {
  for (let count = cursor.count(); count !== 0; count = cursor.count()) {
    if (count < 0) cursor.count()
    for (let left = Math.abs(count); left > 0; left--) {
      state.count()
      take()
    }
  }
}
