// Servers of the protocol of SQL Server with given answers: settings of databases, kinds of values, and hostile ones.
import { afterEach, describe, expect, test } from 'vitest'
import type { OpenConnection } from '../../daemon/roles/ingest/parts.ts'
import { NewRows } from '../../daemon/runtime/ingest/connection/new-rows.ts'
import { openRowSource } from '../../daemon/runtime/ingest/connection/open-source.ts'
import {
  listenAsTds,
  packetOf,
  type ScriptedTds,
  type TdsAnswer,
  type TdsScript,
} from '../support/engines/scripted-tds.ts'
import { type TableColumn, TdsTables } from '../support/engines/tds-tables.ts'
import {
  challengeToken,
  columnsToken,
  doneToken,
  errorToken,
  loginAckToken,
  resultTokens,
  routingToken,
  rowToken,
  type TdsType,
  type TdsValue,
} from '../support/engines/tds-tokens.ts'
import { readRowsBy } from '../support/ingest/read-rows-by.ts'

const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1'], addonDir: '' }
const never = new AbortController().signal
let servers: ScriptedTds[] = []
afterEach(() => {
  for (const server of servers) server.close()
  servers = []
})

async function listen(script: TdsScript, address?: string): Promise<ScriptedTds> {
  const server = await listenAsTds(script, address)
  servers.push(server)
  return server
}

function connect({ port }: { readonly port: number }, more: object = {}, password = 'a-secret'): OpenConnection {
  const config = { host: '127.0.0.1', port, database: 'shop', username: 'ann', tls: 'off', ...more }
  return {
    ...{ tenant_id: 'acme', conn_type: 'mssql', config: config as OpenConnection['config'] },
    secret: JSON.stringify({ password }),
  }
}

const read = (connection: OpenConnection, signal?: AbortSignal) => readRowsBy(connection, settings, {}, signal)

function tablesOf(columns: readonly TableColumn[], rows: TdsValue[][]): TdsTables {
  const tables = new TdsTables()
  tables.tables.set('people', { columns, rows })
  return tables
}
const id: TableColumn = { name: 'id', type_name: 'int', wire: 'int' }

/** Tables of numbers, whose rows are answered by `rows`. */
function answering(rows: (tables: TdsTables, sql: string) => TdsAnswer): TdsScript {
  const tables = tablesOf([id], [[1]])
  return { batch: (sql) => (sql.includes('FROM [dbo]') ? rows(tables, sql) : tables.answer(sql)) }
}

test('each kind of value lands without loss', async () => {
  const kinds: readonly (readonly [name: string, type: string, wire: TdsType, value: TdsValue, max_length?: number])[] =
    [
      ['tiny', 'tinyint', 'int', 255],
      ['big', 'bigint', 'bigint', 9_007_199_254_740_993n],
      ['yes', 'bit', 'bit', true],
      ['double', 'float', 'float', -1.5e-300],
      ['tenth', 'real', 'real', 0.1],
      ['sum', 'decimal', 'text', '12345678901234567890123456789012345.678'],
      ['price', 'money', 'text', '-922337203685477.5808'],
      ['at', 'datetime2', 'text', '0001-01-01T00:00:00.1234567'],
      ['zone', 'datetimeoffset', 'text', '2024-02-29T13:00:00.1234567+05:45'],
      ['hour', 'time', 'text', '23:59:59.9999999'],
      ['key', 'uniqueidentifier', 'text', '6F9619FF-8B86-D011-B42D-00C04FC964FF'],
      ['name', 'varchar', 'text', 'ž \u{1f600} "it\'s"\n'],
      ['doc', 'xml', 'max', '<a>é</a>', -1],
      ['path', 'hierarchyid', 'text', '/1/3/'],
      ['bytes', 'varbinary', 'bytes', Buffer.from([0, 255, 10])],
      ['image', 'image', 'maxBytes', Buffer.from([1, 2]), 16],
      ['empty', 'nvarchar', 'max', '', -1],
      ['nothing', 'int', 'int', null],
    ]
  const columns = kinds.map(([name, type_name, wire, , max_length = 8]) => ({ name, type_name, wire, max_length }))
  const tables = tablesOf(columns, [kinds.map(([, , , value]) => value)])
  const [line = ''] = await read(connect(await listen({ batch: (sql) => tables.answer(sql) })))
  expect(line).toContain('"big":9007199254740993')
  expect(JSON.parse(line)).toMatchObject({
    ...{ tiny: 255, yes: true, double: -1.5e-300, tenth: 0.1, sum: '12345678901234567890123456789012345.678' },
    ...{ price: '-922337203685477.5808', at: '0001-01-01T00:00:00.1234567', hour: '23:59:59.9999999' },
    ...{ zone: '2024-02-29T13:00:00.1234567+05:45', key: '6F9619FF-8B86-D011-B42D-00C04FC964FF' },
    ...{ name: 'ž \u{1f600} "it\'s"\n', doc: '<a>é</a>', path: '/1/3/', bytes: 'AP8K', image: 'AQI=', empty: '' },
    nothing: null,
  })
})

