// One session at a server of SQL Server: its address by the rule, TLS, and bounds of what it may send.
import type { Socket } from 'node:net'
import type { Connection } from 'tedious'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { ServerAccess } from '../../../daemon/shared/row-source/server-access.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { checkedSocket } from '../../platform/address-rule/checked-socket.ts'
import type { MssqlDriver } from './driver.ts'
import { describeMssqlError, notMssql } from './mssql-errors.ts'

export type MssqlAccess = ServerAccess & {
  readonly database: string
  readonly schema?: string | undefined
  readonly rule: AddressRule
}

/** To connect, with TLS and the proof of the secret. */
const connect_timeout_ms = 10_000
/** Without a byte of the server, while one is waited for. */
const idle_timeout_ms = 300_000
/** Rows that are parsed and not yet requested: few, since each may be large. */
const buffered_rows = 16
/** Without a row: more than any row that is read. The library keeps a value of any length. */
const max_unread_bytes = 33_554_432
/** Before the session is there. The library joins what it has got for each packet. */
const max_greeting_bytes = 262_144
/** Of statements whose result is small. */
const max_listed_rows = 10_000

/** Values as the library has them, by position. */
export type MssqlRow = readonly unknown[]

type MssqlConfiguration = ConstructorParameters<MssqlDriver['Connection']>[0]

/** Parts of a connection that its types leave out. */
type TediousParts = { request: InstanceType<MssqlDriver['Request']> | undefined }

/** Rows between the parser, which is paused, and the reader. */
type RowQueue = {
  readonly rows: MssqlRow[]
  end: { readonly error: unknown } | undefined
  wake: PromiseWithResolvers<void>
}

export class MssqlSession {
  readonly #access: MssqlAccess
  readonly #driver: MssqlDriver
  #connection: Connection | undefined
  #socket: Socket | undefined
  #fault: unknown
  #login_number: number | undefined
  #unread_bytes = 0
  #max_unread_bytes = max_greeting_bytes
  #isPaused = false

  constructor(access: MssqlAccess, driver: MssqlDriver) {
    this.#access = access
    this.#driver = driver
  }

  /** All rows of a statement whose result is small. Throws as `stream` does. */
  async query(sql: string, signal: AbortSignal): Promise<readonly MssqlRow[]> {
    const rows: MssqlRow[] = []
    for await (const row of this.#read(sql, signal, true)) {
      rows.push(row)
      if (rows.length > max_listed_rows) throw notMssql()
    }
    return rows
  }

  /**
   * Rows as they arrive; the server waits while nobody requests one. Throws `RowSourceError`, and the reason of the signal,
   * which ends the session, as leaving the rows does.
   */
  stream(sql: string, signal: AbortSignal): AsyncGenerator<MssqlRow> {
    return this.#read(sql, signal, false)
  }

  /** `isSmall`: all rows are kept, so that they count together. */
  async *#read(sql: string, signal: AbortSignal, isSmall: boolean): AsyncGenerator<MssqlRow> {
    signal.throwIfAborted()
    const abort = () => this.#fail(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    let hasEnded = false
    try {
      if (this.#fault !== undefined) throw this.#fault
      this.#connection ??= await this.#connect()
      yield* this.#execute(this.#connection, sql, isSmall)
      hasEnded = true
    } catch (error) {
      hasEnded = true
      signal.throwIfAborted()
      const fault = this.#fault ?? describeMssqlError(error, this.#login_number)
      // An error of the server may have left a transaction of which nothing is known.
      this.#fail(fault)
      throw fault
    } finally {
      signal.removeEventListener('abort', abort)
      // The server would send the rest before it takes another statement.
      if (!hasEnded) this.#fail(new RowSourceError('the rows were left'))
    }
  }

