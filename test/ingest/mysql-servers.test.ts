// Servers of the protocol of MySQL with given answers, most of them hostile.
import { afterEach, expect, test, vi } from 'vitest'
import type { OpenConnection } from '../../daemon/roles/ingest/parts.ts'
import { probeConnection } from '../../daemon/runtime/ingest/connection/probe-connection.ts'
import {
  type HostileMysql,
  hello,
  listenAsMysql,
  type MysqlReply,
  mysqlPacket,
} from '../support/engines/hostile-mysql.ts'
import { readRowsBy } from '../support/ingest/read-rows-by.ts'

const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1'], addonDir: '' }
let servers: HostileMysql[] = []
afterEach(() => {
  vi.restoreAllMocks()
  for (const server of servers) server.close()
  servers = []
})

async function listen(...words: Parameters<typeof listenAsMysql>): Promise<HostileMysql> {
  const server = await listenAsMysql(...words)
  servers.push(server)
  return server
}

function connect({ port }: { readonly port: number }, tls: 'off' | 'verify' = 'off'): OpenConnection {
  const config = { host: '127.0.0.1', port, database: 'shop', username: 'ann', tls }
  return { tenant_id: 'acme', conn_type: 'mysql', config, secret: JSON.stringify({ password: 'a-secret' }) }
}
const read = (server: HostileMysql, signal?: AbortSignal) => readRowsBy(connect(server), settings, {}, signal)

const ok = Buffer.from([0, 0, 0, 2, 0, 0, 0])
const end = Buffer.from([0xfe, 0, 0, 2, 0])
const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)])
/** `type`: as the protocol numbers it; 253 is a text, 3 an integer, 16 are bits. */
function field(type: number, name: Buffer = text('id')): Buffer {
  const rest = Buffer.from([0x0c, 45, 0, 0, 1, 0, 0, type, 0, 0, 0, 0, 0])
  return Buffer.concat([text('def'), ...Array.from({ length: 5 }, () => name), rest])
}
const row = (...values: readonly string[]) => Buffer.concat(values.map(text))
/** Packets in their order. */
const inOrder = (payloads: readonly Buffer[]) => payloads.map((payload, at) => mysqlPacket(payload, at + 1))
function result(types: readonly number[], rows: readonly Buffer[]): Buffer[] {
  return inOrder([Buffer.from([types.length]), ...types.map((type) => field(type)), end, ...rows, end])
}
const columns = result([253, 3, 253], [row('id', '0', 'int')])
/** Up to the rows of a table with one column. */
const before: readonly MysqlReply[] = [ok, ok, ok, columns, ok]

function* endlessly(first: readonly Buffer[], piece: (at: number) => Buffer): Generator<Buffer> {
  yield* first
  for (let at = first.length; ; at++) yield piece(at)
}
const not_mysql = 'the server does not answer as a server of MySQL does'
const three = [3, 3, 3]
const manyColumns = inOrder([Buffer.from([253, 255, 255, 255])])
const wideField = field(3, Buffer.concat([Buffer.from([252, 0, 64]), Buffer.alloc(16_384, 0x61)]))
/** The beginning of a packet of 16 MiB, which others of the same row follow. */
const large = Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 1]), Buffer.alloc(16_777_215)])

test('rows of a server that answers as it should are read', async () => {
  const server = await listen([...before, result(three, [row('1', '0', '0'), row('002', '0', '0')]), ok])
  expect(await read(server)).toEqual(['{"id":1}', '{"id":2}'])
})

test('bits of more bytes than a column has are a text', async () => {
  const bits = [row('\u0001\u0001', '0', '0'), row('ninebytes', '0', '0')]
  const server = await listen([...before, result([16, 3, 3], bits), ok])
  expect(await read(server)).toEqual(['{"id":257}', '{"id":"ninebytes"}'])
})

