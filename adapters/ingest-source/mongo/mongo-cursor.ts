// The documents of a collection at or above a value of one field: the server compares the values, all of which have one type.
import type { CursorType } from '../../../daemon/kernel/data/landed-dataset.ts'
import {
  type CursorValue,
  checkCursorType,
  checkCursorValue,
  type RowCursor,
  type RowPlace,
  refuseCursorType,
  refuseMissingValues,
} from '../../../daemon/shared/row-source/row-cursor.ts'
import { nameSome, RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import { type BsonField, describeField, nameBsonType, readFields } from './bson-json.ts'
import type { MongoDriver } from './driver.ts'
import type { MongoQuery, MongoSession } from './mongo-session.ts'

/** Documents that have one place. */
export type MongoRange = { readonly query: MongoQuery; readonly place: RowPlace }
export type MongoRanges = { readonly ranges: readonly MongoRange[]; readonly end: CursorValue }

/** `names`: of all types that compare with each other, as the server calls them. */
type MongoFieldType = { readonly type: CursorType; readonly names: readonly string[] }

const integer: MongoFieldType = { type: 'integer', names: ['int', 'long'] }
const types: Readonly<Record<string, MongoFieldType>> = {
  ...{ int: integer, long: integer },
  date: { type: 'timestamp', names: ['date'] },
  string: { type: 'text', names: ['string'] },
  objectId: { type: 'text', names: ['objectId'] },
}
const valueless = ['null', 'undefined']

export class FieldRange {
  readonly #session: MongoSession
  readonly #driver: MongoDriver
  readonly #collection: string
  readonly #cursor: RowCursor
  readonly #signal: AbortSignal

  constructor(session: MongoSession, driver: MongoDriver, collection: string, cursor: RowCursor, signal: AbortSignal) {
    this.#session = session
    this.#driver = driver
    this.#collection = collection
    this.#cursor = cursor
    this.#signal = signal
    // A path or an operator of a query is another thing than a field.
    if (!/^[^.$\0][^.\0]*$/.test(cursor.column))
      throw new RowSourceError(
        `the column ${nameSome([cursor.column])} cannot be the cursor: name a field of documents`,
      )
  }

  /** Undefined where no document is there. Throws `RowSourceError`. */
  async find(): Promise<MongoRanges | undefined> {
    const { column, from } = this.#cursor
    const last = await this.#first({ sort: { [column]: -1 } })
    if (!last) return undefined
    const name = this.#typeOf(last.field)
    const known = types[name]
    if (!known || !last.field) throw this.#refuse(name)
    checkCursorType(this.#cursor, known.type)
    const ofOtherType = { [column]: { $not: { $type: known.names } } }
    // A list has the types of its items too.
    const other = await this.#first({ filter: { $or: [ofOtherType, { [column]: { $type: 'array' } }] } })
    if (other) throw this.#refuse(this.#typeOf(other.field), name)
    const collation = name === 'string' ? await this.#collation() : {}
    const end = this.#valueOf(last.field, known.type)
    const upTo = this.#bound(end, name)
    const range = (condition: object, place: RowPlace): MongoRange => ({
      ...{ query: { filter: { [column]: condition }, ...collation }, place },
    })
    if (!from) return { end, ranges: [range({ $eq: upTo }, 'end'), range({ $lt: upTo }, 'between')] }
    const start = this.#bound(from, name)
    const above = await this.#first({ filter: { [column]: { $gt: start } }, ...collation })
    if (!above) return { end: from, ranges: [range({ $eq: start }, 'start')] }
    return {
      end,
      // The end comes first: without one moment, a document may leave it meanwhile.
      ranges: [
        ...[range({ $eq: upTo }, 'end'), range({ $eq: start }, 'start')],
        range({ $gt: start, $lt: upTo }, 'between'),
      ],
    }
  }

  /** The first document of a query, and its value. */
  async #first(query: MongoQuery): Promise<{ readonly field: BsonField | undefined } | undefined> {
    const { column } = this.#cursor
    const projection = column === '_id' ? { _id: 1 } : { _id: 0, [column]: 1 }
    const found = await this.#session.findOne(this.#collection, { ...query, projection }, this.#signal)
    if (!found) return undefined
    for (const field of readFields(Buffer.from(found))) if (field.name === column) return { field }
    return { field: undefined }
  }

  #typeOf(field: BsonField | undefined): string {
    return field ? nameBsonType(field.type) : 'null'
  }

  #refuse(name: string, other?: string): RowSourceError {
    if (valueless.includes(name)) return refuseMissingValues(this.#cursor)
    return refuseCursorType(this.#cursor, [name, ...(other ? [other] : [])].toSorted().join(' and '))
  }

  #valueOf(field: BsonField, type: CursorType): CursorValue {
    const json = describeField(field, () => '')
    const text = json.startsWith('"') ? String(JSON.parse(json)) : json
    const value = this.#typeOf(field) === 'objectId' ? `ObjectId(${text})` : text
    return checkCursorValue(this.#cursor, { type, value })
  }

  /** As the server compares it. Throws `RowSourceError` where the field has another type than when the cursor was stored. */
  #bound({ type, value }: CursorValue, name: string): unknown {
    if (type === 'integer') return BigInt(value)
    if (type === 'timestamp') return new Date(value)
    const [, hex] = /^ObjectId\(([0-9a-f]{24})\)$/.exec(value) ?? []
    if (name !== 'objectId') return value
    if (hex !== undefined) return new this.#driver.ObjectId(hex)
    throw new RowSourceError(
      `the cursor column ${nameSome([this.#cursor.column])} has object ids now, and had texts: begin again with another cursor_generation`,
    )
  }

  /** Texts are compared by their bytes, also in a collection with another order. Not every server knows orders. */
  async #collation(): Promise<Pick<MongoQuery, 'collation'>> {
    const options = await this.#session.readOptions(this.#collection, this.#signal)
    return options === undefined || options.collation !== undefined ? { collation: { locale: 'simple' } } : {}
  }
}
