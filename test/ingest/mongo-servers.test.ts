// Servers of the protocol of MongoDB with given answers: members of replica sets, one moment of several queries, and hostile ones.
import { deflateSync } from 'node:zlib'
import { BSON, ObjectId, Timestamp } from 'mongodb'
import { afterEach, describe, expect, test } from 'vitest'
import type { OpenConnection } from '../../daemon/roles/ingest/parts.ts'
import { NewRows } from '../../daemon/runtime/ingest/connection/new-rows.ts'
import { openRowSource } from '../../daemon/runtime/ingest/connection/open-source.ts'
import type { RowRequest } from '../../daemon/shared/row-source/row-source.ts'
import {
  frameMessage,
  helloOf,
  listenAsMongo,
  type MongoCommand,
  type ScriptedAnswer,
  type ScriptedMongo,
} from '../support/engines/scripted-mongo.ts'
import { readRowsBy } from '../support/ingest/read-rows-by.ts'

const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1', '127.0.0.3'], addonDir: '' }
const never = new AbortController().signal
let servers: ScriptedMongo[] = []
afterEach(() => {
  for (const server of servers) server.close()
  servers = []
})

async function listen(...words: Parameters<typeof listenAsMongo>): Promise<ScriptedMongo> {
  const server = await listenAsMongo(...words)
  servers.push(server)
  return server
}

type Config = Readonly<Record<string, unknown>>

function connect({ port }: { readonly port: number }, more: Config = {}, password?: string): OpenConnection {
  const config = { hosts: ['127.0.0.1'], port, database: 'shop', tls: 'off', ...more } as OpenConnection['config']
  return {
    ...{ tenant_id: 'acme', conn_type: 'mongo', config },
    ...(password !== undefined && { secret: JSON.stringify({ password }) }),
  }
}

const read = (connection: OpenConnection, request?: Partial<RowRequest>, signal?: AbortSignal) =>
  readRowsBy(connection, settings, request, signal)

const cursorOf = (batch: object, id = 0n, more: object = {}) => ({
  ok: 1,
  cursor: { id, ns: 'shop.people', ...batch, ...more },
})
const listing = cursorOf({ firstBatch: [{ name: 'people', options: { collation: { locale: 'de' } } }] })

/** Answers what every reading begins with, and the rest by `more`. */
function answering(more: (command: MongoCommand) => ScriptedAnswer, hello: MongoCommand = {}) {
  return (command: MongoCommand): ScriptedAnswer => {
    if ('ismaster' in command || 'hello' in command) return helloOf(hello)
    return more(command) ?? ('listCollections' in command ? listing : { ok: 1 })
  }
}
const rowsOf = (...values: readonly number[]) => values.map((_id) => ({ _id }))
const ofQuery = (server: ScriptedMongo, name: string) => server.commands.filter((command) => name in command)

