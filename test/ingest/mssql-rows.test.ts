// The source of rows of SQL Server against each requirement, at a scripted server of its protocol: no real one can be installed.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { OpenConnection } from '../../daemon/roles/ingest/parts.ts'
import { type GrowingTable, growingRequirements } from '../conformance/growing-source.ts'
import { landingRequirements, type RowSourceVariant, rowRequirements } from '../conformance/row-source.ts'
import { people } from '../conformance/row-source-data.ts'
import { listenAsTds, type ScriptedTds, type TdsRequest } from '../support/engines/scripted-tds.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../support/engines/server-certificates.ts'
import { findFreePorts } from '../support/engines/server-process.ts'
import { type TableColumn, TdsTables } from '../support/engines/tds-tables.ts'
import { doneToken, errorToken, loginAckToken } from '../support/engines/tds-tokens.ts'

const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1', '127.0.0.3'], addonDir: '' }
const server = new TdsTables()
let certificates: ServerCertificateSet
let listening: ScriptedTds
let closed_port = 0

const column = (name: string, type_name: string, wire: TableColumn['wire'], max_length = 8): TableColumn => ({
  ...{ name, type_name, wire, max_length },
})
const iso = (time: string | null) => time?.replace(' ', 'T') ?? null
const text = column('text', 'nvarchar', 'max', -1)

beforeAll(async () => {
  certificates = issueServerCertificates('server')
  const { key, cert } = certificates.of('server')
  const tls = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  listening = await listenAsTds({ tls, login, batch: (sql) => server.answer(sql) }, '0.0.0.0')
  closed_port = (await findFreePorts(1))[0] ?? 0
  server.tables.set('people', {
    columns: [
      ...[column('id', 'int', 'int'), column('name', 'varchar', 'text', 200), column('big', 'bigint', 'bigint')],
      ...[column('share', 'float', 'float'), column('born', 'date', 'text'), column('seen', 'datetime2', 'text')],
    ],
    rows: people.map(({ id, name, big, share, born, seen }) => [id, name, big, share, born, iso(seen)]),
  })
  server.tables.set('wide', { columns: [text], rows: Array.from({ length: 64 }, () => ['w'.repeat(900_000)]) })
  server.tables.set('huge', { columns: [text], rows: [['h'.repeat(1_048_577)]] })
})
afterAll(() => {
  listening?.close()
  certificates?.dispose()
})

/** The secret is in the login: each byte with its halves exchanged, and turned around. */
function login({ body }: TdsRequest) {
  const of = (at: number) => body.subarray(body.readUInt16LE(at), body.readUInt16LE(at) + 2 * body.readUInt16LE(at + 2))
  const secret = Buffer.from(of(44).map((byte) => (((byte ^ 0xa5) & 0x0f) << 4) | ((byte ^ 0xa5) >> 4))).toString(
    'utf16le',
  )
  const [user, database] = [of(40).toString('utf16le'), of(68).toString('utf16le')]
  if (user !== 'reader' || secret !== 'reader-secret') return Buffer.concat([errorToken(18_456), doneToken(2)])
  return database === 'shop'
    ? Buffer.concat([loginAckToken(), doneToken()])
    : Buffer.concat([errorToken(4_060), errorToken(18_456), doneToken(2)])
}

type Change = { readonly config?: Readonly<Record<string, string | number | undefined>>; readonly password?: string }

function connect({ config = {}, password = 'reader-secret' }: Change = {}): OpenConnection {
  const ca = readFileSync(certificates.of('server').ca, 'utf8')
  const usual = { host: '127.0.0.1', port: listening.port, database: 'shop', username: 'reader', tls: 'verify', ca }
  const all = Object.fromEntries(Object.entries({ ...usual, ...config }).filter(([, value]) => value !== undefined))
  return {
    ...{ tenant_id: 'acme', conn_type: 'mssql', config: all as OpenConnection['config'] },
    secret: JSON.stringify({ password }),
  }
}

const growing: GrowingTable = {
  also: ['seen', 'born', 'big', 'price'],
  clear() {
    const columns = [
      ...[column('id', 'decimal', 'text'), column('at', 'datetime2', 'text'), column('name', 'varchar', 'text', 100)],
      ...[column('seen', 'datetimeoffset', 'text'), column('born', 'date', 'text'), column('big', 'bigint', 'bigint')],
      ...[column('price', 'numeric', 'text'), column('empty', 'text', 'max', 16), column('share', 'float', 'float')],
      ...[column('doc', 'xml', 'max', -1), column('none', 'int', 'int')],
    ]
    server.tables.set('growing', { columns, rows: [] })
  },
  insert(rows) {
    const table = server.tables.get('growing')
    for (const { id, at, name } of rows)
      table?.rows.push([id, iso(at), name, `${iso(at)}Z`, at.slice(0, 10), id, `${id}.5000`, null, 0.5, '<a/>', null])
  },
  refused: [
    ['growing', 'none', 'a row has no value in it'],
    ['growing', 'share', 'it has values of the type float'],
    ['growing', 'doc', 'it has values of the type xml'],
    ['growing', 'absent', 'the table has no column "absent"'],
  ],
}

function variant(): RowSourceVariant & { readonly table: string; readonly growing: GrowingTable } {
  return {
    ...{ connection: connect(), settings, table: 'people', wide: 'wide', growing },
    hidden: ['127.0.0', String(listening.port), String(closed_port), 'acme', 'reader-secret', 'db-host', 'reader'],
    huge: { table: 'huge', refusal: 'a row has a value of more than 1048576 bytes' },
    ...{ absentTable: { table: "no ]'such" }, absentTableRefusal: 'has no table' },
    absentColumnRefusal: 'the table has no column',
    failing: {
      'a wrong secret': [connect({ password: 'other-secret' }), 'the server refuses the user or the secret'],
      'no secret': [connect({ password: '' }), 'the server refuses the user or the secret'],
      'no user': [connect({ config: { username: undefined } }), 'names its username'],
      'no database': [connect({ config: { database: 'none' } }), 'the server has no such database'],
      'no TLS': [connect({ config: { tls: 'off', ca: undefined } }), 'takes no session without TLS'],
      'an unknown authority': [connect({ config: { ca: undefined } }), 'no certificate that the connection trusts'],
      'another name': [connect({ config: { host: '127.0.0.3' } }), 'trusts (ERR_TLS_CERT_ALTNAME_INVALID)'],
      'no server': [connect({ config: { port: closed_port } }), 'the server did not answer (ECONNREFUSED)'],
      'a private address': [connect({ config: { host: '127.0.0.2' } }), 'does not permit the address'],
    },
    countOpen: async () => listening.countOpen(),
  }
}

describe('mssql', () => {
  test.each(Object.entries(landingRequirements))('%s', (_, keep) => keep(variant()))
  test.each(Object.entries(rowRequirements))('%s', (_, keep) => keep(variant()))
  test.each(Object.entries(growingRequirements))('%s', (_, keep) => keep(variant()))
})
