// The source of rows of MongoDB against each requirement, and what strangers try by it, on a real FerretDB.
import { readFileSync } from 'node:fs'
import { Binary, type Collection, Double, Int32, Long, type MongoClient, ObjectId, Timestamp } from 'mongodb'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { OpenConnection } from '../../../daemon/roles/ingest/parts.ts'
import { probeConnection } from '../../../daemon/runtime/ingest/connection/probe-connection.ts'
import { type GrowingTable, growingRequirements } from '../../conformance/growing-source.ts'
import {
  landingRequirements,
  type RowSourceVariant,
  readTable,
  rowRequirements,
  withSource,
} from '../../conformance/row-source.ts'
import { people } from '../../conformance/row-source-data.ts'
import { type Ferretdb, ferretdb, ferretdbRequirement } from '../../support/engines/ferretdb.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import { findFreePorts } from '../../support/engines/server-process.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(ferretdbRequirement)
const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1', '127.0.0.3'], addonDir: '' }
const never = new AbortController().signal
let certificates: ServerCertificateSet
let server: Ferretdb
let admin: MongoClient
let closed_port = 0

const documents = (name: string): Collection => admin.db('shop').collection(name)

beforeAll(async () => {
  if (!ferretdbRequirement.isPresent) return
  certificates = issueServerCertificates('server')
  server = await ferretdb(certificates.of('server'))
  await server.start()
  closed_port = (await findFreePorts(1))[0] ?? 0
  admin = await server.connect()
  await admin.db('users').command({ createUser: 'reader', pwd: 'reader-secret', roles: [] })
  await documents('people').insertMany(
    people.map(({ id, big, share, ...row }) => {
      const numbers = {
        big: big === null ? null : Long.fromString(big),
        share: share === null ? null : new Double(share),
      }
      return { id: new Int32(id), ...row, ...numbers }
    }),
  )
  for (let at = 0; at < 64; at++) await documents('wide').insertOne({ text: 'w'.repeat(900_000) })
  await documents('huge').insertOne({ text: 'h'.repeat(1_048_577) })
}, 120_000)
afterAll(async () => {
  await admin?.close()
  await server?.end()
  certificates?.dispose()
})

type Change = { readonly config?: Readonly<Record<string, unknown>>; readonly password?: string | undefined }

function connect({ config = {}, ...change }: Change = {}): OpenConnection {
  const ca = readFileSync(certificates.of('server').ca, 'utf8')
  const place = { hosts: ['127.0.0.1'], port: server.port, database: 'shop' }
  const usual = { ...place, username: 'reader', auth_database: 'users', tls: 'verify', ca }
  const all = Object.entries({ ...usual, ...config }).filter(([, value]) => value !== undefined)
  const { password } = { password: 'reader-secret', ...change }
  return {
    ...{ tenant_id: 'acme', conn_type: 'mongo', config: Object.fromEntries(all) as OpenConnection['config'] },
    ...(password !== undefined && { secret: JSON.stringify({ password }) }),
  }
}

const growing: GrowingTable = {
  also: ['oid', 'number'],
  async clear() {
    await documents('growing').drop()
    await admin.db('shop').createCollection('growing')
  },
  async insert(rows) {
    const documentOf = ({ id, at, name }: (typeof rows)[number]) => ({
      ...{ id: Long.fromString(id), at: new Date(`${at.replace(' ', 'T')}Z`), name, share: 0.5, list: [1] },
      oid: new ObjectId(Buffer.from(id.padStart(12, '0').slice(-12))),
      // Small numbers are of another type than large ones, with which they compare.
      number: Number(id) < 2_000_000_000 ? new Int32(Number(id)) : Long.fromString(id),
    })
    await documents('growing').insertMany(rows.map(documentOf))
  },
  refused: [
    ['growing', 'share', 'it has values of the type double'],
    ['growing', 'list', 'it has values of the type array'],
    ['growing', 'none', 'a row has no value in it'],
    ['growing', 'a.b', 'name a field of documents'],
    ['people', 'big', 'a row has no value in it'],
    ['mixed', 'text_or_number', 'it has values of the type int and string'],
    ['mixed', 'list_or_number', 'it has values of the type array and int'],
    ['mixed', 'absent_once', 'a row has no value in it'],
    ['far', 'at', 'from which no reading can go on'],
  ],
}

function variant(): RowSourceVariant & { readonly table: string; readonly growing: GrowingTable } {
  return {
    ...{ connection: connect(), settings, table: 'people', wide: 'wide', growing, adds: ['_id'] },
    hidden: ['127.0.0', String(server.port), String(closed_port), 'acme', 'reader-secret', 'other-secret', 'reader'],
    huge: { table: 'huge', refusal: 'a row has a value of more than 1048576 bytes: that of' },
    ...{ absentTable: { table: 'no "such' }, absentTableRefusal: 'the database has no collection' },
    failing: {
      'a wrong secret': [connect({ password: 'other-secret' }), 'the server refuses the user or the secret'],
      'no secret': [connect({ password: undefined }), 'the server refuses the user or the secret'],
      'a user of another database': [
        connect({ config: { auth_database: undefined } }),
        'refuses the user or the secret',
      ],
      'no user': [connect({ config: { username: undefined } }), 'names its username'],
      'an unknown authority': [connect({ config: { ca: undefined } }), 'no certificate that the connection trusts'],
      'another name': [connect({ config: { hosts: ['127.0.0.3'] } }), 'trusts (ERR_TLS_CERT_ALTNAME_INVALID)'],
      'no server': [connect({ config: { port: closed_port } }), 'the server did not answer (ECONNREFUSED)'],
      'no TLS at the server': [connect({ config: { port: server.plain_port } }), 'the server did not answer'],
      'no TLS at the connection': [
        connect({ config: { tls: 'off', ca: undefined } }),
        'connection to the server is lost',
      ],
      'a private address': [connect({ config: { hosts: ['127.0.0.1', '127.0.0.2'], port: closed_port } }), 'permit'],
      'another replica set': [connect({ config: { replica_set: 'rs' } }), 'not of the replica set'],
    },
    countOpen: () => server.countOpen('shop'),
  }
}

