// Documents of a collection of MongoDB, each with the fields that it has.
import { describeJsonRow } from '../../../daemon/shared/row-source/json-row.ts'
import {
  max_source_columns,
  nameSome,
  type RowRequest,
  type RowSource,
  RowSourceError,
} from '../../../daemon/shared/row-source/row-source.ts'
import { type DecimalReader, describeField, notMongo, readFields } from './bson-json.ts'
import type { MongoDriver } from './driver.ts'
import type { MongoAccess } from './mongo-connection.ts'
import { FieldRange, type MongoRange } from './mongo-cursor.ts'
import { type MongoQuery, MongoSession } from './mongo-session.ts'

const block_characters = 2_097_152
const key_column = '_id'
/** How often a greatest value that is gone before its documents are read is looked for again. */
const most_beginnings = 5

export function mongoSource(access: MongoAccess, driver: MongoDriver): RowSource {
  const session = new MongoSession(access, driver)
  const decimal: DecimalReader = (bytes) => String(new driver.Decimal128(Buffer.from(bytes)))
  let names: readonly string[] = []
  return {
    async probe(signal) {
      const { version } = await session.command({ buildInfo: 1 }, signal)
      const [number] = /^\d{1,3}\.\d{1,3}/.exec(String(version)) ?? []
      if (number === undefined) throw notMongo()
      return `a server of the protocol of MongoDB ${number}`
    },
    async *rows(request, signal) {
      names = [key_column, ...(request.columns ?? [])]
      const { table } = request
      const [found] = await session.listNames({ name: table }, signal)
      if (found !== table) {
        const known = nameSome(await session.listNames({}, signal))
        throw new RowSourceError(`the database has no collection ${nameSome([table])}: it has ${known}`)
      }
      const reader = new DocumentReader(session, request, decimal, signal)
      if (request.cursor) yield* readNew(reader, () => findRanges(session, driver, request, signal), request)
      else yield* reader.read({})
    },
    usualColumns: () => [...new Set(names)].map((name) => ({ name, type: 'text' })),
    close: () => session.close(),
  }
}

function findRanges(session: MongoSession, driver: MongoDriver, { table, cursor }: RowRequest, signal: AbortSignal) {
  return cursor && new FieldRange(session, driver, table, cursor, signal).find()
}

async function* readNew(
  reader: DocumentReader,
  find: () => ReturnType<typeof findRanges>,
  { cursor }: RowRequest,
): AsyncGenerator<readonly string[]> {
  for (let beginning = 0; beginning < most_beginnings; beginning++) {
    const found = await find()
    if (!found) return
    let hasBegun = false
    for (const range of found.ranges) {
      for await (const block of reader.read(range.query)) {
        for (const _ of block) cursor?.onRow(range.place)
        hasBegun ||= block.length > 0
        yield block
      }
      if (!hasBegun && range.place === 'end') break
    }
    if (!hasBegun && found.ranges.some(isEnd)) continue
    if (hasBegun) cursor?.onEnd(found.end)
    return
  }
  throw new RowSourceError('the collection changes faster than its greatest value can be read', false)
}

const isEnd = ({ place }: MongoRange) => place === 'end'

class DocumentReader {
  readonly #session: MongoSession
  readonly #collection: string
  readonly #wanted: ReadonlySet<string> | undefined
  readonly #decimal: DecimalReader
  readonly #signal: AbortSignal

  constructor(session: MongoSession, { table, columns }: RowRequest, decimal: DecimalReader, signal: AbortSignal) {
    this.#session = session
    this.#collection = table
    this.#wanted = columns && columns.length > 0 ? new Set([key_column, ...columns]) : undefined
    this.#decimal = decimal
    this.#signal = signal
  }

  async *read(query: MongoQuery): AsyncGenerator<readonly string[]> {
    const projected = { ...query, ...this.#projection() }
    for await (const documents of this.#session.find(this.#collection, projected, this.#signal)) {
      let block: string[] = []
      let characters = 0
      for (const document of documents) {
        const line = this.#describe(Buffer.from(document))
        block.push(line)
        characters += line.length
        if (characters < block_characters) continue
        yield block
        block = []
        characters = 0
      }
      if (block.length > 0) yield block
    }
  }

  /** A name that is a path or an operator of a projection is not one of its fields: then all are sent. */
  #projection(): Pick<MongoQuery, 'projection'> {
    const names = [...(this.#wanted ?? [])]
    if (names.length === 0 || names.some((name) => !/^[^.$\0][^.\0]*$/.test(name))) return {}
    return { projection: Object.fromEntries(names.map((name) => [name, 1])) }
  }

  #describe(document: Buffer): string {
    const fields = new Map<string, string>()
    for (const field of readFields(document)) {
      if (this.#wanted && !this.#wanted.has(field.name)) continue
      if (fields.has(field.name)) throw refuseDocument(fields, `has the field ${nameSome([field.name])} twice`)
      if (fields.size >= max_source_columns)
        throw refuseDocument(fields, `has more than ${max_source_columns} fields: name the columns to read`)
      fields.set(field.name, describeField(field, this.#decimal))
    }
    return describeJsonRow([...fields.keys()], [...fields.values()])
  }
}

function refuseDocument(fields: ReadonlyMap<string, string>, fault: string): RowSourceError {
  return new RowSourceError(`the document with the _id ${(fields.get(key_column) ?? 'none').slice(0, 64)} ${fault}`)
}
