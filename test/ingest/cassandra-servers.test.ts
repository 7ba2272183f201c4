// Servers of the protocol of Cassandra with given answers: nodes of a cluster, and hostile ones.
import { afterEach, describe, expect, test } from 'vitest'
import type { OpenConnection } from '../../daemon/roles/ingest/parts.ts'
import { NewRows } from '../../daemon/runtime/ingest/connection/new-rows.ts'
import { openRowSource } from '../../daemon/runtime/ingest/connection/open-source.ts'
import type { RowRequest } from '../../daemon/shared/row-source/row-source.ts'
import {
  type CqlAnswer,
  type CqlRequest,
  errorAnswer,
  frameAnswer,
  intBytes,
  listenAsCassandra,
  rowsAnswer,
  type ScriptedCassandra,
} from '../support/engines/scripted-cassandra.ts'
import { readRowsBy } from '../support/ingest/read-rows-by.ts'

const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1', '127.0.0.3'], addonDir: '' }
const never = new AbortController().signal
let servers: ScriptedCassandra[] = []
afterEach(() => {
  for (const server of servers) server.close()
  servers = []
})

async function listen(...words: Parameters<typeof listenAsCassandra>): Promise<ScriptedCassandra> {
  const server = await listenAsCassandra(...words)
  servers.push(server)
  return server
}

function connect({ port }: { readonly port: number }, more: object = {}, password?: string): OpenConnection {
  const config = { hosts: ['127.0.0.1'], port, keyspace: 'shop', tls: 'off', ...more } as OpenConnection['config']
  return {
    ...{ tenant_id: 'acme', conn_type: 'cassandra', config },
    ...(password !== undefined && { secret: JSON.stringify({ password }) }),
  }
}

const read = (connection: OpenConnection, request?: Partial<RowRequest>, signal?: AbortSignal) =>
  readRowsBy(connection, settings, request, signal)

const [startup, query, auth_response] = [1, 7, 15]
const [text, int] = [13, 9]
const ready = frameAnswer(2, Buffer.alloc(0))
const authenticate = frameAnswer(3, Buffer.from('\0\x01P'))
const catalog = rowsAnswer(
  [
    ['column_name', text],
    ['type', text],
    ['kind', text],
    ['position', int],
  ],
  [['id', 'int', 'partition_key', intBytes(0)]],
)
const idRows = (ids: readonly (number | null)[], more: Parameters<typeof rowsAnswer>[2] = {}) =>
  rowsAnswer(
    [['id', int]],
    ids.map((id) => [id === null ? null : intBytes(id)]),
    more,
  )

/** Answers what every reading begins with, and the rest by `more`. */
function answering(more: (request: CqlRequest) => CqlAnswer, begin: Buffer = ready) {
  return (request: CqlRequest): CqlAnswer => {
    if (request.opcode === startup) return begin
    return request.cql.includes('system_schema.columns') ? catalog : more(request)
  }
}

const tableQueries = (server: ScriptedCassandra) =>
  server.requests.filter(({ cql }) => cql.includes('"people"')).map(({ cql }) => cql)

test('pages follow each other, and warnings of the server are read past', async () => {
  let pages = 0
  const server = await listen(
    answering(() => {
      pages++
      if (pages === 1) return idRows([1, 2], { state: 'next', warning: 'slow' })
      return pages === 2 ? idRows([], { state: 'x' }) : idRows([3])
    }),
  )
  expect(await read(connect(server))).toEqual(['{"id":1}', '{"id":2}', '{"id":3}'])
  expect(tableQueries(server)).toEqual(Array.from({ length: 3 }, () => 'SELECT "id" FROM "shop"."people"'))
  expect(server.requests.at(-2)?.body.includes('next')).toBe(true)
})

const twice = (ids: readonly number[]) =>
  rowsAnswer(
    [
      ['id', int],
      ['id', int],
    ],
    ids.map((id) => [intBytes(id), intBytes(id)]),
  )

