// One session at a server of MySQL or MariaDB: its address by the rule, TLS, and time limits of both sides.
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import type { Connection, FieldPacket } from 'mysql2'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { ServerAccess } from '../../../daemon/shared/row-source/server-access.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { checkedSocket } from '../../platform/address-rule/checked-socket.ts'
import type { MysqlDriver } from './driver.ts'
import { describeMysqlError, notMysql } from './mysql-errors.ts'

export type MysqlAccess = ServerAccess & {
  readonly database: string
  readonly rule: AddressRule
}

/** Of a value, as the server sends it. */
export type MysqlValue = Buffer | null
export type MysqlField = FieldPacket

/** To connect, with TLS and the proof of the secret. */
const connect_timeout_ms = 10_000
/** Without a byte of the server. */
const idle_timeout_ms = 300_000
const close_timeout_ms = 2_000
const packet_header_bytes = 4
/** Rows that are parsed and not yet requested: few, since each may be large. */
const buffered_rows = 16
/** Without a row: more than any row that is read. The library keeps a packet of any length, and columns of any number. */
const max_unread_bytes = 33_554_432
/** Before the session is there. */
const max_greeting_bytes = 262_144
/** Of statements whose result is small. */
const max_listed_rows = 10_000

/** Parts of a connection that its types leave out. */
type ConnectionParts = {
  stream: Socket
  /** `length`: of the packet that is parsed, without its header. */
  readonly packetParser: { readonly length: number; execute(data: Buffer): void }
  startTLS(onSecure: (error?: Error) => void): void
}

export class MysqlSession {
  readonly #access: MysqlAccess
  readonly #driver: MysqlDriver
  #connection: Connection | undefined
  #socket: Socket | undefined
  #rows: Readable | undefined
  #fault: unknown
  #unread_bytes = 0
  #max_unread_bytes = max_greeting_bytes

  constructor(access: MysqlAccess, driver: MysqlDriver) {
    this.#access = access
    this.#driver = driver
  }

  /** All rows of a statement whose result is small. Throws as `stream` does. */
  async query(sql: string, signal: AbortSignal): Promise<readonly (readonly MysqlValue[])[]> {
    const rows: (readonly MysqlValue[])[] = []
    for await (const row of this.#read(sql, undefined, signal)) {
      rows.push(row)
      if (rows.length > max_listed_rows) throw notMysql()
    }
    return rows
  }

  /**
   * Rows as they arrive; the server waits while nobody requests one. Throws `RowSourceError`, and the reason of the signal,
   * which ends the session, as leaving the rows does.
   */
  stream(
    sql: string,
    onFields: (fields: readonly MysqlField[]) => void,
    signal: AbortSignal,
  ): AsyncGenerator<readonly MysqlValue[]> {
    return this.#read(sql, onFields, signal)
  }

