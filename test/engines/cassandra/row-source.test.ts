// The source of rows of Cassandra against each requirement, and what strangers try by it, on a real one.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Client, types } from 'cassandra-driver'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { OpenConnection } from '../../../daemon/roles/ingest/parts.ts'
import { probeConnection } from '../../../daemon/runtime/ingest/connection/probe-connection.ts'
import { type GrowingTable, growingRequirements } from '../../conformance/growing-source.ts'
import { landingRequirements, type RowSourceVariant, readTable, rowRequirements } from '../../conformance/row-source.ts'
import { people } from '../../conformance/row-source-data.ts'
import { type Cassandra, cassandra, cassandraRequirement } from '../../support/engines/cassandra.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import { findFreePorts } from '../../support/engines/server-process.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(cassandraRequirement)
const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1', '127.0.0.3'], addonDir: '' }
let certificates: ServerCertificateSet
let server: Cassandra
let admin: Client
let closed_port = 0

async function run(cql: string, values: readonly unknown[] = []): Promise<void> {
  await admin.execute(cql, [...values], { prepare: values.length > 0 })
}

beforeAll(async () => {
  if (!cassandraRequirement.isPresent) return
  certificates = issueServerCertificates('server')
  server = await cassandra(certificates.of('server'))
  await server.start()
  closed_port = (await findFreePorts(1))[0] ?? 0
  admin = await server.connect()
  await run("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
  await run("CREATE ROLE reader WITH PASSWORD = 'reader-secret' AND LOGIN = true")
  await run('CREATE TABLE shop.people (id int PRIMARY KEY, name text, big bigint, share double, born date, seen text)')
  await run('CREATE TABLE shop.wide (id int PRIMARY KEY, text text)')
  await run('CREATE TABLE shop.huge (id int PRIMARY KEY, text text)')
  await run('CREATE TABLE shop.hidden (id int PRIMARY KEY, text text)')
  for (const table of ['people', 'wide', 'huge']) await run(`GRANT SELECT ON shop.${table} TO reader`)
  const insert = 'INSERT INTO shop.people (id, name, big, share, born, seen) VALUES (?, ?, ?, ?, ?, ?)'
  for (const { id, name, big, share, born, seen } of people) {
    const day = born === null ? null : types.LocalDate.fromString(born)
    await run(insert, [id, name, big === null ? null : types.Long.fromString(big), share, day, seen])
  }
  for (let at = 0; at < 64; at++) await run('INSERT INTO shop.wide (id, text) VALUES (?, ?)', [at, 'w'.repeat(900_000)])
  await run('INSERT INTO shop.huge (id, text) VALUES (?, ?)', [1, 'h'.repeat(1_048_577)])
}, 180_000)
afterAll(async () => {
  await admin?.shutdown()
  await server?.end()
  certificates?.dispose()
})

type Change = { readonly config?: Readonly<Record<string, unknown>>; readonly password?: string | undefined }

function connect({ config = {}, ...change }: Change = {}): OpenConnection {
  const ca = readFileSync(certificates.of('server').ca, 'utf8')
  const place = { hosts: ['127.0.0.1'], port: server.port, keyspace: 'shop', datacenter: server.datacenter }
  const all = Object.entries({ ...place, username: 'reader', tls: 'verify', ca, ...config })
  const { password } = { password: 'reader-secret', ...change }
  return {
    tenant_id: 'acme',
    conn_type: 'cassandra',
    config: Object.fromEntries(all.filter(([, value]) => value !== undefined)) as OpenConnection['config'],
    ...(password !== undefined && { secret: JSON.stringify({ password }) }),
  }
}
const asOwner = () => connect({ config: { username: server.username }, password: server.password })

const growing: GrowingTable = {
  also: ['big', 'label'],
  async clear() {
    await run('DROP TABLE IF EXISTS shop.growing')
    await run(`CREATE TABLE shop.growing (key uuid PRIMARY KEY, id varint, at timestamp, name text, big bigint, label ascii,
      empty text, share double, day date, list list<int>)`)
    await run('GRANT SELECT ON shop.growing TO reader')
  },
  async insert(rows) {
    const insert = `INSERT INTO shop.growing (key, id, at, name, big, label, share) VALUES (?, ?, ?, ?, ?, ?, 0.5)`
    for (const { id, at, name } of rows) {
      const instant = new Date(`${at.replace(' ', 'T')}Z`)
      const label = Buffer.from(name).toString('hex')
      const values = [types.Integer.fromString(id), instant, name, types.Long.fromString(id), label]
      await run(insert, [types.Uuid.fromString(randomUUID()), ...values])
    }
  },
  refused: [
    ['growing', 'empty', 'a row has no value in it'],
    ['growing', 'share', 'it has values of the type double'],
    ['growing', 'day', 'it has values of the type date'],
    ['growing', 'list', 'it has values of the type list<int>'],
    ['growing', 'none', 'the table has no column "none"'],
    ['people', 'big', 'a row has no value in it'],
  ],
}

function variant(): RowSourceVariant & { readonly table: string; readonly growing: GrowingTable } {
  return {
    ...{ connection: connect(), settings, table: 'people', wide: 'wide', growing },
    hidden: ['127.0.0', String(server.port), String(closed_port), 'acme', 'reader-secret', 'other-secret', 'reader'],
    huge: { table: 'huge', refusal: 'a row has a value of more than 1048576 bytes: that of' },
    ...{ absentTable: { table: `no "such'` }, absentTableRefusal: 'the keyspace has no table' },
    absentColumnRefusal: 'the table has no column',
    failing: {
      'a wrong secret': [connect({ password: 'other-secret' }), 'the server refuses the user or the secret'],
      'no secret': [connect({ password: undefined }), 'the server refuses the user or the secret'],
      'no user': [connect({ config: { username: undefined } }), 'names its username'],
      'an unknown authority': [connect({ config: { ca: undefined } }), 'no certificate that the connection trusts'],
      'another name': [connect({ config: { hosts: ['127.0.0.3'] } }), 'trusts (ERR_TLS_CERT_ALTNAME_INVALID)'],
      'no server': [connect({ config: { port: closed_port } }), 'the server did not answer (ECONNREFUSED)'],
      'a private address': [connect({ config: { hosts: ['127.0.0.1', '127.0.0.2'], port: closed_port } }), 'permit'],
      'another data centre': [connect({ config: { datacenter: 'dc2' } }), 'not of the data centre of the connection'],
    },
    async countOpen() {
      const { rows } = await admin.execute(
        "SELECT count(*) AS open FROM system_views.clients WHERE username = 'reader' ALLOW FILTERING",
      )
      return Number(rows[0]?.open)
    },
  }
}

describe('cassandra', () => {
  where.each(Object.entries(landingRequirements))('%s', (_, keep) => keep(variant()))
  where.each(Object.entries(rowRequirements))('%s', (_, keep) => keep(variant()))
  where.each(Object.entries(growingRequirements))('%s', (_, keep) => keep(variant()))
})

async function readRows(table: string, connection = asOwner(), columns?: readonly string[]) {
  return await readTable({ ...variant(), connection }, { table, columns })
}

where('each type keeps its values exactly, and what has parts is a text of JSON', async () => {
  await run('CREATE TYPE shop.place (street text, number int, later text)')
  await run(`CREATE TABLE shop.types (id uuid PRIMARY KEY, stamp timeuuid, price decimal, large decimal, whole varint, bytes blob,
    address inet, wide inet, span duration, day date, hour time, at timestamp, tenth float, big double, none double, yes boolean, tiny tinyint, small smallint,
    list list<frozen<list<bigint>>>, kinds set<text>, names map<int, text>, home frozen<place>, pair tuple<int, text>, near vector<float, 2>, nothing text)`)
  await run(`INSERT INTO shop.types (id, stamp, price, large, whole, bytes, address, wide, span, day, hour, at, tenth, big, none, yes, tiny, small,
    list, kinds, names, home, pair, near) VALUES (00112233-4455-4677-8899-aabbccddeeff, 50554d6e-29bb-11e5-b345-feff819cdc9f, -12.50, 1E+30,
    -123456789012345678901234567890, 0x00ff0a, '10.0.0.1', '2001:db8::1', 1y2mo3d4h5m6s7ns, '1000-01-01', '13:00:00.000000001',
    '2024-02-29 13:00:00.500+0000', 0.1, 1e300, NaN, true, -128, -32768, [[9007199254740993], []], {'b', 'a'}, {1: 'o"ne', 2: 'two'},
    {street: 'Main', number: 5}, (7, null), [0.5, 0.1])`)
  const { lines, stated } = await readRows('types')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('"whole":-123456789012345678901234567890')
  expect(lines[0]).toContain('"tenth":0.1,')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    ...{ id: '00112233-4455-4677-8899-aabbccddeeff', stamp: '50554d6e-29bb-11e5-b345-feff819cdc9f', price: '-12.50' },
    ...{ large: '1E30', bytes: 'AP8K', address: '10.0.0.1', wide: '2001:db8::1', span: '14mo3d14706000000007ns' },
    ...{ day: '1000-01-01', hour: '13:00:00.000000001', at: '2024-02-29T13:00:00.500Z', big: 1e300, none: 'NaN' },
    ...{ yes: true, tiny: -128, small: -32_768, list: '[[9007199254740993],[]]', kinds: '["a","b"]' },
    ...{ names: '{"1":"o\\"ne","2":"two"}', home: '{"street":"Main","number":5,"later":null}', pair: '[7,null]' },
    ...{ near: '[0.5,0.1]', nothing: null },
  })
  const typesOf = Object.fromEntries((stated ?? []).map(({ name, type }) => [name, type]))
  expect(typesOf).toMatchObject({ price: 'text', tiny: 'int64', yes: 'boolean', list: 'text', id: 'text' })
  for (const inferred of ['whole', 'big', 'at', 'day', 'nothing']) expect(typesOf).not.toHaveProperty(inferred)
})