test.each<[string, MysqlReply, string]>([
  ['an endless packet', endlessly([], () => large), 'bytes without a row'],
  [
    'columns without an end',
    endlessly(manyColumns, (at) => mysqlPacket(wideField, (at + 1) % 256)),
    'bytes without a row',
  ],
  ['more columns than were requested', result([...three, 3], [row('1', '0', '0', '1')]), not_mysql],
  ['a flag that is none', result(three, [row('1', '2', '0')]), not_mysql],
  ['a place that is none', result(three, [row('1', '0', '9')]), not_mysql],
  ['a value that is too large', result(three, [row('1', '1', '0')]), 'a row has a value of more than 1048576 bytes'],
  ['packets out of their order', result(three, [row('1', '0', '0')]).map((packet) => packet.fill(9, 3, 4)), not_mysql],
])('refuses %s', async (_, reply, refusal) => {
  const log = vi.spyOn(console, 'error')
  const server = await listen([...before, reply])
  const outcome = await read(server).catch((error: Error) => error)
  expect(outcome).toMatchObject({ name: 'RowSourceError', message: expect.stringContaining(refusal) })
  expect(String(outcome)).not.toContain(String(server.port))
  expect(log).not.toHaveBeenCalled()
  await expect.poll(() => server.countOpen()).toBe(0)
})

test('a list without an end ends the reading', async () => {
  const head = columns.slice(0, 5)
  const short = endlessly(head, (at) => mysqlPacket(row('id', '0', 'int'), (at + 1) % 256))
  await expect(read(await listen([ok, ok, ok, short]))).rejects.toThrow(not_mysql)
  const long = row('id', '0', 'int')
  const wide = Buffer.concat([Buffer.from([253, 0, 0, 32]), Buffer.alloc(2_097_152, 0x61), long.subarray(3)])
  const lengthy = endlessly(head, (at) => mysqlPacket(wide, (at + 1) % 256))
  await expect(read(await listen([ok, ok, ok, lengthy]))).rejects.toThrow('bytes without a row')
})

test.each<[string, Iterable<Buffer>, string]>([
  ['an endless greeting', endlessly([], () => large), 'bytes without a row'],
  ['another protocol', [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(9_999))], 'bytes without a row'],
])('refuses %s', async (_, greeting, refusal) => {
  const server = await listen([], greeting)
  const outcome = await read(server).catch((error: Error) => error)
  expect(outcome).toMatchObject({ name: 'RowSourceError', message: expect.stringContaining(refusal) })
  await expect.poll(() => server.countOpen()).toBe(0)
})

test('nothing is taken that comes before TLS, but the greeting', async () => {
  const offering = Buffer.from(hello)
  // The flag of TLS, after the version and the first part of the challenge.
  const flags = hello.indexOf('abcdefgh') + 9
  offering.writeUInt16LE(hello.readUInt16LE(flags) | 0x0800, flags)
  // A login that is accepted, and the version of a server.
  const forged = [mysqlPacket(ok, 2), ...result([253], [row('8.0.36')])]
  const server = await listen([], [Buffer.concat([mysqlPacket(offering, 0), ...forged])])
  const probe = probeConnection({ ...settings, probe: true, connection: connect(server, 'verify') })
  expect(await probe).toEqual({ ok: false, detail: not_mysql })
  await expect.poll(() => server.countOpen()).toBe(0)
})

test('an aborted wait ends at once, with its reason', async () => {
  const aborting = new AbortController()
  const reason = new Error('aborted by the test')
  function* abort(): Generator<Buffer> {
    aborting.abort(reason)
    yield Buffer.alloc(1)
  }
  const server = await listen([...before, abort()])
  await expect(read(server, aborting.signal)).rejects.toBe(reason)
  await expect.poll(() => server.countOpen()).toBe(0)
})

test('any change of a byte of an answer ends in words, or in rows', async () => {
  // The library says where it failed.
  vi.spyOn(console, 'trace').mockReturnValue()
  const answer = Buffer.concat(result(three, [row('1', '0', '0'), row('2', '0', '0')]))
  for (let at = 0; at < answer.length; at++)
    for (const byte of [0, 1, 0x7f, 0xfb, 0xfe, 0xff]) {
      const changed = Buffer.from(answer)
      changed[at] = byte
      function* once(): Generator<Buffer> {
        yield changed
        server.close()
      }
      const server = await listen([...before, once(), ok])
      const outcome = await read(server).catch((error: Error) => error)
      if (outcome instanceof Error) expect(outcome.name).toBe('RowSourceError')
      else expect(outcome.length).toBeLessThan(3)
    }
})
