// The client of Oracle in its thin mode, plain JavaScript, on sockets that it is given: a script of its own in the executable, which
// only threads that read by it load.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Socket } from 'node:net'
// @ts-expect-error The package has no types.
import oracledb from 'oracledb'
// @ts-expect-error The same.
import transport from 'oracledb/lib/thin/sqlnet/ntTcp.js'

/** What this project uses of the library. */
type OracleLibrary = {
  readonly OUT_FORMAT_ARRAY: number
  readonly STRING: object
  readonly BUFFER: object
  readonly DB_TYPE_NVARCHAR: object
  getConnection(options: OracleOptions): Promise<OracleConnection>
}
type OracleOptions = Readonly<Record<string, unknown>>
type OracleResult = {
  readonly rows?: readonly (readonly unknown[])[]
  readonly resultSet?: { getRows(most: number): Promise<readonly (readonly unknown[])[]> }
}
export type OracleConnection = {
  execute(sql: string, binds: OracleOptions, options: OracleOptions): Promise<OracleResult>
  close(): Promise<void>
}

/** Carries the packets of a session. */
type OracleTransport = {
  stream: Socket
  connStream: Socket
  connected: boolean
  connect(): Promise<void>
  renegTLS(): Promise<void>
  setupEventHandlers(): void
}

/** The sockets of one session. */
export type OracleSockets = {
  /** Rejects from the second time on: the server leads to another address. */
  take(): Promise<Socket>
  /** TLS once more on the same connection, which servers request that hand it over to another process. */
  secureAgain(): Promise<Socket>
  /** The library removes all listeners of a stream that it begins to use. */
  watch(stream: Socket): void
}

const sockets = new AsyncLocalStorage<OracleSockets>()

function requireSockets(): OracleSockets {
  const found = sockets.getStore()
  if (!found) throw new Error('the client of Oracle dials by itself')
  return found
}

function adopt(carrier: OracleTransport, stream: Socket, given: OracleSockets): void {
  carrier.stream = stream
  // The library reads the addresses of the connection from it.
  carrier.connStream = stream
  carrier.connected = true
  carrier.setupEventHandlers()
  given.watch(stream)
}

const { prototype } = transport as { readonly prototype: OracleTransport }

/** Instead of its own: no address of a descriptor, of a redirect or of a proxy is dialled. */
prototype.connect = async function (this: OracleTransport): Promise<void> {
  const given = requireSockets()
  adopt(this, await given.take(), given)
}

prototype.renegTLS = async function (this: OracleTransport): Promise<void> {
  const given = requireSockets()
  this.stream.removeAllListeners()
  adopt(this, await given.secureAgain(), given)
}

const { OUT_FORMAT_ARRAY, STRING, BUFFER, DB_TYPE_NVARCHAR, getConnection } = oracledb as OracleLibrary

export const oracleDriver = {
  ...{ OUT_FORMAT_ARRAY, STRING, BUFFER, DB_TYPE_NVARCHAR },
  async connect(given: OracleSockets, options: OracleOptions): Promise<OracleConnection> {
    return await sockets.run(given, async () => await getConnection(options))
  },
}
export type OracleDriver = typeof oracleDriver