where('a name is a name, whatever it contains, and an empty table has no rows', async () => {
  await run(`CREATE TABLE shop."Odd_Name" ("a ""b'." int PRIMARY KEY, "select" text)`)
  expect((await readRows('Odd_Name')).lines).toEqual([])
  await run(`INSERT INTO shop."Odd_Name" ("a ""b'.", "select") VALUES (?, ?)`, [1, `it's "`])
  expect((await readRows('Odd_Name')).lines).toEqual([JSON.stringify({ 'a "b\'.': 1, select: `it's "` })])
  for (const name of [
    'odd_name',
    'shop.people',
    `people" WHERE id = 1 --`,
    'system.local',
    "x' OR table_name = 'people",
  ])
    await expect(readRows(name)).rejects.toThrow('the keyspace has no table')
})

where('a table that the user may not read is refused, and a view is read', async () => {
  await expect(readRows('hidden', connect())).rejects.toThrow('the user of the connection may not read the table')
  await run(`CREATE TABLE shop.orders (id int PRIMARY KEY, customer text)`)
  await run(`CREATE MATERIALIZED VIEW shop.by_customer AS SELECT customer, id FROM shop.orders
    WHERE customer IS NOT NULL AND id IS NOT NULL PRIMARY KEY (customer, id)`)
  await run(`INSERT INTO shop.orders (id, customer) VALUES (1, 'Ann')`)
  await expect.poll(async () => (await readRows('by_customer')).lines).toEqual(['{"customer":"Ann","id":1}'])
})

where(
  'without TLS it is read only where the connection says so, and the first host that answers is taken',
  async () => {
    const config = { hosts: ['127.0.0.3', '127.0.0.1'], tls: 'off', ca: undefined }
    const probe = await probeConnection({ ...settings, probe: true, connection: connect({ config }) })
    expect(probe).toEqual({ ok: true, detail: expect.stringMatching(/^a server of Cassandra \d+\.\d+$/) })
  },
)