test('rows that come during an incremental reading are for the next one, and a greatest value that is gone is not', async () => {
  const server = await listen(answering(({ cql }) => (cql.includes('WHERE') ? twice([5, 7, 5]) : idRows([5, 9, 7]))))
  const news = new NewRows('id', { column: 'id', type: 'integer', value: '5', rows: [] })
  const source = await openRowSource(connect(server), settings, '')
  for await (const block of source.rows({ table: 'people', cursor: news.cursor() }, never)) news.take(block)
  await source.close()
  expect(tableQueries(server).at(-1)).toBe(
    'SELECT "id", "id" FROM "shop"."people" WHERE "id" <= 9 AND "id" >= 5 ALLOW FILTERING',
  )
  expect(news.position()).toMatchObject({ type: 'integer', value: '7' })
})

describe('of its hosts', () => {
  test('the first one that answers is read, and no other address', async () => {
    const busy = await listen(answering(() => undefined, errorAnswer(0x1002)))
    await listen(
      answering(() => idRows([3])),
      '127.0.0.3',
      busy.port,
    )
    expect(await read(connect(busy, { hosts: ['127.0.0.1', '127.0.0.3'] }))).toEqual(['{"id":3}'])
  })

  test('one of another data centre is refused', async () => {
    const server = await listen(answering(() => rowsAnswer([['data_center', text]], [['dc1']])))
    await expect(read(connect(server, { datacenter: 'dc2' }))).rejects.toThrow('not of the data centre')
  })
})

test.each([
  [0x1000, 'too few replicas answered in time', false],
  [0x1200, 'too few replicas answered in time', false],
  [0x1001, 'the server is not ready to answer', false],
  [0x2100, 'the user of the connection may not read the table', true],
  [0x2200, 'the server could not do it (error 0x2200)', true],
])('the error %i is in words', async (code, message, isFinal) => {
  const server = await listen(answering(() => errorAnswer(code)))
  await expect(read(connect(server))).rejects.toMatchObject({ message, isFinal })
})

test('an aborted wait ends at once, with its reason', async () => {
  const aborting = new AbortController()
  const reason = new Error('aborted by the test')
  const server = await listen(
    answering(() => {
      aborting.abort(reason)
      return undefined
    }),
  )
  await expect(read(connect(server), {}, aborting.signal)).rejects.toBe(reason)
})

test('all pages of the columns of a table are read, whatever the server says of them', async () => {
  const columnRows = (name: string, type: string, position: Buffer, more: Parameters<typeof rowsAnswer>[2] = {}) =>
    rowsAnswer(
      ['column_name', 'type', 'kind', 'position'].map((each) => [each, text] as const),
      [[name, type, 'regular', position]],
      more,
    )
  const server = await listen(({ opcode, cql, body }) => {
    if (opcode === startup) return ready
    if (!cql.includes('system_schema.columns'))
      return rowsAnswer(
        [
          ['a', int],
          ['b', int],
        ],
        [[null, null]],
      )
    return body.includes('next')
      ? columnRows('b', 'constructor', intBytes(0))
      : columnRows('a', 'int', Buffer.alloc(1), { state: 'next' })
  })
  const source = await openRowSource(connect(server), settings, '')
  const lines: string[] = []
  for await (const block of source.rows({ table: 'people' }, never)) lines.push(...block)
  await source.close()
  expect(lines).toEqual(['{"a":null,"b":null}'])
  expect(source.statedColumns?.()).toEqual([
    { name: 'a', type: 'int64' },
    { name: 'b', type: 'text' },
  ])
})

const not_cassandra = 'the server does not answer as a server of Cassandra does'
const body = idRows([1]).subarray(9)
/** Its state is none: a length of -1. */
const withoutState = frameAnswer(
  8,
  Buffer.concat([intBytes(2), intBytes(3), intBytes(1), intBytes(-1), body.subarray(12)]),
)

