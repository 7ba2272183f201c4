// A session at the servers of a connection to MongoDB: which of them is read, and time limits of each request.
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { refused_user } from '../../../daemon/shared/row-source/connection-failure.ts'
import { choosePageRows } from '../../../daemon/shared/row-source/json-row.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import { notMongo } from './bson-json.ts'
import type { MongoConnection, MongoDriver } from './driver.ts'
import { connect_timeout_ms, type MongoAccess, MongoLink, within } from './mongo-connection.ts'

/** Of one answer as a whole. */
const answer_timeout_ms = 300_000
const close_timeout_ms = 2_000
/** MongoDB 5.0, the first one that reads one moment outside of transactions. */
const moment_wire_version = 13

export type MongoAnswer = Readonly<Record<string, unknown>>

/** Fields of `find`. */
export type MongoQuery = {
  readonly filter?: object
  readonly projection?: object
  readonly sort?: object
  readonly limit?: number
  readonly collation?: object
}

const most_names = 20
const cursorId = z.union([z.bigint(), z.int().transform((id) => BigInt(id))])
const collection = z.looseObject({ name: z.string(), options: z.looseObject({}).optional() })
const listing = z.looseObject({ cursor: z.looseObject({ id: cursorId, firstBatch: z.array(collection) }) })
const documents = z.array(z.instanceof(Uint8Array))
const page = z.looseObject({
  cursor: z.looseObject({
    id: cursorId,
    firstBatch: documents.optional(),
    nextBatch: documents.optional(),
    atClusterTime: z.unknown().optional(),
  }),
})

export class MongoSession {
  readonly #access: MongoAccess
  readonly #driver: MongoDriver
  readonly #lsid: object
  #connection: MongoConnection | undefined
  /** Of the first answer with documents: all others are of it, where the server keeps one. */
  #moment: unknown
  #readsMoment = false

  constructor(access: MongoAccess, driver: MongoDriver) {
    this.#access = access
    this.#driver = driver
    this.#lsid = { id: new driver.Binary(randomBytes(16), 4) }
  }

  /** The answer to a command. Throws `RowSourceError`, and the reason of the signal, which ends the session. */
  async command(body: object, signal: AbortSignal, raw?: 'firstBatch' | 'nextBatch'): Promise<MongoAnswer> {
    signal.throwIfAborted()
    this.#connection ??= await this.#open(signal)
    const connection = this.#connection
    const options = { directConnection: true, useBigInt64: true, ...(raw && { raw: true, documentsReturnedIn: raw }) }
    const database = this.#driver.ns(`${this.#access.database}.$cmd`)
    const send = () => connection.command(database, body, options)
    return await within(send, answer_timeout_ms, () => connection.destroy(), signal)
  }

  /** The documents of a query as bytes, in pages of bounded size: the next one is read when it is requested. */
  async *find(collection: string, query: MongoQuery, signal: AbortSignal): AsyncGenerator<readonly Uint8Array[]> {
    let size = choosePageRows(undefined)
    let read = await this.#page({ find: collection, ...query, batchSize: size }, 'firstBatch', size, signal)
    try {
      for (;;) {
        yield read.rows
        signal.throwIfAborted()
        if (read.id === 0n) return
        const characters = read.rows.reduce((sum, { length }) => sum + length, 0)
        size = choosePageRows({ rows: read.rows.length, characters })
        read = await this.#page({ getMore: read.id, collection, batchSize: size }, 'nextBatch', size, signal)
      }
    } finally {
      const ofSession = this.#readsMoment ? { lsid: this.#lsid } : {}
      if (read.id !== 0n) await this.#release({ killCursors: collection, cursors: [read.id], ...ofSession })
    }
  }

  /** The first document of a query. */
  async findOne(collection: string, query: MongoQuery, signal: AbortSignal): Promise<Uint8Array | undefined> {
    for await (const [found] of this.find(collection, { ...query, limit: 1 }, signal)) return found
    return undefined
  }

  /** The options of a collection or view; undefined where the user may not see them. */
  async readOptions(collection: string, signal: AbortSignal): Promise<MongoAnswer | undefined> {
    try {
      const answer = await this.command({ listCollections: 1, filter: { name: collection } }, signal)
      return listing.parse(answer).cursor.firstBatch[0]?.options ?? {}
    } catch (error) {
      if (error instanceof RowSourceError && !error.isFinal) throw error
      signal.throwIfAborted()
      return undefined
    }
  }