describe('a replica set', () => {
  const moment = new Timestamp({ t: 7, i: 1 })
  const set = { setName: 'rs', hosts: ['169.254.169.254:27017', '127.0.0.2:1'], primary: '169.254.169.254:27017' }

  test('is read at one moment, and nobody but the hosts of the connection is dialled', async () => {
    const server = await listen(
      answering((command) => {
        if ('find' in command) return cursorOf({ firstBatch: rowsOf(1, 2) }, 9n, { atClusterTime: moment })
        return 'getMore' in command ? cursorOf({ nextBatch: rowsOf(3) }) : undefined
      }, set),
    )
    expect(await read(connect(server, { replica_set: 'rs' }))).toEqual(['{"_id":1}', '{"_id":2}', '{"_id":3}'])
    const [find, getMore, endSessions] = ['find', 'getMore', 'endSessions'].map((name) => ofQuery(server, name)[0])
    expect(find).toMatchObject({ find: 'people', readConcern: { level: 'snapshot' }, $db: 'shop' })
    expect(getMore).toMatchObject({ getMore: 9n, lsid: find?.lsid })
    expect(getMore).not.toHaveProperty('readConcern')
    expect(endSessions).toMatchObject({ endSessions: [find?.lsid] })
  })

  test('all queries of an incremental reading are of the moment of the first', async () => {
    const server = await listen(
      answering((command) => {
        if (!('find' in command)) return undefined
        const { filter = {} } = command as { filter?: { at?: unknown } }
        const isAbout = 'at' in filter || command.sort !== undefined
        return cursorOf({ firstBatch: isAbout ? [{ at: 'b' }] : [] }, 0n, { atClusterTime: moment })
      }, set),
    )
    const news = new NewRows('at', undefined)
    const source = await openRowSource(connect(server), settings, '')
    for await (const block of source.rows({ table: 'people', cursor: news.cursor() }, never)) news.take(block)
    await source.close()
    const finds = ofQuery(server, 'find')
    expect(finds.map(({ readConcern }) => readConcern)).toEqual([
      { level: 'snapshot' },
      ...finds.slice(1).map(() => ({ level: 'snapshot', atClusterTime: moment })),
    ])
    // Texts are compared by their bytes in a collection with another order.
    expect(finds.slice(2).map(({ collation }) => collation)).toEqual([{ locale: 'simple' }, { locale: 'simple' }])
    expect(news.position()).toMatchObject({ type: 'text', value: 'b' })
  })

  test('of a version without such moments is read as most of it has it', async () => {
    const server = await listen(
      answering((command) => ('find' in command ? cursorOf({ firstBatch: [] }) : undefined), {
        ...{ ...set, maxWireVersion: 9 },
      }),
    )
    expect(await read(connect(server))).toEqual([])
    expect(ofQuery(server, 'find')[0]).toMatchObject({ readConcern: { level: 'majority' } })
  })

  test.each<[string, MongoCommand, MongoCommand, number | string]>([
    ['the one that takes writes', { ...set, isWritablePrimary: false, secondary: true }, set, 3],
    [
      'another one if there is none',
      { ...set, isWritablePrimary: false, secondary: true },
      { isWritablePrimary: false },
      1,
    ],
    ['none that only votes', { ...set, isWritablePrimary: false, arbiterOnly: true }, set, 3],
    ['none of another set', set, set, 'the server is not of the replica set of the connection'],
  ])('of its hosts it reads %s', async (_, first, second, expected) => {
    const answer = (_id: number, hello: MongoCommand) =>
      answering((command) => ('find' in command ? cursorOf({ firstBatch: rowsOf(_id) }) : undefined), hello)
    const one = await listen(answer(1, first))
    await listen(answer(3, second), '127.0.0.3', one.port)
    const more = { hosts: ['127.0.0.1', '127.0.0.3'], ...(typeof expected === 'string' && { replica_set: 'other' }) }
    const reading = read(connect(one, more))
    if (typeof expected === 'number') expect(await reading).toEqual([`{"_id":${expected}}`])
    else await expect(reading).rejects.toThrow(expected)
  })

  test.each([
    [239, 'raise minSnapshotHistoryWindowInSeconds', true],
    [246, 'the server cannot read the collection as it is at one moment', false],
    [13, 'the user of the connection may not read the collection', true],
    [43, 'the server ended the reading', false],
    [11_600, 'the server could not do it (error 11600)', false],
    [2, 'the server could not do it (error 2)', true],
  ])('the error %s is in words', async (code, message, isFinal) => {
    const server = await listen(
      answering((command) => ('find' in command ? { ok: 0, code, errmsg: 'secret of shop' } : undefined), set),
    )
    await expect(read(connect(server))).rejects.toMatchObject({ message: expect.stringContaining(message), isFinal })
  })
})

test('a greatest value that is gone before its documents are read is looked for again, and in the end by another try', async () => {
  const read_by = async (changes: number) => {
    let gone = 0
    const server = await listen(
      answering((command) => {
        if (!('find' in command)) return undefined
        const { filter, sort } = command as { filter?: { at?: { $eq?: unknown } }; sort?: unknown }
        if (sort) return cursorOf({ firstBatch: [{ at: 5 }] })
        if (filter?.at?.$eq === undefined) return cursorOf({ firstBatch: [] })
        return cursorOf({ firstBatch: gone++ < changes ? [] : [{ _id: 1, at: 5 }] })
      }),
    )
    const news = new NewRows('at', undefined)
    const lines = await read(connect(server), { cursor: news.cursor() })
    return lines
  }
  expect(await read_by(3)).toEqual(['{"_id":1,"at":5}'])
  await expect(read_by(1_000)).rejects.toMatchObject({
    message: expect.stringContaining('changes faster'),
    isFinal: false,
  })
})

test('an aborted wait ends at once, with its reason', async () => {
  const aborting = new AbortController()
  const reason = new Error('aborted by the test')
  const server = await listen(
    answering((command) => {
      if (!('find' in command)) return undefined
      aborting.abort(reason)
      return Buffer.alloc(0)
    }),
  )
  await expect(read(connect(server), {}, aborting.signal)).rejects.toBe(reason)
})

const compressed = (bytes: Buffer) => {
  const header = Buffer.from([0xdd, 0x07, 0, 0, 0, 0, 0, 0, 2])
  header.writeInt32LE(bytes.length, 4)
  return frameMessage(2_012, Buffer.concat([header, deflateSync(bytes)]))
}
const raw = (document: Uint8Array) => frameMessage(2_013, Buffer.concat([Buffer.alloc(5), document]))
const cut = Buffer.from(BSON.serialize(cursorOf({ firstBatch: [{ _id: 'abc' }] })))
cut.writeInt32LE(1_000, cut.indexOf('abc') - 4)
const not_mongo = 'the server does not answer as a server of MongoDB does'