describe('mongo', () => {
  where.each(Object.entries(landingRequirements))('%s', (_, keep) => keep(variant()))
  where.each(Object.entries(rowRequirements))('%s', (_, keep) => keep(variant()))
  where.each(Object.entries(growingRequirements))('%s', async (_, keep) => {
    await documents('mixed').drop()
    await documents('mixed').insertMany([
      { text_or_number: 'a', list_or_number: [1], absent_once: 1 },
      { text_or_number: 1, list_or_number: 2 },
    ])
    await documents('far').drop()
    await documents('far').insertOne({ at: new Date(8_640_000_000_000_000) })
    await keep(variant())
  })
})

async function readRows(table: string, columns?: readonly string[], connection = connect()): Promise<string[]> {
  return (await readTable({ ...variant(), connection }, { table, columns })).lines
}

where('each type keeps its values exactly, and what has parts is a text of JSON', async () => {
  const _id = new ObjectId('0123456789abcdef01234567')
  const values = {
    ...{ small: new Int32(-5), large: Long.fromString('9007199254740993'), whole: new Double(3), part: 0.1, yes: true },
    ...{ at: new Date('2024-02-29T13:00:00.5Z'), bytes: new Binary(Buffer.from([0, 255, 10])), nothing: null },
    ...{ uuid: new Binary(Buffer.from('00112233445566778899aabbccddeeff', 'hex'), 4), pattern: /a"b/i, other: _id },
    ...{ stamp: new Timestamp({ t: 5, i: 9 }), list: [1, 'a,b', null], part_of: { b: Long.MAX_VALUE, a: [{ c: 1 }] } },
  }
  await documents('types').insertOne({ _id, ...values })
  const [line = ''] = await readRows('types')
  expect(line).toContain('"small":-5,"large":9007199254740993,"whole":3,"part":0.1,"yes":true')
  expect(JSON.parse(line)).toMatchObject({
    ...{ _id: '0123456789abcdef01234567', at: '2024-02-29T13:00:00.500Z', bytes: 'AP8K', nothing: null },
    ...{ uuid: '00112233-4455-6677-8899-aabbccddeeff', pattern: '/a"b/i', other: '0123456789abcdef01234567' },
    ...{ stamp: '{"t":5,"i":9}', list: '[1,"a,b",null]', part_of: '{"b":9223372036854775807,"a":[{"c":1}]}' },
  })
})

where('documents have the columns that they have, and names of collections and fields are names', async () => {
  await documents('odd name, {a: 1}').insertMany([
    { _id: 1, a: 1, '': 'empty' },
    { _id: 'two', b: [] },
  ] as never[])
  expect(await readRows('odd name, {a: 1}')).toEqual(['{"_id":1,"a":1,"":"empty"}', '{"_id":"two","b":"[]"}'])
  expect(await readRows('odd name, {a: 1}', ['b', '$where'])).toEqual(['{"_id":1}', '{"_id":"two","b":"[]"}'])
  expect(await readRows('odd name, {a: 1}', ['a'])).toEqual(['{"_id":1,"a":1}', '{"_id":"two"}'])
  for (const name of ['$cmd', 'odd', 'system.users', 'shop.people', '$cmd.listCollections', ''])
    await expect(readRows(name)).rejects.toThrow('the database has no collection')
})

where('without TLS the secret is proven, and is not sent', async () => {
  const off = { port: server.plain_port, tls: 'off', ca: undefined }
  const probe = await probeConnection({ ...settings, probe: true, connection: connect({ config: off }) })
  expect(probe).toEqual({ ok: true, detail: expect.stringMatching(/^a server of the protocol of MongoDB \d+\.\d+$/) })
  expect(await readRows('people', ['id'], connect({ config: off }))).toHaveLength(people.length)
})

where('the first host that answers is read', async () => {
  const config = { hosts: ['127.0.0.3', '127.0.0.1'], port: server.plain_port, tls: 'off', ca: undefined }
  expect(await readRows('people', ['id'], connect({ config }))).toHaveLength(people.length)
})

where('a field that becomes texts after object ids is refused, and one of other types too', async () => {
  const reading = async (value: unknown, from: { readonly type: 'text' | 'integer'; readonly value: string }) => {
    await documents('changed').drop()
    await documents('changed').insertOne({ key: value })
    return await withSource(variant(), async (source) => {
      const cursor = { column: 'key', from, onRow: () => undefined, onEnd: () => undefined }
      const lines: string[] = []
      for await (const block of source.rows({ table: 'changed', cursor }, never)) lines.push(...block)
      return lines.length
    })
  }
  const text = { type: 'text', value: 'a' } as const
  expect(await reading('b', text)).toBe(1)
  await expect(reading(new ObjectId(), text)).rejects.toThrow('has object ids now, and had texts')
  await expect(reading(new Int32(1), text)).rejects.toThrow('is of the type integer now, and was text')
  await expect(reading(true, text)).rejects.toThrow('it has values of the type bool')
})
