// The source of rows of PostgreSQL against each requirement, and what strangers try by it, on a real server.
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { OpenConnection } from '../../../daemon/roles/ingest/parts.ts'
import { openRowSource } from '../../../daemon/runtime/ingest/connection/open-source.ts'
import { probeConnection } from '../../../daemon/runtime/ingest/connection/probe-connection.ts'
import { type GrowingTable, growingRequirements } from '../../conformance/growing-source.ts'
import { landingRequirements, type RowSourceVariant, readTable, rowRequirements } from '../../conformance/row-source.ts'
import { people } from '../../conformance/row-source-data.ts'
import { type Postgres, postgres, postgresRequirement } from '../../support/engines/postgres.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import { findFreePorts } from '../../support/engines/server-process.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(postgresRequirement)
const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1', '127.0.0.3'], addonDir: '' }
const never = new AbortController().signal
let certificates: ServerCertificateSet
let server: Postgres
let closed_port = 0

beforeAll(async () => {
  if (!postgresRequirement.isPresent) return
  certificates = issueServerCertificates('server')
  server = await postgres(certificates.of('server'), ['host all clear 127.0.0.1/32 password'])
  await server.start()
  closed_port = (await findFreePorts(1))[0] ?? 0
  await server.sql(`CREATE ROLE reader LOGIN PASSWORD 'reader-secret'; CREATE ROLE clear LOGIN PASSWORD 'clear-secret';
    CREATE TABLE people (id integer, name text, big bigint, share double precision, born date, seen timestamp);
    CREATE TABLE wide AS SELECT repeat('w', 900000) AS text FROM generate_series(1, 64);
    CREATE TABLE huge AS SELECT repeat('h', 1048577) AS text;
    CREATE TABLE hidden (a int); GRANT SELECT ON people, wide, huge TO reader;`)
  const quote = (value: unknown) => (value === null ? 'NULL' : `'${String(value).replaceAll("'", "''")}'`)
  const rows = people.map((row) => `(${Object.values(row).map(quote).join(', ')})`)
  await server.sql(`INSERT INTO people VALUES ${rows.join(', ')}`)
}, 120_000)
afterAll(async () => {
  await server?.end()
  certificates?.dispose()
})

type Change = { readonly config?: Readonly<Record<string, string | number | undefined>>; readonly password?: string }

function connect({ config = {}, password = 'reader-secret' }: Change = {}): OpenConnection {
  const ca = readFileSync(certificates.of('server').ca, 'utf8')
  const usual = { host: '127.0.0.1', port: server.port, database: 'postgres', username: 'reader', tls: 'verify', ca }
  const all = Object.fromEntries(Object.entries({ ...usual, ...config }).filter(([, value]) => value !== undefined))
  return {
    tenant_id: 'acme',
    conn_type: 'postgres',
    config: all as OpenConnection['config'],
    secret: JSON.stringify({ password }),
  }
}

const growing: GrowingTable = {
  also: ['seen', 'born', 'big', 'price'],
  async clear() {
    await server.sql(`DROP TABLE IF EXISTS growing; CREATE TABLE growing (id numeric, at timestamp, name text, empty text, seen timestamptz, born date,
      big bigint, price numeric,
      share double precision DEFAULT 0.5, doc jsonb DEFAULT '{}', ever timestamptz DEFAULT 'infinity', day date DEFAULT '10000-01-01');
      GRANT SELECT ON growing TO reader`)
  },
  async insert(rows) {
    for (let from = 0; from < rows.length; from += 100) {
      const values = rows.slice(from, from + 100).map(({ id, at, name }) => {
        return `(${id}, '${at}', '${name}', '${at}+00', '${at}', '${id}', ${id}.50)`
      })
      await server.sql(`INSERT INTO growing (id, at, name, seen, born, big, price) VALUES ${values.join(', ')}`)
    }
  },
  refused: [
    ['growing', 'empty', 'a row has no value in it'],
    ['growing', 'share', 'it has values of the type double precision'],
    ['growing', 'doc', 'it has values of the type jsonb'],
    ['growing', 'none', 'the table has no column "none"'],
    ['growing', 'ever', 'is "infinity", from which no reading can go on'],
    ['growing', 'day', 'is "10000-01-01", from which no reading can go on'],
  ],
}

