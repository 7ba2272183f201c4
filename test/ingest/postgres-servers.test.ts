// Servers of the protocol of PostgreSQL with given answers, most of them hostile.
import { afterEach, expect, test } from 'vitest'
import type { OpenConnection } from '../../daemon/roles/ingest/parts.ts'
import {
  dataRow,
  describeFields,
  isReady,
  listenAsPostgres,
  type PostgresAnswer,
  postgresMessage,
  resultOf,
  type ScriptedPostgres,
} from '../support/engines/scripted-postgres.ts'
import { readRowsBy } from '../support/ingest/read-rows-by.ts'

const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1'], addonDir: '' }
let servers: ScriptedPostgres[] = []
afterEach(() => {
  for (const server of servers) server.close()
  servers = []
})

async function listen(...words: Parameters<typeof listenAsPostgres>): Promise<ScriptedPostgres> {
  const server = await listenAsPostgres(...words)
  servers.push(server)
  return server
}

function read({ port }: { readonly port: number }, signal?: AbortSignal): Promise<string[]> {
  const config = { host: '127.0.0.1', port, database: 'shop', username: 'ann', tls: 'off' } as const
  const secret = JSON.stringify({ password: 'a-secret' })
  return readRowsBy(
    { tenant_id: 'acme', conn_type: 'postgres', config, secret } as OpenConnection,
    settings,
    {},
    signal,
  )
}

function* endlessly(piece: Buffer, first: Buffer = Buffer.alloc(0)): Generator<Buffer> {
  yield first
  for (;;) yield piece
}

/** The beginning of a message of two gigabytes. */
const longHead = Buffer.from([0x44, 0x7f, 0xff, 0xff, 0xff])
const block = Buffer.alloc(65_536, 0x61)
const notices = postgresMessage('N', `M${'hello '.repeat(10_000)}\0\0`)
const rows = Buffer.concat(Array.from({ length: 500 }, () => dataRow('x'.repeat(1_000), '0', '0')))
const not_postgres = 'the server does not answer as a PostgreSQL server does'

test('rows of a server that answers as it should are read', async () => {
  let isFirst = true
  const server = await listen({
    rows: () => {
      const page = isFirst
        ? [
            ['1', '0', '0'],
            ['2', '0', '0'],
          ]
        : []
      isFirst = false
      return resultOf(page)
    },
  })
  expect(await read(server)).toEqual(['{"id":1}', '{"id":2}'])
})

test.each<[string, () => PostgresAnswer, string]>([
  ['endless rows', () => endlessly(rows, describeFields(3)), not_postgres],
  ['endless notices', () => endlessly(notices), 'bytes for one answer'],
  ['an endless message', () => endlessly(block, longHead), not_postgres],
  ['an error without an end', () => postgresMessage('E', 'Mhello\0'), not_postgres],
  ['an error that ends too early', () => postgresMessage('E', 'Mhello\0\0C\0'), not_postgres],
  ['a message shorter than its length', () => Buffer.from([0x5a, 0, 0, 0, 3, 0x49]), not_postgres],
  [
    'a row of no count',
    () => Buffer.concat([describeFields(3), postgresMessage('D', Buffer.from([0xff, 0xff]))]),
    not_postgres,
  ],
  [
    'a row with fewer values than it says',
    () => postgresMessage('D', Buffer.from([0, 3, 0, 0, 0, 1, 0x31])),
    not_postgres,
  ],
  ['rows before their columns', () => Buffer.concat([dataRow('1', '0', '0'), isReady]), 'the server did not answer'],
  ['more columns than were requested', () => resultOf([['1', '0', '0', '1']]), not_postgres],
  ['more rows than were requested', () => resultOf(Array.from({ length: 9 }, () => ['1', '0', '0'])), not_postgres],
  [
    'several results',
    () => Buffer.concat([resultOf([['1', '0', '0']]).subarray(0, -6), resultOf([['1', '0', '0']])]),
    not_postgres,
  ],
  ['a flag that is none', () => resultOf([['1', 'x', '0']]), not_postgres],
  ['a place that is none', () => resultOf([['1', '0', '9']]), not_postgres],
  ['another protocol', () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), not_postgres],
])('refuses %s', async (_, answer, refusal) => {
  const server = await listen({ rows: answer })
  const outcome = await read(server).catch((error: Error) => error)
  expect(outcome).toMatchObject({ name: 'RowSourceError', message: expect.stringContaining(refusal) })
  expect(String(outcome)).not.toContain(String(server.port))
  await expect.poll(() => server.countOpen()).toBe(0)
})

test.each<[string, PostgresAnswer, string]>([
  ['endless notices', endlessly(notices), 'bytes for one answer'],
  ['an endless message', endlessly(block, longHead), not_postgres],
  ['an unknown proof', postgresMessage('R', Buffer.from([0, 0, 0, 99])), not_postgres],
  ['an error without an end', postgresMessage('E', 'Mhello\0'), not_postgres],
  ['another protocol', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), not_postgres],
])('refuses %s before the session', async (_, greeting, refusal) => {
  const server = await listen({ greeting })
  const outcome = await read(server).catch((error: Error) => error)
  expect(outcome).toMatchObject({ name: 'RowSourceError', message: expect.stringContaining(refusal) })
  await expect.poll(() => server.countOpen()).toBe(0)
})

test('an aborted wait ends at once, with its reason', async () => {
  const aborting = new AbortController()
  const reason = new Error('aborted by the test')
  const server = await listen({ rows: () => void aborting.abort(reason) })
  await expect(read(server, aborting.signal)).rejects.toBe(reason)
  await expect.poll(() => server.countOpen()).toBe(0)
})

test('any change of a byte of an answer ends in words, or in rows', async () => {
  const answer = resultOf([
    ['1', '0', '0'],
    ['2', '0', '0'],
  ])
  let changed = answer
  const server = await listen({ rows: () => changed, closes: true })
  for (let at = 0; at < answer.length; at++)
    for (const byte of [0, 1, 0x45, 0x7f, 0xff]) {
      changed = Buffer.from(answer)
      changed[at] = byte
      const outcome = await read(server).catch((error: Error) => error)
      if (outcome instanceof Error) expect(outcome.name).toBe('RowSourceError')
      else expect(outcome.length).toBeLessThan(3)
    }
})
