// The source of rows of Redis: hashes and strings of a real server, each once, and what strangers try by it.
import { readFileSync } from 'node:fs'
import { createClient } from '@redis/client'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { OpenConnection } from '../../../daemon/roles/ingest/parts.ts'
import { probeConnection } from '../../../daemon/runtime/ingest/connection/probe-connection.ts'
import { type Redis, redis, redisRequirement } from '../../support/engines/redis.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import { findFreePorts } from '../../support/engines/server-process.ts'
import { QueueReader } from '../../support/ingest/queue-reader.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(redisRequirement)
const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1'], addonDir: '' }
let certificates: ServerCertificateSet
let server: Redis
let admin: ReturnType<typeof openAdmin>
let closed_port = 0

function openAdmin() {
  const ca = readFileSync(certificates.of('server').ca, 'utf8')
  const socket = { host: '127.0.0.1', port: server.port, tls: true as const, ca }
  return createClient({ socket, password: server.password, RESP: 2 })
}

beforeAll(async () => {
  if (!redisRequirement.isPresent) return
  certificates = issueServerCertificates('server')
  server = await redis(certificates.of('server'))
  await server.start()
  closed_port = (await findFreePorts(1))[0] ?? 0
  admin = openAdmin()
  admin.on('error', () => undefined)
  await admin.connect()
  await admin.sendCommand([
    'ACL',
    'SETUSER',
    'reader',
    'on',
    '>reader-secret',
    '~*',
    '+@read',
    '+memory|usage',
    '+select',
  ])
  await admin.sendCommand(['ACL', 'SETUSER', 'blind', 'on', '>reader-secret', '~none', '+@connection', '+select'])
})
afterAll(async () => {
  admin?.destroy()
  await server?.end()
  certificates?.dispose()
})

type Change = { readonly config?: Readonly<Record<string, string | number | undefined>>; readonly password?: string }

function connect({ config = {}, password = 'reader-secret' }: Change = {}): OpenConnection {
  const ca = readFileSync(certificates.of('server').ca, 'utf8')
  const usual = { host: '127.0.0.1', port: server.port, database: 0, username: 'reader', tls: 'verify', ca }
  const all = Object.entries({ ...usual, ...config }).filter(([, value]) => value !== undefined)
  return {
    ...{ tenant_id: 'acme', conn_type: 'redis', config: Object.fromEntries(all) as OpenConnection['config'] },
    secret: JSON.stringify({ password }),
  }
}

async function read(params: Readonly<Record<string, unknown>>, connection = connect()) {
  using reader = new QueueReader(connection, settings, 'ingest_database')
  return await reader.run(params)
}

const byKey = (rows: readonly Readonly<Record<string, unknown>>[]) =>
  rows.toSorted((a, b) => (String(a._key) < String(b._key) ? -1 : 1))