function variant(): RowSourceVariant & { readonly table: string; readonly growing: GrowingTable } {
  return {
    ...{ connection: connect(), settings, table: 'people', wide: 'wide', growing },
    hidden: ['127.0.0', String(server.port), String(closed_port), 'acme', 'reader-secret', 'other-secret', 'reader'],
    huge: { table: 'huge', refusal: 'a row has a value of more than 1048576 bytes' },
    ...{ absentTable: { table: 'no "such' }, absentTableRefusal: 'has no table' },
    absentColumnRefusal: 'the table has no column',
    failing: {
      'a wrong secret': [connect({ password: 'other-secret' }), 'the server refuses the user or the secret'],
      'no secret': [connect({ password: '' }), 'the server refuses the user or the secret'],
      'no user': [connect({ config: { username: undefined } }), 'names its username'],
      'no database': [connect({ config: { database: 'none' } }), 'the server has no such database'],
      'an unknown authority': [connect({ config: { ca: undefined } }), 'no certificate that the connection trusts'],
      'another name': [connect({ config: { host: '127.0.0.3' } }), 'trusts (ERR_TLS_CERT_ALTNAME_INVALID)'],
      'no server': [connect({ config: { port: closed_port } }), 'the server did not answer (ECONNREFUSED)'],
      'a private address': [connect({ config: { host: '127.0.0.2' } }), 'does not permit the address'],
    },
    countOpen: async () =>
      Number(await server.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'platform'")),
  }
}

describe('postgres', () => {
  where.each(Object.entries(landingRequirements))('%s', (_, keep) => keep(variant()))
  where.each(Object.entries(rowRequirements))('%s', (_, keep) => keep(variant()))
  where.each(Object.entries(growingRequirements))('%s', (_, keep) => keep(variant()))
})

async function readRows(
  table: string,
  connection = connect({ config: { username: 'owner' }, password: server.password }),
) {
  return await readTable({ ...variant(), connection }, { table })
}

where('each type keeps its values exactly, whatever the settings of the server', async () => {
  await server.sql(`CREATE DOMAIN amount AS numeric(40, 10); CREATE DOMAIN due AS amount;
    CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE pair AS (n int, t text); CREATE TABLE types AS SELECT
    12.50::numeric AS price, 123456789012345678901234567890.0123456789::due AS sum, 'NaN'::numeric AS nan,
    9223372036854775807::bigint AS big, (-32768)::smallint AS small, true AS yes, NULL::boolean AS unknown,
    'NaN'::float8 AS none, '-Infinity'::float4 AS least, 0.1::float4 AS tenth, 1e300::float8 AS large,
    '2024-02-29 13:00:00.5+02'::timestamptz AS at, '2024-02-29 13:00:00.123456'::timestamp AS local,
    'infinity'::timestamptz AS ever, '0044-03-15 BC'::date AS ides, '13:00'::time AS hour, '1 day 2:00'::interval AS span,
    '\\x00ff0a'::bytea AS bytes, '{"b": 1, "a": [1e400, 9007199254740993]}'::json AS doc, '{"b": {"c": null}}'::jsonb AS docb,
    ARRAY[1, NULL, 3] AS list, ROW(1, 'a "q"')::pair AS composed, 'ok'::mood AS mood, '10.0.0.0/8'::inet AS net,
    'b3b0c5a0-0000-4000-8000-000000000001'::uuid AS id, 'a'::char(3) AS padded, e'two\\nlines'::text AS text`)
  const { lines, stated } = await readRows('types')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('"big":9223372036854775807,"small":-32768,"yes":true,"unknown":null')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    ...{
      price: '12.50',
      sum: '123456789012345678901234567890.0123456789',
      nan: 'NaN',
      none: 'NaN',
      least: '-Infinity',
    },
    ...{
      tenth: 0.1,
      large: 1e300,
      at: '2024-02-29T11:00:00.5Z',
      local: '2024-02-29T13:00:00.123456',
      ever: 'infinity',
    },
    ...{ ides: '0044-03-15 BC', hour: '13:00:00', span: 'P1DT2H', bytes: 'AP8K' },
    ...{ doc: '{"b": 1, "a": [1e400, 9007199254740993]}', docb: '{"b": {"c": null}}', list: '{1,NULL,3}' },
    ...{ composed: '(1,"a ""q""")', mood: 'ok', net: '10.0.0.0/8', padded: 'a  ', text: 'two\nlines' },
  })
  const types = Object.fromEntries((stated ?? []).map(({ name, type }) => [name, type]))
  expect(types).toMatchObject({ price: 'text', sum: 'text', big: 'int64', yes: 'boolean', doc: 'text' })
  for (const inferred of ['none', 'at', 'local', 'ides']) expect(types).not.toHaveProperty(inferred)
})