  /** Names of collections and views that the user may read, some of them. */
  async listNames(filter: object, signal: AbortSignal): Promise<readonly string[]> {
    const body = { listCollections: 1, nameOnly: true, authorizedCollections: true, filter }
    const answer = await this.command({ ...body, cursor: { batchSize: most_names } }, signal)
    const listed = listing.safeParse(answer)
    if (!listed.success) throw notMongo()
    const { id, firstBatch } = listed.data.cursor
    if (id !== 0n) await this.#release({ killCursors: '$cmd.listCollections', cursors: [id] })
    return firstBatch.map(({ name }) => name)
  }

  async #page(body: object, name: 'firstBatch' | 'nextBatch', most: number, signal: AbortSignal) {
    const isFirst = name === 'firstBatch'
    this.#connection ??= await this.#open(signal)
    const answer = await this.command({ ...body, ...this.#concern(isFirst) }, signal, name)
    const parsed = page.safeParse(answer)
    const rows = parsed.data?.cursor[name]
    if (!parsed.success || !rows || rows.length > most) throw notMongo()
    this.#moment ??= parsed.data.cursor.atClusterTime
    return { id: parsed.data.cursor.id, rows }
  }

  /** Fields of requests to replicas: those that read one moment, or else what most of them have. */
  #concern(isFirst: boolean): object {
    const { setName, msg, maxWireVersion } = this.#connection?.hello ?? {}
    if (setName === undefined && msg !== 'isdbgrid') return {}
    if (Number(maxWireVersion) < moment_wire_version) return isFirst ? { readConcern: { level: 'majority' } } : {}
    this.#readsMoment = true
    const moment = this.#moment === undefined ? {} : { atClusterTime: this.#moment }
    return { lsid: this.#lsid, ...(isFirst && { readConcern: { level: 'snapshot', ...moment } }) }
  }

  /** To the first of the hosts that takes writes or leads to others, or else the first other one that has the data. */
  async #open(signal: AbortSignal): Promise<MongoConnection> {
    const { hosts, username, password } = this.#access
    if (username === undefined && password !== undefined)
      throw new RowSourceError('a connection to MongoDB with a password names its username')
    if (username !== undefined && password === undefined) throw new RowSourceError(refused_user)
    let second: MongoConnection | undefined
    let failure: unknown
    for (const host of hosts) {
      const link = new MongoLink(this.#access, this.#driver)
      try {
        const connection = await within(
          () => link.connect(host),
          connect_timeout_ms,
          () => link.destroy(),
          signal,
        )
        if (this.#isPrimary(connection.hello ?? {})) {
          second?.destroy()
          return connection
        }
        if (second) link.destroy()
        second ??= connection
      } catch (error) {
        link.destroy()
        failure = error
        // The next one would get the same secret, after one that is not what the connection says.
        if (signal.aborted || !(error instanceof RowSourceError) || error.isFinal) {
          second?.destroy()
          throw error
        }
      }
    }
    if (second) return second
    throw failure ?? new RowSourceError('a connection to MongoDB names its hosts')
  }

  /** Throws `RowSourceError` where the server is not to be read. */
  #isPrimary({ setName, isWritablePrimary, secondary, arbiterOnly }: MongoAnswer): boolean {
    const { replica_set } = this.#access
    if (replica_set !== undefined && setName !== replica_set)
      throw new RowSourceError('the server is not of the replica set of the connection')
    if (isWritablePrimary === true) return true
    if (secondary === true && arbiterOnly !== true) return false
    throw new RowSourceError('the server has no data to read at present', false)
  }

  /** Tells the server that something is not needed any more, which it finds by itself later. */
  async #release(body: object): Promise<void> {
    await this.command(body, AbortSignal.timeout(close_timeout_ms)).catch(() => undefined)
  }

  async close(): Promise<void> {
    if (this.#connection && this.#readsMoment) await this.#release({ endSessions: [this.#lsid] })
    this.#connection?.destroy()
  }
}
