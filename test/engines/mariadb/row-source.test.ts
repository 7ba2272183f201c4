// The source of rows of MySQL against each requirement, and what strangers try by it, on a real MariaDB.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { OpenConnection } from '../../../daemon/roles/ingest/parts.ts'
import { openRowSource } from '../../../daemon/runtime/ingest/connection/open-source.ts'
import { probeConnection } from '../../../daemon/runtime/ingest/connection/probe-connection.ts'
import { type GrowingTable, growingRequirements } from '../../conformance/growing-source.ts'
import { landingRequirements, type RowSourceVariant, readTable, rowRequirements } from '../../conformance/row-source.ts'
import { people } from '../../conformance/row-source-data.ts'
import { listenAsMysql, requestPlugin } from '../../support/engines/hostile-mysql.ts'
import { type Mariadb, mariadb, mariadbRequirement } from '../../support/engines/mariadb.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import { findFreePorts } from '../../support/engines/server-process.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(mariadbRequirement)
const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1', '127.0.0.3'], addonDir: '' }
const never = new AbortController().signal
let certificates: ServerCertificateSet
let server: Mariadb
let closed_port = 0

beforeAll(async () => {
  if (!mariadbRequirement.isPresent) return
  certificates = issueServerCertificates('server')
  server = await mariadb(certificates.of('server'))
  await server.start()
  closed_port = (await findFreePorts(1))[0] ?? 0
  await server.sql(`CREATE USER reader@'%' IDENTIFIED BY 'reader-secret';
    CREATE TABLE people (id int, name text, big bigint, share double, born date, seen datetime(6));
    CREATE TABLE wide AS SELECT repeat('w', 900000) AS text FROM seq_1_to_64;
    CREATE TABLE huge (text longtext); INSERT INTO huge VALUES (repeat('h', 1048577));
    CREATE TABLE hidden (a int); GRANT SELECT ON test.people TO reader@'%'; GRANT SELECT ON test.wide TO reader@'%';
    GRANT SELECT ON test.huge TO reader@'%'`)
  const bytesOf = (value: unknown) => `CONVERT(x'${Buffer.from(String(value)).toString('hex')}' USING utf8mb4)`
  const quote = (value: unknown) =>
    value === null ? 'NULL' : typeof value === 'number' ? String(value) : bytesOf(value)
  const rows = people.map((row) => `(${Object.values(row).map(quote).join(', ')})`)
  // A command line has a largest length.
  for (let from = 0; from < rows.length; from += 100)
    await server.sql(`INSERT INTO people VALUES ${rows.slice(from, from + 100).join(', ')}`)
}, 120_000)
afterAll(async () => {
  await server?.end()
  certificates?.dispose()
})

type Change = { readonly config?: Readonly<Record<string, string | number | undefined>>; readonly password?: string }

function connect({ config = {}, password = 'reader-secret' }: Change = {}): OpenConnection {
  const ca = readFileSync(certificates.of('server').ca, 'utf8')
  const usual = { host: '127.0.0.1', port: server.port, database: 'test', username: 'reader', tls: 'verify', ca }
  const all = Object.fromEntries(Object.entries({ ...usual, ...config }).filter(([, value]) => value !== undefined))
  return {
    tenant_id: 'acme',
    conn_type: 'mysql',
    config: all as OpenConnection['config'],
    secret: JSON.stringify({ password }),
  }
}

const growing: GrowingTable = {
  also: ['seen', 'born', 'big', 'price'],
  async clear() {
    await server.sql(`DROP TABLE IF EXISTS growing; CREATE TABLE growing (id decimal(30, 0), at datetime(6), name varchar(100)
      CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci, empty text, seen timestamp(6) NULL, born date,
      big bigint unsigned, price decimal(30, 4), share double DEFAULT 0.5, doc longtext DEFAULT '', day date DEFAULT '0000-00-00');
      GRANT SELECT ON test.growing TO reader@'%'`)
  },
  async insert(rows) {
    for (let from = 0; from < rows.length; from += 100) {
      const values = rows.slice(from, from + 100).map(({ id, at, name }) => {
        return `(${id}, '${at}', '${name}', '${at}', '${at}', '${id}', ${id}.50)`
      })
      await server.sql(`INSERT INTO growing (id, at, name, seen, born, big, price) VALUES ${values.join(', ')}`)
    }
  },
  refused: [
    ['growing', 'empty', 'a row has no value in it'],
    ['growing', 'share', 'it has values of the type double'],
    ['growing', 'doc', 'it has values of the type longtext'],
    ['growing', 'none', 'the table has no column "none"'],
    ['growing', 'day', 'is "0000-00-00", from which no reading can go on'],
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
      'no database': [
        connect({ config: { database: 'none', username: 'owner' }, password: server.password }),
        'no such database',
      ],
      'an unknown authority': [connect({ config: { ca: undefined } }), 'no certificate that the connection trusts'],
      'another name': [connect({ config: { host: '127.0.0.3' } }), 'trusts (ERR_TLS_CERT_ALTNAME_INVALID)'],
      'no server': [connect({ config: { port: closed_port } }), 'the server did not answer (ECONNREFUSED)'],
      'a private address': [connect({ config: { host: '127.0.0.2' } }), 'does not permit the address'],
    },
    countOpen: async () =>
      Number(await server.sql("SELECT count(*) FROM information_schema.PROCESSLIST WHERE USER IN ('reader', 'owner')")),
  }
}