  /** `onFields`: absent for a small result, all of whose rows are kept. */
  async *#read(
    sql: string,
    onFields: ((fields: readonly MysqlField[]) => void) | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<readonly MysqlValue[]> {
    signal.throwIfAborted()
    const abort = () => this.#fail(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    let hasEnded = false
    try {
      if (this.#fault !== undefined) throw this.#fault
      this.#connection ??= this.#connect()
      this.#unread_bytes = 0
      // A value is read as its bytes, by no rule of the library.
      const query = this.#connection.query({ sql, rowsAsArray: true, typeCast: false })
      this.#rows = query.stream({ highWaterMark: buffered_rows })
      if (onFields) {
        query.on('fields', (fields: readonly MysqlField[] | undefined) => fields && onFields(fields))
        query.on('result', () => {
          this.#unread_bytes = 0
        })
      }
      for await (const row of this.#rows) if (Array.isArray(row)) yield row as readonly MysqlValue[]
      hasEnded = true
    } catch (error) {
      hasEnded = true
      signal.throwIfAborted()
      const fault = this.#fault ?? error
      const described = fault instanceof RowSourceError ? fault : describeMysqlError(fault)
      // Nothing is known of the session after an error.
      this.#fail(described)
      throw described
    } finally {
      signal.removeEventListener('abort', abort)
      // The server would send the rest before it takes another statement.
      if (!hasEnded) this.#fail(new Error('the rows were left'))
    }
  }

  /** The library leaves rows without an end where their connection is lost. */
  #fail(fault: unknown): void {
    this.#fault ??= fault
    this.#rows?.destroy(fault instanceof Error ? fault : new Error('the session has ended'))
    this.#socket?.destroy()
  }

  #connect(): Connection {
    const { host, port, database, username, password, tls, rule } = this.#access
    if (username === undefined) throw new RowSourceError('a connection to MySQL names its username')
    const socket = checkedSocket(rule)
    this.#socket = socket
    const { authPlugins, createConnection } = this.#driver
    const refuse = { onServerPublicKey: refuseKey }
    const connection = createConnection({
      ...{ host, port, database, user: username, password: password ?? '', stream: () => socket },
      ...{ charset: 'utf8mb4', connectTimeout: connect_timeout_ms, disableEval: true, multipleStatements: false },
      ...(tls === 'off' ? {} : { ssl: { rejectUnauthorized: true } }),
      // Files of this machine are for no server.
      flags: ['-LOCAL_FILES'],
      // Without TLS the secret is sent by the key of a server only where that is proven, which nothing here does.
      authPlugins: {
        caching_sha2_password: authPlugins.caching_sha2_password(refuse),
        ...(tls === 'off' ? { sha256_password: authPlugins.sha256_password(refuse) } : {}),
      },
    })
    connection.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the connection is lost')))
    const parts = connection as unknown as ConnectionParts
    parts.startTLS = (onSecure) => this.#startTls(parts, onSecure)
    this.#listen(socket, parts)
    // The library writes a line to the log of the service for each.
    connection.on('warn', () => {
      throw notMysql()
    })
    connection.once('connect', () => {
      this.#max_unread_bytes = max_unread_bytes
    })
    socket.setTimeout(idle_timeout_ms, () => socket.destroy(new Error('no answer')))
    socket.connect(port, host)
    return connection
  }

  /** The library compares no address with the certificate; this checks a name and an address alike. */
  #startTls(parts: ConnectionParts, onSecure: (error?: Error) => void): void {
    const { host, ca } = this.#access
    const plain = parts.stream
    // After its greeting a server waits for TLS: what comes with it is of somebody between, and would be taken for an answer.
    if (this.#unread_bytes !== parts.packetParser.length + packet_header_bytes) throw notMysql()
    const secure = connectTls({
      ...{ socket: plain, host, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) },
      ...(/^[0-9.]+$|:/.test(host) ? {} : { servername: host }),
    })
    let isSecure = false
    secure.once('secureConnect', () => {
      isSecure = true
      onSecure()
    })
    secure.on('error', (error) => {
      // Recorded here, since the library gives it another code.
      this.#fault ??= describeMysqlError(error)
      if (isSecure) plain.destroy(error)
      else onSecure(error)
    })
    plain.removeAllListeners('data')
    this.#listen(secure, parts)
    parts.stream = secure
  }

  #listen(stream: Socket, { packetParser }: ConnectionParts): void {
    stream.removeAllListeners('data')
    stream.on('data', (chunk: Buffer) => {
      this.#unread_bytes += chunk.length
      try {
        if (this.#unread_bytes > this.#max_unread_bytes)
          throw new RowSourceError(`the server sent more than ${this.#max_unread_bytes} bytes without a row`)
        packetParser.execute(chunk)
      } catch (error) {
        this.#fail(error instanceof RowSourceError ? error : notMysql())
      }
    })
  }

  async close(): Promise<void> {
    const connection = this.#connection
    if (connection && this.#fault === undefined) await endWithin(connection, close_timeout_ms)
    this.#socket?.destroy()
  }
}

function refuseKey(): never {
  throw Object.assign(new Error('a key of the server for the secret'), { code: 'OPEN_SECRET' })
}

async function endWithin(connection: Connection, limit_ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, limit_ms)
  connection.end(() => resolve())
  await promise
  clearTimeout(timer)
}