describe('redis', () => {
  where('lands hashes with a column for each field, and those of other keys not', async () => {
    await admin.hSet('person:1', { name: 'Ann', age: '42' })
    await admin.hSet('person:2', { name: 'B"ø\nb', born: '2024-02-29' })
    await admin.hSet(Buffer.from([0x70, 0x65, 0x72, 0x73, 0x6f, 0x6e, 0xff]), { name: Buffer.from([0xff, 0]) })
    await admin.hSet('other:1', { name: 'no' })
    const { rows } = await read({ table: 'person*' })
    expect(byKey(rows)).toEqual([
      { _key: 'cGVyc29u/w==', name: '/wA=', age: undefined, born: undefined },
      { _key: 'person:1', name: 'Ann', age: '42', born: undefined },
      { _key: 'person:2', name: 'B"ø\nb', age: undefined, born: expect.anything() },
    ])
    expect(byKey((await read({ table: 'person:*', columns: ['age'] })).rows)).toEqual([
      { _key: 'person:1', age: '42' },
      { _key: 'person:2', age: undefined },
    ])
    expect((await read({ table: 'none:*' })).dataset.rows).toBe(0)
  })

  where('lands strings as text or as objects of JSON; what is none is rejected', async () => {
    await admin.mSet({ 'doc:1': '{"n": 12345678901234567890,\n "o": {"a": 1}}', 'doc:2': '[1]', 'doc:3': '{}' })
    expect(byKey((await read({ table: 'doc:*' })).rows).map(({ value }) => value)).toEqual([
      ...['{"n": 12345678901234567890,\n "o": {"a": 1}}', '[1]', '{}'],
    ])
    const json = await read({ table: 'doc:*', values: 'json', max_rejects: 1 })
    expect(byKey(json.rows)).toEqual([
      { _key: 'doc:1', n: '12345678901234567890', o: '{"a":1}' },
      { _key: 'doc:3', n: undefined, o: undefined },
    ])
    expect(json.rejects).toMatchObject([{ record: '"[1]"', reason: expect.stringContaining('not an object') }])
    expect((await read({ table: 'doc:*', values: 'json' })).failure?.reason).toContain('1 of')
  })

  where('lands each key once while the server moves its keys and others write', async () => {
    const count = 30_000
    for (let from = 0; from < count; from += 10_000) {
      const names = Array.from({ length: 10_000 }, (_, at) => [`many:${from + at}`, `${from + at}`])
      await admin.mSet(Object.fromEntries(names))
    }
    let isOver = false
    // The table of keys shrinks and grows, so that scans give keys again.
    const writing = (async () => {
      while (!isOver) {
        const names = Array.from({ length: 20_000 }, (_, at) => `noise:${at}`)
        await admin.mSet(Object.fromEntries(names.map((name) => [name, '1'])))
        await admin.unlink(names)
      }
    })()
    const { rows, failure } = await read({ table: 'many:*' })
    isOver = true
    await writing
    expect(failure).toBeUndefined()
    const landed = rows.map(({ value }) => Number(value)).toSorted((a, b) => a - b)
    expect(landed).toEqual(Array.from({ length: count }, (_, at) => at))
  })

  where('refuses values of other kinds and sizes with the key, and a cursor', async () => {
    await admin.rPush('bad:list', 'a')
    await admin.set('huge:1', 'h'.repeat(1_048_577))
    await admin.hSet('huge:2', { a: 'a'.repeat(9_000_000) })
    for (const [params, reason] of [
      [{ table: 'bad:*' }, 'the key "bad:list" has a value of the kind "list"'],
      [{ table: 'huge:1' }, 'the key "huge:1" has a value of more than 1048576 bytes'],
      [{ table: 'huge:2' }, 'the value of the key "huge:2" takes more than'],
      [{ table: 'bad:*', cursor_column: '_key' }, 'keeps what has landed'],
      [{}, 'names a table, or a pattern of keys'],
    ] as const)
      expect((await read(params)).failure?.reason).toContain(reason)
  })

  where('says why it cannot be read, without its place and secret', async () => {
    const failing: readonly (readonly [OpenConnection, string])[] = [
      [connect({ password: 'other-secret' }), 'the server refuses the user or the secret'],
      [connect({ config: { username: 'blind' } }), 'the user of the connection may not read the keys'],
      [connect({ config: { database: 99 } }), 'the server has no database of this number'],
      [connect({ config: { ca: undefined } }), 'no certificate that the connection trusts'],
      [connect({ config: { host: '127.0.0.2' } }), 'does not permit the address'],
      [connect({ config: { port: closed_port } }), 'the server did not answer (ECONNREFUSED)'],
      [connect({ config: { tls: 'off' } }), 'the server did not answer'],
    ]
    const hidden = ['127.0.0', String(server.port), String(closed_port), 'reader-secret', 'other-secret']
    const probe = (connection: OpenConnection) => probeConnection({ ...settings, probe: true, connection })
    expect(await probe(connect())).toEqual({ ok: true, detail: expect.stringMatching(/^a database of \d+ keys$/) })
    for (const [connection, refusal] of failing) {
      const { ok, detail } = await probe(connection)
      expect({ ok, detail }).toEqual({ ok: false, detail: expect.stringContaining(refusal) })
      const { failure } = await read({ table: '*' }, connection)
      expect(failure?.reason).toContain(refusal)
      for (const text of hidden) expect(detail + failure?.reason).not.toContain(text)
    }
  })
})