describe('mysql', () => {
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
  await server.sql(`CREATE TABLE types (price decimal(6, 2), sum decimal(40, 10), small tinyint, large bigint unsigned, year year,
    yes bool, flag bit(9), tenth float, big double, at timestamp(6), local datetime, zero date, hour time(3), bytes blob, fixed binary(3),
    doc json, mood enum('sad', 'ok'), several set('a', 'b'), text text, nothing int);
    INSERT INTO types SELECT 12.50, 123456789012345678901234567890.0123456789, -128, 18446744073709551615, 2024, true, b'100000001', 0.1,
    1e300, '2024-02-29 22:00:00.5', '2024-02-29 13:00:00', '0000-00-00', '-26:00:00.5', x'00ff0a', x'00ff',
    '{"b": 1, "a": [1e400, 9007199254740993]}', 'ok', 'a,b', CONCAT('two', CHAR(10), 'lines'), NULL`)
  const { lines, stated } = await readRows('types')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('"small":-128,"large":18446744073709551615,"year":2024,"yes":1,"flag":257')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    ...{ price: '12.50', sum: '123456789012345678901234567890.0123456789', tenth: 0.1, big: 1e300 },
    ...{ at: '2024-02-29T13:00:00.500000Z', local: '2024-02-29T13:00:00', zero: '0000-00-00', hour: '-26:00:00.500' },
    ...{ bytes: 'AP8K', fixed: 'AP8A', doc: '{"b": 1, "a": [1e400, 9007199254740993]}', mood: 'ok', several: 'a,b' },
    ...{ text: 'two\nlines', nothing: null },
  })
  const types = Object.fromEntries((stated ?? []).map(({ name, type }) => [name, type]))
  expect(types).toMatchObject({ price: 'text', small: 'int64', nothing: 'int64', doc: 'text', bytes: 'text' })
  for (const inferred of ['large', 'big', 'at', 'local', 'zero', 'flag']) expect(types).not.toHaveProperty(inferred)
})

where('a name is a name, whatever it contains, and an empty table has no rows', async () => {
  const names = ['a`b', `x'; DROP TABLE people; --`, 'Ünï.code`.`mysql', 'back\\', 'user` --', 'select']
  for (const name of names)
    await server.sql(`CREATE TABLE \`${name.replaceAll('`', '``')}\` (\`c"\`\`d\` int, \`?\` text)`)
  for (const name of names) expect((await readRows(name)).lines).toEqual([])
  await server.sql("INSERT INTO `a``b` VALUES (1, '?')")
  expect((await readRows('a`b')).lines).toEqual(['{"c\\"`d":1,"?":"?"}'])
  for (const name of ['mysql.user', 'user', 'test.people', 'a`b` JOIN mysql.user -- '])
    await expect(readRows(name)).rejects.toThrow('has no table')
  expect(await server.sql('SELECT count(*) FROM people')).toBe(`${people.length}\n`)
})

where('a table that the user may not read is not there, and a view that writes changes nothing', async () => {
  await expect(readRows('hidden', connect())).rejects.toThrow('has no table')
  await server.sql(`CREATE TABLE written (a int);
DELIMITER //
CREATE FUNCTION note() RETURNS int MODIFIES SQL DATA BEGIN INSERT INTO written VALUES (1); RETURN 1; END //
DELIMITER ;
CREATE VIEW writing AS SELECT note() AS a`)
  await expect(readRows('writing')).rejects.toThrow('the server could not do it (error 1792)')
  expect(await server.sql('SELECT count(*) FROM written')).toBe('0\n')
})

where('rows are those of one moment, while others write', async () => {
  await server.sql("CREATE TABLE moving ENGINE = InnoDB AS SELECT seq, repeat('m', 1000) AS text FROM seq_1_to_20000")
  const source = await openRowSource(
    connect({ config: { username: 'owner' }, password: server.password }),
    settings,
    '',
  )
  let [sum, blocks] = [0, 0]
  for await (const block of source.rows({ table: 'moving' }, never)) {
    if (blocks++ === 0) await server.sql('DELETE FROM moving WHERE seq > 1')
    sum += block.length
  }
  await source.close()
  expect([sum, await server.sql('SELECT count(*) FROM moving')]).toEqual([20_000, '1\n'])
})

where('a server gets neither files of this machine nor the secret without TLS, whatever it requests', async () => {
  const probe = (change: Change) => probeConnection({ ...settings, probe: true, connection: connect(change) })
  expect(await probe({ config: { tls: 'off', ca: undefined } })).toMatchObject({ ok: true })
  const key = Buffer.from('\x01-----BEGIN PUBLIC KEY-----')
  const requests: readonly (readonly Buffer[])[] = [
    [requestPlugin('mysql_clear_password')],
    [requestPlugin('sha256_password'), key],
    [requestPlugin('caching_sha2_password'), Buffer.from([1, 4]), key],
  ]
  for (const replies of requests) {
    const hostile = await listenAsMysql(replies)
    try {
      const off = await probe({ config: { port: hostile.port, tls: 'off', ca: undefined } })
      expect(off).toEqual({ ok: false, detail: expect.stringContaining('the server requests the secret as it is') })
      const on = await probe({ config: { port: hostile.port } })
      expect(on).toEqual({ ok: false, detail: expect.stringContaining('the server offers no TLS') })
      expect(hostile.received()).not.toContain('reader-secret')
    } finally {
      hostile.close()
    }
  }
  const done = Buffer.from([0, 0, 0, 2, 0, 0, 0])
  const hostile = await listenAsMysql([done, Buffer.from(`\xfb${certificates.of('server').key}`, 'latin1'), done])
  try {
    expect(await probe({ config: { port: hostile.port, tls: 'off', ca: undefined } })).toMatchObject({ ok: false })
    expect(hostile.received()).toContain('VERSION()')
    expect(hostile.received()).not.toContain('PRIVATE KEY')
  } finally {
    hostile.close()
  }
})