where('a name is a name, whatever it contains, and an empty table has no rows', async () => {
  const names = ['a"b', `x'; DROP TABLE people; --`, 'Ünï.code"."public', 'pg_class" --', 'Select']
  for (const name of names) await server.sql(`CREATE TABLE "${name.replaceAll('"', '""')}" ("c""d" int, "$1" text)`)
  for (const name of names) expect((await readRows(name)).lines).toEqual([])
  await server.sql(
    `INSERT INTO "a""b" VALUES (1, '$1'); CREATE SCHEMA "s""t"; CREATE TABLE "s""t"."inner" AS SELECT 2 AS two`,
  )
  expect((await readRows('a"b')).lines).toEqual(['{"c\\"d":1,"$1":"$1"}'])
  const elsewhere = connect({ config: { username: 'owner', schema: 's"t' }, password: server.password })
  expect((await readRows('inner', elsewhere)).lines).toEqual(['{"two":2}'])
  for (const name of ['pg_catalog.pg_authid', 'pg_authid', 'public.people', 'a"b" JOIN pg_authid ON true --'])
    await expect(readRows(name)).rejects.toThrow('has no table')
  expect(await server.sql('SELECT count(*) FROM people')).toBe(`${people.length}\n`)
})

where('a table that the user may not read is refused, and a view that writes changes nothing', async () => {
  await expect(readRows('hidden', connect())).rejects.toThrow('may not read the table')
  await server.sql(`CREATE TABLE written (a int); CREATE FUNCTION write() RETURNS int VOLATILE LANGUAGE sql
    AS 'INSERT INTO public.written VALUES (1) RETURNING 1'; CREATE VIEW writing AS SELECT public.write() AS a`)
  await expect(readRows('writing')).rejects.toThrow('the server could not do it (SQLSTATE 25006)')
  expect(await server.sql('SELECT count(*) FROM written')).toBe('0\n')
})

where('rows are those of one moment, while others write', async () => {
  await server.sql('CREATE TABLE moving AS SELECT n FROM generate_series(1, 5000) n')
  const source = await openRowSource(
    connect({ config: { username: 'owner' }, password: server.password }),
    settings,
    '',
  )
  let sum = 0
  let blocks = 0
  for await (const block of source.rows({ table: 'moving' }, never)) {
    if (blocks++ === 0) await server.sql('DELETE FROM moving; INSERT INTO moving VALUES (1)')
    sum += block.length
  }
  await source.close()
  expect([sum, await server.sql('SELECT count(*) FROM moving')]).toEqual([5_000, '1\n'])
})

where('without TLS the secret is never sent as it is, and TLS that is missing is not gone without', async () => {
  const clear = { username: 'clear', tls: 'off', ca: undefined } as const
  const probe = (change: Change, more = {}) =>
    probeConnection({ ...settings, ...more, probe: true, connection: connect(change) })
  const refused = { ok: false, detail: expect.stringContaining('the server requests the secret as it is') }
  expect(await probe({ config: clear, password: 'clear-secret' })).toEqual(refused)
  expect(
    await probe({
      config: { ...clear, tls: 'verify', ca: readFileSync(certificates.of('server').ca, 'utf8') },
      password: 'clear-secret',
    }),
  ).toMatchObject({ ok: true })
  expect(await probe({ config: { tls: 'off' } })).toMatchObject({ ok: true })
  const received: Buffer[] = []
  // Answers the request for TLS with no, and each start with a request for the password as it is.
  const hostile = await listen(received, (data) =>
    data.length === 8 ? Buffer.from('N') : Buffer.from('5200000008' + '00000003', 'hex'),
  )
  try {
    const port = (hostile.address() as { port: number }).port
    expect(await probe({ config: { port } })).toEqual({
      ok: false,
      detail: expect.stringContaining('the server offers no TLS'),
    })
    expect(await probe({ config: { port, tls: 'off' } })).toEqual(refused)
    expect(received.length).toBeGreaterThan(1)
    expect(Buffer.concat(received).toString('latin1')).not.toContain('reader-secret')
  } finally {
    hostile.close()
  }
})

async function listen(received: Buffer[], answer: (data: Buffer) => Buffer): Promise<Server> {
  const hostile = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (data) => {
      received.push(data)
      socket.write(answer(data))
    })
  })
  await new Promise<void>((done) => void hostile.listen(0, '127.0.0.1', done))
  return hostile
}