test('a name is a name, whatever it contains', async () => {
  const odd = "a]b'; DROP TABLE people; --"
  const tables = tablesOf([{ ...id, name: odd }], [[7]])
  tables.tables.set(odd, { columns: [{ ...id, name: odd }], rows: [[7]] })
  const server = await listen({ batch: (sql) => tables.answer(sql) })
  expect(await readRowsBy(connect(server), settings, { table: odd })).toEqual([JSON.stringify({ [odd]: 7 })])
  expect(tables.statements.at(-2)).toBe(
    "SELECT [a]]b'; DROP TABLE people; --], 0, 0 FROM [dbo].[a]]b'; DROP TABLE people; --]",
  )
  expect(tables.statements.some((sql) => sql.includes("o.name = N'a]b''; DROP TABLE people; --'"))).toBe(true)
})

test.each([
  [1, 'SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRANSACTION'],
  [0, 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN TRANSACTION'],
])('rows are of one snapshot where the database has them: %i', async (state, statement) => {
  const tables = tablesOf([id], [[1]])
  tables.snapshot_state = state
  expect(await read(connect(await listen({ batch: (sql) => tables.answer(sql) })))).toEqual(['{"id":1}'])
  expect(tables.statements).toContain(statement)
  expect(tables.statements.at(-1)).toBe('COMMIT TRANSACTION')
})

test('a cursor of time is compared as its column has it', async () => {
  const tables = tablesOf([{ name: 'at', type_name: 'datetime', wire: 'text' }], [['2024-02-29T13:00:00.003']])
  const server = await listen({ batch: (sql) => tables.answer(sql) })
  const value = '2024-02-29T13:00:00.003'
  const news = new NewRows('at', { column: 'at', type: 'local_timestamp', value, rows: [] })
  const source = await openRowSource(connect(server), settings, '')
  for await (const block of source.rows({ table: 'people', cursor: news.cursor() }, never)) news.take(block)
  await source.close()
  const literal = `CONVERT(datetime, N'${value}', 126)`
  expect(tables.statements.at(-2)).toContain(`WHERE [at] <= ${literal} AND [at] >= ${literal}`)
})

test('rows that nobody requests are not read, and the server waits', async () => {
  let sent = 0
  function* endless(): Generator<Buffer> {
    const columns = [...'abc'].map((name) => [name, 'max'] as const)
    const shown = [
      ['id', 'max'],
      ['', 'int'],
      ['', 'int'],
    ] as const
    yield columnsToken(shown)
    for (; columns.length > 0; sent++) yield rowToken(shown, ['x'.repeat(20_000), 0, 0])
  }
  const tables = tablesOf([{ name: 'id', type_name: 'nvarchar', wire: 'max', max_length: -1 }], [])
  const server = await listen({ batch: (sql) => (sql.includes('FROM [dbo]') ? endless() : tables.answer(sql)) })
  const source = await openRowSource(connect(server), settings, '')
  const blocks = source.rows({ table: 'people' }, never)[Symbol.asyncIterator]()
  const { value } = await blocks.next()
  expect((value as string[]).length).toBeGreaterThan(50)
  let before = -1
  await expect
    .poll(() => {
      const hasStopped = before === sent
      before = sent
      return hasStopped
    })
    .toBe(true)
  expect(sent).toBeLessThan(2_000)
  await source.close()
  await expect.poll(() => server.countOpen()).toBe(0)
})

test.each([
  [229, 'the user of the connection may not read the table', true],
  [1222, 'someone changes the table', false],
  [1205, 'someone changes the table', false],
  [8115, 'the server could not do it (error 8115)', true],
])('the error %i is in words', async (number, message, isFinal) => {
  const server = await listen(answering(() => Buffer.concat([errorToken(number), doneToken(2)])))
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
  await expect(read(connect(server), aborting.signal)).rejects.toBe(reason)
  await expect.poll(() => server.countOpen()).toBe(0)
})

describe('the login', () => {
  test('a server that leads to another one is refused, and that one gets nothing', async () => {
    const other = await listen({}, '127.0.0.2')
    const login = () => Buffer.concat([loginAckToken(), routingToken('127.0.0.2', other.port), doneToken()])
    const server = await listen({ ...answering(() => undefined), login })
    await expect(read(connect(server))).rejects.toThrow('the server leads to another server, which is not followed')
    expect(other.requests).toEqual([])
  })

  test('the secret is not sent where the server has no TLS that the connection requires', async () => {
    const server = await listen(answering(() => undefined))
    await expect(read(connect(server, { tls: 'verify' }))).rejects.toThrow('the server offers no TLS')
    expect(server.requests).toEqual([])
  })

  test('a login of Windows proves the secret, and does not send it', async () => {
    let logins = 0
    const tables = tablesOf([id], [[1]])
    const login = () => (logins++ === 0 ? challengeToken() : Buffer.concat([loginAckToken(), doneToken()]))
    const server = await listen({ batch: (sql) => tables.answer(sql), login })
    expect(await read(connect(server, { username: 'SITE\\ann' }))).toEqual(['{"id":1}'])
    const [first, second] = server.requests
    expect(first?.body.includes('NTLMSSP')).toBe(true)
    expect(second?.kind).toBe(0x11)
    expect(second?.body.includes(Buffer.from('ann', 'utf16le'))).toBe(true)
    for (const { body } of server.requests) {
      expect(body.includes(Buffer.from('a-secret', 'utf16le'))).toBe(false)
      expect(body.includes(Buffer.from('a-secret'))).toBe(false)
    }
  })

  test('the name of this machine is not sent', async () => {
    const { hostname } = await import('node:os')
    const tables = tablesOf([id], [[1]])
    const server = await listen({ batch: (sql) => tables.answer(sql) })
    await read(connect(server))
    expect(server.requests[0]?.body.includes(Buffer.from(hostname(), 'utf16le'))).toBe(false)
  })
})

const not_mssql = 'the server does not answer as a server of SQL Server does'
const shape = [
  ['id', 'int'],
  ['', 'int'],
  ['', 'int'],
] as const

function* endlessly(piece: Buffer): Generator<Buffer> {
  for (;;) yield piece
}
/** The beginning of a text of two gigabytes, which comes in pieces without an end. */
function* endlessValue(): Generator<Buffer> {
  const columns = [
    ['id', 'max'],
    ['', 'int'],
    ['', 'int'],
  ] as const
  const whole = rowToken(columns, ['x', 0, 0])
  yield Buffer.concat([columnsToken(columns), whole.subarray(0, 9)])
  const piece = Buffer.alloc(60_004, 0x61)
  piece.writeUInt32LE(60_000)
  yield* endlessly(piece)
}

test.each<[string, TdsAnswer, string]>([
  ['an unknown token', Buffer.from([0x99, 1, 2]), not_mssql],
  ['another protocol', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), not_mssql],
  ['a row without columns', Buffer.concat([rowToken(shape, [1, 0, 0]), doneToken()]), not_mssql],
  ['more columns than were requested', resultTokens([...shape, ['x', 'int']], [[1, 0, 0, 1]]), not_mssql],
  ['a type that is not known', columnsToken([['id', 'wrong']]), not_mssql],
  ['a value of another type', resultTokens([['id', 'bit'], ...shape.slice(1)], [[true, 0, 0]]), not_mssql],
  ['a place that is none', resultTokens(shape, [[1, 0, 9]]), not_mssql],
  ['a flag that is none', resultTokens(shape, [[1, null, 0]]), not_mssql],
  ['an end within a row', resultTokens(shape, [[1, 0, 0]]).subarray(0, -16), not_mssql],
  ['a token of a login', loginAckToken(), not_mssql],
  ['endless messages', endlessly(errorToken(0).fill(0xab, 0, 1)), 'bytes without a row'],
  ['an endless value', endlessValue(), 'bytes without a row'],
])('refuses %s', async (_, answer, refusal) => {
  const server = await listen(answering(() => answer))
  const error = await read(connect(server)).then(
    () => 'it was read',
    ({ message }: Error) => message,
  )
  expect(error).toContain(refusal)
  expect(error).not.toContain(String(server.port))
})