test.each<[string, ScriptedAnswer, string]>([
  ['a compressed answer', compressed(Buffer.alloc(1_000_000)), not_mongo],
  ['an answer of two gigabytes', frameMessage(2_013, Buffer.alloc(1_000), 2_000_000_000), not_mongo],
  ['another protocol', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), not_mongo],
  ['an answer without documents', { ok: 1 }, not_mongo],
  ['documents that are none', cursorOf({ firstBatch: [1, 'a'] }), not_mongo],
  ['more documents than were requested', cursorOf({ firstBatch: rowsOf(1, 2, 3, 4, 5) }), not_mongo],
  ['a text longer than its document', raw(cut), not_mongo],
  ['a message that is not a document', raw(Buffer.alloc(40, 255)), not_mongo],
  ['a row above the limit', cursorOf({ firstBatch: [wideRow()] }), 'a row has more than 4194304 characters'],
  [
    'too many fields',
    cursorOf({ firstBatch: [manyFields()] }),
    'the document with the _id 7 has more than 1000 fields',
  ],
  ['one field twice', raw(twice()), 'the document with the _id "z" has the field "a" twice'],
])('refuses %s', async (_, answer, refusal) => {
  const server = await listen(answering((command) => ('find' in command ? answer : undefined)))
  const error = await read(connect(server)).then(
    () => 'it was read',
    ({ message }: Error) => message,
  )
  expect(error).toContain(refusal)
  expect(error).not.toContain(String(server.port))
})

test('any change of a byte of an answer ends in words, or in rows', async () => {
  const document = Buffer.from(BSON.serialize(cursorOf({ firstBatch: [{ _id: 1, a: 'text', b: [{ c: 1.5 }] }] })))
  let changed = document
  const server = await listen(answering((command) => ('find' in command ? raw(changed) : undefined)))
  // Past its length, to which messages are held.
  for (let at = 4; at < document.length; at++)
    for (const byte of [0, 1, 0x7f, 0xff]) {
      changed = Buffer.from(document)
      changed[at] = byte
      const outcome = await read(connect(server)).catch((error: Error) => error)
      if (outcome instanceof Error) expect(outcome.name).toBe('RowSourceError')
      else expect(outcome.length).toBeLessThan(5)
    }
})

function wideRow(): object {
  return Object.fromEntries(Array.from({ length: 5 }, (_, at) => [`f${at}`, 'x'.repeat(1_000_000)]))
}
function manyFields(): object {
  return { _id: 7, ...Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`f${at}`, at])) }
}
function twice(): Uint8Array {
  const document = Buffer.from(BSON.serialize(cursorOf({ firstBatch: [{ _id: 'z', a: 1, b: 2 }] })))
  const [at] = [document.indexOf(Buffer.from([0x10, 0x62, 0]))]
  document[at + 1] = 0x61
  return document
}

describe('the secret', () => {
  const connection = (server: ScriptedMongo) => connect(server, { username: 'ann' }, 'a-secret')
  const sentTo = (server: ScriptedMongo) =>
    server.commands.map((command) => Buffer.from(BSON.serialize(command)).toString('latin1')).join('\n')

  test.each([
    ['its text', { saslSupportedMechs: ['PLAIN'] }],
    ['another proof', { saslSupportedMechs: ['MONGODB-X509', 'GSSAPI'] }],
  ])('is not sent to a server that requests %s', async (_, hello) => {
    const server = await listen(
      answering((command) => ('saslStart' in command ? { ok: 0, code: 18 } : undefined), hello),
    )
    await expect(read(connection(server))).rejects.toThrow('the server refuses the user or the secret')
    for (const text of ['a-secret', Buffer.from('a-secret').toString('base64')])
      expect(sentTo(server)).not.toContain(text)
    expect(ofQuery(server, 'saslStart')[0]).toMatchObject({ mechanism: 'SCRAM-SHA-1' })
  })

  test.each([
    ['r=abc,s=AAAA,i=2000000000', 'the server demands more than 1000000 rounds'],
    ['r=abc,s=AAAA,i=4096, i=1,i= 9999999', 'the server demands more than 1000000 rounds'],
    ['r=abc,s=AAAA,i=1', 'the server refuses the user or the secret'],
  ])('is proven by a bounded number of rounds: %s', async (text, refusal) => {
    const payload = new BSON.Binary(Buffer.from(text))
    const begun = { speculativeAuthenticate: { conversationId: 1, done: false, payload } }
    const server = await listen(answering(() => undefined, begun))
    await expect(read(connection(server))).rejects.toThrow(refusal)
  })

  test('of a server that does not know it either, the proof is refused', async () => {
    const answer = (text: string) => ({
      ok: 1,
      conversationId: 1,
      done: false,
      payload: new BSON.Binary(Buffer.from(text)),
    })
    const server = await listen(
      answering((command) => ('saslContinue' in command ? answer('v=AAAA') : undefined), {
        speculativeAuthenticate: answer('r=abc,s=AAAA,i=4096'),
      }),
    )
    await expect(read(connection(server))).rejects.toThrow('the server refuses the user or the secret')
    expect(ofQuery(server, 'find')).toEqual([])
  })
})

test('values of a type that the server had not promised end the reading', async () => {
  const server = await listen(
    answering((command) => ('find' in command ? cursorOf({ firstBatch: [{ at: new ObjectId() }] }) : undefined)),
  )
  const from = { type: 'integer', value: '5' } as const
  const cursor = { column: 'at', from, onRow: () => undefined, onEnd: () => undefined }
  await expect(read(connect(server), { cursor })).rejects.toThrow('is of the type text now, and was integer')
})
