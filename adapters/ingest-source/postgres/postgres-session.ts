// One session at a PostgreSQL server: its address by the rule, TLS, and time limits of both sides.
import type { Client } from 'pg'
import {
  describeConnectionFailure,
  no_tls,
  open_secret,
  refused_user,
} from '../../../daemon/shared/row-source/connection-failure.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { ServerAccess } from '../../../daemon/shared/row-source/server-access.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { checkedSocket } from '../../platform/address-rule/checked-socket.ts'
import type { PostgresDriver } from './driver.ts'
import { notPostgres, PostgresGuard } from './postgres-guard.ts'

export type PostgresAccess = ServerAccess & {
  readonly database: string
  /** Default: public. */
  readonly schema?: string | undefined
  readonly rule: AddressRule
}

/** To connect, with TLS and the proof of the secret. */
const connect_timeout_ms = 10_000
/** At the server, of one page of rows; the client waits a little longer. */
const statement_timeout_ms = 300_000
const answer_timeout_ms = 310_000
/** How long a table that someone changes is waited for. */
const lock_timeout_ms = 10_000
/** After which the server ends the session of a client that is gone. */
const idle_timeout_ms = 600_000
const close_timeout_ms = 2_000

/** Parts of a client that its types leave out. */
type PostgresParts = {
  readonly connection: NodeJS.EventEmitter & { attachListeners(stream: Pick<NodeJS.EventEmitter, 'on'>): void }
}

export class PostgresSession {
  readonly #access: PostgresAccess
  readonly #driver: PostgresDriver
  #connected: Promise<Client> | undefined
  #end: () => void = () => undefined
  #hasEnded = false
  #refusal: RowSourceError | undefined
  readonly #guard = new PostgresGuard()

  constructor(access: PostgresAccess, driver: PostgresDriver) {
    this.#access = access
    this.#driver = driver
  }

  /** The texts of the values of each row. Throws `RowSourceError`, and the reason of the signal, which ends the session. */
  async query(
    text: string,
    values: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly (readonly (string | null)[])[]> {
    signal.throwIfAborted()
    const end = () => this.#end()
    signal.addEventListener('abort', end, { once: true })
    try {
      this.#connected ??= this.#connect()
      const client = await this.#connected
      this.#guard.begin()
      const result = await client.query<(string | null)[]>({ text, values: [...values], rowMode: 'array' })
      // Several results are a list.
      if (!Array.isArray(result.rows)) throw notPostgres()
      return result.rows
    } catch (error) {
      signal.throwIfAborted()
      throw this.#refusal ?? (error instanceof RowSourceError ? error : describeError(error))
    } finally {
      signal.removeEventListener('abort', end)
    }
  }

  async #connect(): Promise<Client> {
    const { host, port, database, username, password = '', tls, ca, rule } = this.#access
    if (username === undefined) throw new RowSourceError('a connection to PostgreSQL names its username')
    const socket = checkedSocket(rule)
    const client = new this.#driver.Client({
      ...{ host, port, database, user: username, application_name: 'platform' },
      // As a function: an empty text would be looked up in files of the user of the service.
      password: () => password,
      stream: () => socket,
      ssl: tls === 'off' ? false : { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) },
      ...{ connectionTimeoutMillis: connect_timeout_ms, query_timeout: answer_timeout_ms },
      ...{ statement_timeout: statement_timeout_ms, lock_timeout: lock_timeout_ms },
      idle_in_transaction_session_timeout: idle_timeout_ms,
      types: { getTypeParser: () => (value: string) => value },
    })
    this.#end = () => {
      this.#hasEnded = true
      socket.destroy()
    }
    // Errors between two queries meet the next one.
    client.on('error', () => undefined)
    const { connection } = client as unknown as PostgresParts
    this.#guardMessages(connection)
    if (tls === 'off') this.#keepPasswordClosed(connection)
    await client.connect()
    return client
  }

  /** An error of the parser of the library would end the thread. */
  #guardMessages(connection: PostgresParts['connection']): void {
    const attach = connection.attachListeners.bind(connection)
    connection.attachListeners = (stream) =>
      attach({
        on: (event, take) =>
          stream.on(event, event === 'data' ? (chunk: Buffer) => this.#takeChunk(chunk, take) : take),
      })
  }

  #takeChunk(chunk: Buffer, parse: (chunk: Buffer) => void): void {
    if (this.#refusal) return
    try {
      this.#guard.check(chunk)
      parse(chunk)
    } catch (error) {
      this.#refusal = error instanceof RowSourceError ? error : notPostgres()
      this.#end()
    }
  }

  /** Without TLS the secret is proven, and never sent as it is, whatever the server requests. */
  #keepPasswordClosed(connection: PostgresParts['connection']): void {
    connection.prependListener('authenticationCleartextPassword', () => {
      this.#refusal = new RowSourceError(open_secret)
      this.#end()
    })
  }

  async close(): Promise<void> {
    const client = await this.#connected?.catch(() => undefined)
    if (client && !this.#hasEnded) await endWithin(client, close_timeout_ms)
    this.#end()
  }
}

async function endWithin(client: Client, limit_ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, limit_ms)
  client.end().then(resolve, () => resolve())
  await promise
  clearTimeout(timer)
}

/** Messages of servers and of the library may have names, addresses and values: their codes are enough. */
function describeError(error: unknown): RowSourceError {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  if (message === 'The server does not support SSL connections') return new RowSourceError(no_tls)
  // A secret is missing, or the server does not know it either.
  if (typeof message === 'string' && message.startsWith('SASL')) return new RowSourceError(refused_user)
  if (typeof code !== 'string') return describeConnectionFailure(undefined)
  if (!/^[0-9A-Z]{5}$/.test(code) || !/\d/.test(code)) return describeConnectionFailure(code)
  const known = refusals[code]
  if (known) return new RowSourceError(known[0], known[1])
  return new RowSourceError(`the server could not do it (SQLSTATE ${code})`, !transientClasses.has(code.slice(0, 2)))
}

/** Connections, lost transactions, resources, and interventions of an operator. */
const transientClasses: ReadonlySet<string> = new Set(['08', '40', '53', '55', '57', '58'])

const refusals: Readonly<Record<string, readonly [message: string, isFinal: boolean]>> = {
  '28P01': [refused_user, true],
  '28000': [refused_user, true],
  '3D000': ['the server has no such database', true],
  '42501': ['the user of the connection may not read the table', true],
  '57014': [`the server took longer than ${statement_timeout_ms / 1_000} s for a page of rows`, false],
  '55P03': ['someone changes the table', false],
}