/** Rows without an end that are smaller than the most that is read without one. */
function* endlessList(): Generator<Buffer> {
  const columns = [
    ['name', 'max'],
    ['', 'text'],
    ['', 'int'],
  ] as const
  yield columnsToken(columns)
  yield* endlessly(rowToken(columns, ['x'.repeat(1_000_000), 'int', 4]))
}

test('a list without an end ends the reading', async () => {
  const tables = tablesOf([id], [])
  const server = await listen({ batch: (sql) => (sql.includes('sys.columns') ? endlessList() : tables.answer(sql)) })
  await expect(read(connect(server))).rejects.toThrow('bytes without a row')
  await expect.poll(() => server.countOpen()).toBe(0)
})

test.each<[string, TdsScript]>([
  ['a greeting with options beyond its end', { greeting: packetOf(4, Buffer.from([1, 0, 99, 0, 1, 0xff])) }],
  ['a greeting without an end', { greeting: packetOf(4, Buffer.from([0, 0])) }],
  ['a packet shorter than its header', { greeting: Buffer.from([4, 1, 0, 3, 0, 0, 0, 0]) }],
  [
    'an endless greeting',
    { greeting: Buffer.concat(Array.from({ length: 400 }, () => packetOf(4, Buffer.alloc(4_000), false))) },
  ],
  ['an endless login', { login: () => endlessly(errorToken(0).fill(0xab, 0, 1)) }],
  ['a login without an acknowledgement', { login: () => doneToken() }],
])('refuses %s before the session', async (_, script) => {
  const server = await listen({ ...answering(() => undefined), ...script })
  const outcome = await read(connect(server)).catch((error: Error) => error)
  expect(outcome).toMatchObject({ name: 'RowSourceError' })
  await expect.poll(() => server.countOpen()).toBe(0)
})

test('any change of a byte of an answer ends in words, or in rows', async () => {
  const answer = resultTokens(shape, [
    [1, 0, 0],
    [null, 0, 0],
  ])
  let changed = answer
  const server = await listen(answering(() => changed))
  for (let at = 0; at < answer.length; at++)
    for (const byte of [0, 1, 0x22, 0x7f, 0xfd, 0xff]) {
      changed = Buffer.from(answer)
      changed[at] = byte
      const outcome = await read(connect(server)).catch((error: Error) => error)
      if (outcome instanceof Error) expect(outcome.name).toBe('RowSourceError')
      else expect(outcome.length).toBeLessThan(5)
    }
})
