// A session at one of the hosts of a connection to Cassandra: one request at a time, within limits. No other node is dialled.
import type { Socket } from 'node:net'
import { refused_user } from '../../../daemon/shared/row-source/connection-failure.ts'
import { choosePageRows } from '../../../daemon/shared/row-source/json-row.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { ServerAccess } from '../../../daemon/shared/row-source/server-access.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { CheckedConnection, waitWithin } from '../../platform/address-rule/checked-connection.ts'
import { describeCassandraError, describeServerError } from './cassandra-errors.ts'
import {
  authFrame,
  type CqlFrame,
  type CqlQuery,
  FrameCollector,
  notCassandra,
  opcode,
  queryFrame,
  startupFrame,
} from './cql-frame.ts'
import { type CqlPage, readPage } from './cql-page.ts'

export type CassandraAccess = Omit<ServerAccess, 'host'> & {
  readonly hosts: readonly string[]
  readonly keyspace: string
  /** Only nodes of it are read. */
  readonly datacenter?: string | undefined
  readonly rule: AddressRule
}

/** To connect, with TLS and the secret. */
const connect_timeout_ms = 10_000
/** Of one page of rows as a whole. */
const answer_timeout_ms = 120_000

/** What takes the answer to the one request that is sent. */
type Waiting = { readonly resolve: (frame: CqlFrame) => void; readonly reject: (error: unknown) => void }

class CassandraLink {
  readonly checked: CheckedConnection
  #socket: Socket | undefined
  #waiting: Waiting | undefined
  #fault: unknown

  constructor(access: CassandraAccess) {
    this.checked = new CheckedConnection(access)
  }

  async connect(host: string): Promise<void> {
    const collector = new FrameCollector()
    const socket = await this.checked.connect(host)
    this.#socket = socket
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const frame of collector.add(chunk)) this.#take(frame)
      } catch (error) {
        this.#fail(error)
        socket.destroy()
      }
    })
  }

  #take(frame: CqlFrame): void {
    const waiting = this.#waiting
    // Nobody subscribes to events, and there is one answer to a request.
    if (!waiting) throw notCassandra()
    this.#waiting = undefined
    waiting.resolve(frame)
  }

  #fail(error: unknown): void {
    this.#fault ??= error
    this.#waiting?.reject(this.#fault)
    this.#waiting = undefined
  }

  async request(bytes: Buffer): Promise<CqlFrame> {
    if (this.#fault !== undefined) throw this.#fault
    const { promise, resolve, reject } = Promise.withResolvers<CqlFrame>()
    this.#waiting = { resolve, reject }
    this.#socket?.write(bytes)
    return await promise
  }
}

export class CassandraSession {
  readonly #access: CassandraAccess
  #link: CassandraLink | undefined

  constructor(access: CassandraAccess) {
    this.#access = access
  }

  /** One page of a query. Throws `RowSourceError`, and the reason of the signal, which ends the session. */
  async query(query: CqlQuery, signal: AbortSignal): Promise<CqlPage> {
    signal.throwIfAborted()
    this.#link ??= await this.#open(signal)
    const link = this.#link
    return await within(
      () => queryOf(link, query),
      answer_timeout_ms,
      () => link.checked.destroy(),
      signal,
    )
  }

  /** All pages of a query, of which each is requested when it is read: with as many rows as fit into some 2 MiB, and `most`. */
  async *pages(cql: string, signal: AbortSignal, most?: number): AsyncGenerator<CqlPage> {
    const consistency = 'local_quorum' as const
    let page_rows = choosePageRows(undefined)
    let page = await this.query({ cql, consistency, page_rows }, signal)
    for (;;) {
      const { rows, bytes: characters, page_state } = page
      yield page
      signal.throwIfAborted()
      if (!page_state) return
      page_rows = choosePageRows({ rows: rows.length, characters }, most)
      page = await this.query({ cql, consistency, page_rows, page_state }, signal)
    }
  }

  /** To the first of the hosts that answers. */
  async #open(signal: AbortSignal): Promise<CassandraLink> {
    const { hosts, username, password } = this.#access
    if (username === undefined && password !== undefined)
      throw new RowSourceError('a connection to Cassandra with a password names its username')
    let failure: unknown
    for (const host of hosts) {
      const link = new CassandraLink(this.#access)
      try {
        const end = () => link.checked.destroy()
        await within(() => this.#begin(link, host), connect_timeout_ms, end, signal)
        return link
      } catch (error) {
        link.checked.destroy()
        failure = error
        // The next one would get the same secret, after one that is not what the connection says.
        if (signal.aborted || !(error instanceof RowSourceError) || error.isFinal) throw error
      }
    }
    throw failure ?? new RowSourceError('a connection to Cassandra names its hosts')
  }

  async #begin(link: CassandraLink, host: string): Promise<void> {
    const { username, password, datacenter } = this.#access
    await link.connect(host)
    const answer = await requestOf(link, startupFrame())
    if (answer.opcode === opcode.authenticate) {
      if (username === undefined || password === undefined) throw new RowSourceError(refused_user)
      const proven = await requestOf(link, authFrame(username, password))
      if (proven.opcode !== opcode.auth_success) throw new RowSourceError(refused_user)
    } else if (answer.opcode !== opcode.ready) throw notCassandra()
    if (datacenter === undefined) return
    const { rows } = await queryOf(link, { cql: 'SELECT data_center FROM system.local', page_rows: 1 })
    if (rows[0]?.[0]?.toString() !== datacenter)
      throw new RowSourceError('the server is not of the data centre of the connection')
  }

  close(): void {
    this.#link?.checked.destroy()
  }
}

async function queryOf(link: CassandraLink, query: CqlQuery): Promise<CqlPage> {
  const page = readPage(await requestOf(link, queryFrame(query)))
  if (page.rows.length > query.page_rows) throw notCassandra()
  return page
}

/** Throws `RowSourceError` for an error of the server. */
async function requestOf(link: CassandraLink, bytes: Buffer): Promise<CqlFrame> {
  const frame = await link.request(bytes)
  if (frame.opcode === opcode.error) throw describeServerError(frame.body.int())
  return frame
}

/** Throws `RowSourceError`, and the reason of the signal. */
async function within<T>(...wait: Parameters<typeof waitWithin<T>>): Promise<T> {
  try {
    return await waitWithin(...wait)
  } catch (error) {
    wait[3].throwIfAborted()
    throw describeCassandraError(error)
  }
}