  async *#execute(connection: Connection, sql: string, isSmall: boolean): AsyncGenerator<MssqlRow> {
    const queue: RowQueue = { rows: [], end: undefined, wake: Promise.withResolvers() }
    const request = new this.#driver.Request(sql, (error) => {
      queue.end = { error }
      // The library takes the end of an answer for that of its request, also of one that it has failed before.
      if (error) (connection as unknown as TediousParts).request ??= new this.#driver.Request('', () => undefined)
      queue.wake.resolve()
    })
    request.on('row', (columns: readonly { readonly value: unknown }[]) => {
      if (queue.end) return
      if (!isSmall) this.#unread_bytes = 0
      queue.rows.push(columns.map(({ value }) => value))
      this.#isPaused = queue.rows.length >= buffered_rows
      if (this.#isPaused) request.pause()
      queue.wake.resolve()
    })
    this.#unread_bytes = 0
    connection.execSqlBatch(request)
    for (;;) {
      for (let row = queue.rows.shift(); row; row = queue.rows.shift()) yield row
      if (queue.end) break
      this.#isPaused = false
      request.resume()
      await queue.wake.promise
      queue.wake = Promise.withResolvers()
    }
    if (queue.end.error) throw queue.end.error
  }

  #fail(fault: unknown): void {
    this.#fault ??= fault
    this.#connection?.close()
    this.#socket?.destroy()
  }

  async #connect(): Promise<Connection> {
    const { host, username } = this.#access
    if (username === undefined) throw new RowSourceError('a connection to SQL Server names its username')
    const connection = new this.#driver.Connection({
      server: host,
      authentication: this.#chooseAuthentication(username),
      options: this.#chooseOptions(),
    })
    this.#connection = connection
    connection.on('error', (error) => this.#fail(describeMssqlError(error, undefined)))
    connection.on('errorMessage', ({ number }: { readonly number: number }) => {
      // A database that is not there is named before the login that fails by it.
      this.#login_number ??= number
    })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    connection.connect((error) => (error ? reject(error) : resolve()))
    await promise
    this.#max_unread_bytes = max_unread_bytes
    return connection
  }

  /** A login of Windows is known by its domain, which no login of the server itself can have. */
  #chooseAuthentication(username: string): NonNullable<MssqlConfiguration['authentication']> {
    const password = this.#access.password ?? ''
    const [, domain, userName = username] = /^([^\\]+)\\(.+)$/.exec(username) ?? []
    return domain === undefined
      ? { type: 'default', options: { userName, password } }
      : { type: 'ntlm', options: { userName, password, domain } }
  }

  #chooseOptions(): NonNullable<MssqlConfiguration['options']> {
    const { port, database, tls, ca } = this.#access
    return {
      ...{ port, database, connector: () => this.#dial(), connectTimeout: connect_timeout_ms, requestTimeout: 0 },
      ...{
        encrypt: tls === 'verify',
        trustServerCertificate: false,
        cryptoCredentialsDetails: ca === undefined ? {} : { ca },
      },
      // The name of this machine is sent otherwise.
      ...{ appName: 'platform', workstationId: 'platform', maxRetriesOnTransientErrors: 0, tdsVersion: '7_4' },
    }
  }

  /** The library dials again where the server leads to another one. */
  async #dial(): Promise<Socket> {
    const { host, port, rule } = this.#access
    if (this.#socket) {
      this.#fault ??= new RowSourceError('the server leads to another server, which is not followed: name that one')
      throw this.#fault
    }
    const socket = checkedSocket(rule)
    this.#socket = socket
    socket.setTimeout(idle_timeout_ms, () => {
      if (!this.#isPaused) this.#fail(describeMssqlError({ code: 'ETIMEOUT' }, undefined))
    })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const close = () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' }))
    socket.once('connect', resolve).once('error', reject).once('close', close)
    socket.connect(port, host)
    await promise
    // An error between two listeners would end the thread.
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      this.#unread_bytes += chunk.length
      if (this.#unread_bytes > this.#max_unread_bytes)
        this.#fail(new RowSourceError(`the server sent more than ${this.#max_unread_bytes} bytes without a row`))
    })
    return socket
  }

  async close(): Promise<void> {
    this.#connection?.close()
    this.#socket?.destroy()
  }
}
