// One session at a server of Oracle: its address by the rule, TLS, and bounds of what it may send.
import type { Socket } from 'node:net'
import { choosePageRows } from '../../../daemon/shared/row-source/json-row.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { ServerAccess } from '../../../daemon/shared/row-source/server-access.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { CheckedConnection, waitWithin } from '../../platform/address-rule/checked-connection.ts'
import type { OracleConnection, OracleDriver } from './driver.ts'
import { describeOracleError, notOracle } from './oracle-errors.ts'

export type OracleAccess = ServerAccess & {
  readonly service_name: string
  readonly schema?: string | undefined
  readonly rule: AddressRule
}

/** To connect, with TLS and the proof of the secret. */
const connect_timeout_ms = 10_000
/** Of one page of rows as a whole. */
const answer_timeout_ms = 300_000
const close_timeout_ms = 2_000
/** The library keeps packets that nobody has requested yet: more than a page has, or than it takes to connect. */
const max_answer_bytes = 134_217_728
const max_greeting_bytes = 1_048_576
const max_listed_rows = 4_000

export type OracleRow = readonly unknown[]
export type OracleBinds = Readonly<Record<string, unknown>>

export class OracleSession {
  readonly #access: OracleAccess
  readonly #driver: OracleDriver
  readonly #checked: CheckedConnection
  #connection: OracleConnection | undefined
  #fault: RowSourceError | undefined
  #answer_bytes = 0
  #max_answer_bytes = max_greeting_bytes

  constructor(access: OracleAccess, driver: OracleDriver) {
    this.#access = access
    this.#driver = driver
    this.#checked = new CheckedConnection(access)
  }

  /** All rows of a statement whose result is small; none of one that has none. Throws as `open` does. */
  async query(sql: string, signal: AbortSignal, binds: OracleBinds = {}): Promise<readonly OracleRow[]> {
    const { rows = [] } = await this.#within(async (connection) => {
      const options = { outFormat: this.#driver.OUT_FORMAT_ARRAY, maxRows: max_listed_rows }
      return await connection.execute(sql, binds, options)
    }, signal)
    return rows
  }

  /** Rows page by page: as many as are requested, fewer at the end. Throws `RowSourceError`, and the reason of the signal, which ends the session. */
  async open(
    sql: string,
    binds: OracleBinds,
    signal: AbortSignal,
  ): Promise<(rows: number) => Promise<readonly OracleRow[]>> {
    const options = {
      ...{ outFormat: this.#driver.OUT_FORMAT_ARRAY, resultSet: true, prefetchRows: 0 },
      fetchArraySize: choosePageRows(undefined),
      fetchTypeHandler: (column: object) => this.#chooseFetch(column),
    }
    const { resultSet } = await this.#within(
      async (connection) => await connection.execute(sql, binds, options),
      signal,
    )
    if (!resultSet) throw notOracle()
    return async (rows) => await this.#within(async () => await resultSet.getRows(rows), signal)
  }

  /** Large values come with their row: their size is bounded by the statement. */
  #chooseFetch(column: { readonly dbTypeName?: string }): { readonly type: object } | undefined {
    if (column.dbTypeName === 'CLOB' || column.dbTypeName === 'NCLOB') return { type: this.#driver.STRING }
    return column.dbTypeName === 'BLOB' ? { type: this.#driver.BUFFER } : undefined
  }

  async #within<T>(work: (connection: OracleConnection) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    this.#answer_bytes = 0
    const end = () => this.#checked.destroy()
    try {
      if (this.#fault) throw this.#fault
      this.#connection ??= await waitWithin(() => this.#connect(), connect_timeout_ms, end, signal)
      const connection = this.#connection
      return await waitWithin(() => work(connection), answer_timeout_ms, end, signal)
    } catch (error) {
      signal.throwIfAborted()
      this.#fault ??= describeOracleError(error)
      this.#checked.destroy()
      throw this.#fault
    }
  }

  async #connect(): Promise<OracleConnection> {
    const { host, port, username, password, service_name, tls } = this.#access
    if (username === undefined) throw new RowSourceError('a connection to Oracle names its username')
    // It is in a descriptor, whose parts have parentheses around them.
    if (!/^[\w.$#-]{1,128}$/.test(service_name))
      throw new RowSourceError('the service name has characters that no service has')
    const stream = await this.#checked.connect(host)
    const address = `(ADDRESS=(PROTOCOL=${tls === 'off' ? 'TCP' : 'TCPS'})(HOST=${stream.remoteAddress})(PORT=${port}))`
    let isTaken = false
    const take = async () => {
      if (isTaken) throw this.#refuseRedirect()
      isTaken = true
      return stream
    }
    const connection = await this.#driver.connect(
      { take, secureAgain: () => this.#checked.secureAgain(host), watch: (each) => this.#watch(each) },
      {
        ...{ user: username, password: password ?? '' },
        connectString: `(DESCRIPTION=${address}(CONNECT_DATA=(SERVICE_NAME=${service_name})))`,
        // The names of this machine and of its user are sent otherwise.
        ...{ program: 'platform', machine: 'platform', osUser: 'platform', terminal: 'platform' },
      },
    )
    this.#max_answer_bytes = max_answer_bytes
    return connection
  }

  #refuseRedirect(): RowSourceError {
    this.#fault ??= new RowSourceError('the server leads to another address, which is not followed: name that one')
    return this.#fault
  }

  #watch(stream: Socket): void {
    stream.on('data', (chunk: Buffer) => {
      this.#answer_bytes += chunk.length
      if (this.#answer_bytes <= this.#max_answer_bytes) return
      this.#fault ??= new RowSourceError(`the server sent more than ${this.#max_answer_bytes} bytes for one answer`)
      this.#checked.destroy()
    })
  }

  async close(): Promise<void> {
    const connection = this.#connection
    const end = () => this.#checked.destroy()
    try {
      if (connection && !this.#fault)
        await waitWithin(() => connection.close(), close_timeout_ms, end, new AbortController().signal)
    } catch {
      // It is closed in any case.
    }
    end()
  }
}