test.each<[string, Buffer, string]>([
  ['a compressed answer', frameAnswer(8, body, { flags: 1 }), not_cassandra],
  ['an answer of two gigabytes', frameAnswer(8, body, { length: 2_000_000_000 }), 'has more than 134217728 bytes'],
  ['a negative length', frameAnswer(8, body, { length: -1 }), not_cassandra],
  ['a version of before', frameAnswer(8, body, { version: 0x82 }), 'the server has no version 4 of the protocol'],
  ['another protocol', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), not_cassandra],
  ['an event', frameAnswer(12, Buffer.from('\0\x0dSTATUS_CHANGE')), not_cassandra],
  ['two answers to one request', Buffer.concat([idRows([1], { state: 'x' }), idRows([2])]), not_cassandra],
  ['an answer without rows', frameAnswer(8, intBytes(1)), not_cassandra],
  ['more rows than were requested', idRows([1, 2, 3, 4, 5]), not_cassandra],
  ['two billion rows', frameAnswer(8, Buffer.concat([body.subarray(0, -12), intBytes(2_000_000_000)])), not_cassandra],
  ['more pages that cannot be requested', withoutState, not_cassandra],
  ['a number of the wrong length', rowsAnswer([['id', int]], [['abc']]), not_cassandra],
  ['another column', rowsAnswer([['other', int]], [[intBytes(1)]]), not_cassandra],
  ['a type that is not read', rowsAnswer([['id', 99]], [['abc']]), not_cassandra],
])('refuses %s', async (_, answer, refusal) => {
  const server = await listen(answering(() => answer))
  const error = await read(connect(server)).then(
    () => 'it was read',
    ({ message }: Error) => message,
  )
  expect(error).toContain(refusal)
  expect(error).not.toContain(String(server.port))
})

test('any change of a byte of an answer ends in words, or in rows', async () => {
  const answer = rowsAnswer([['id', int]], [[intBytes(1)], [null]])
  let changed = answer
  let answers = 0
  const server = await listen(answering(() => (answers++ === 0 ? changed : errorAnswer(0x1001))))
  // Past its length, for the rest of which a reader waits.
  for (let at = 9; at < answer.length; at++)
    for (const byte of [0, 1, 0x20, 0x22, 0x30, 0x7f, 0xff]) {
      changed = Buffer.from(answer)
      changed[at] = byte
      answers = 0
      const outcome = await read(connect(server)).catch((error: Error) => error)
      if (outcome instanceof Error) expect(outcome.name).toBe('RowSourceError')
      else expect(outcome.length).toBeLessThan(5)
    }
})

describe('the secret', () => {
  const connection = (server: ScriptedCassandra) => connect(server, { username: 'ann' }, 'a-secret')

  test('is sent where the server requests it, and refused where it is wrong', async () => {
    const server = await listen(
      answering(({ opcode }) => (opcode === auth_response ? errorAnswer(0x0100) : undefined), authenticate),
    )
    await expect(read(connection(server))).rejects.toThrow('the server refuses the user or the secret')
    expect(server.requests.map(({ opcode }) => opcode)).toEqual([startup, auth_response])
    expect(server.requests[1]?.body.subarray(4).toString()).toBe('\0ann\0a-secret')
  })

  test('is not sent where the server does not', async () => {
    const server = await listen(answering(() => idRows([1])))
    expect(await read(connection(server))).toEqual(['{"id":1}'])
    expect(server.requests.some(({ body: sent }) => sent.includes('a-secret'))).toBe(false)
    expect(server.requests.every(({ opcode }) => [startup, query].includes(opcode))).toBe(true)
  })

  test('a challenge that is not one of a password ends the session', async () => {
    const challenge = frameAnswer(14, intBytes(-1))
    const server = await listen(answering(() => challenge, authenticate))
    await expect(read(connection(server))).rejects.toThrow('the server refuses the user or the secret')
    await expect(read(connect(server))).rejects.toThrow('the server refuses the user or the secret')
  })
})
