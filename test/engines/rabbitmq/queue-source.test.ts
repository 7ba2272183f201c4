// Messages of a real RabbitMQ land once each, and leave their queue once they have landed.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect as connectSocket, createServer } from 'node:net'
import type { Channel, ChannelModel, Options } from 'amqplib'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { OpenConnection } from '../../../daemon/roles/ingest/parts.ts'
import { probeConnection } from '../../../daemon/runtime/ingest/connection/probe-connection.ts'
import { type FaultProxy, startFaultProxy } from '../../support/engines/fault-proxy.ts'
import { type Rabbitmq, rabbitmq, rabbitmqRequirement } from '../../support/engines/rabbitmq.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import { findFreePorts } from '../../support/engines/server-process.ts'
import { QueueReader } from '../../support/ingest/queue-reader.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(rabbitmqRequirement)
const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1', '127.0.0.3'], addonDir: '' }
/** As frames of AMQP 0-9-1 have it: class and method. */
const basic_ack = /\0<\0P/
let certificates: ServerCertificateSet
let server: Rabbitmq
let admin: { connection: ChannelModel; channel: Channel }
let closed_port = 0

beforeAll(async () => {
  if (!rabbitmqRequirement.isPresent) return
  certificates = issueServerCertificates('server')
  const reader = { configure: '^$', write: '^$', read: '^(classic|quorum|stream|limits)' }
  server = await rabbitmq({ users: { reader }, tls: certificates.of('server') })
  await server.start()
  admin = await server.connect()
  closed_port = (await findFreePorts(1))[0] ?? 0
})
afterAll(async () => {
  await admin?.connection.close().catch(() => undefined)
  await server?.end()
  certificates?.dispose()
})

type Change = { readonly config?: Readonly<Record<string, string | number | undefined>>; readonly password?: string }

function connect(queue: string, { config = {}, password = server.password }: Change = {}): OpenConnection {
  const ca = readFileSync(certificates.of('server').ca, 'utf8')
  const usual = { host: '127.0.0.1', port: server.tls_port, virtual_host: '/', queue, username: 'reader' }
  const all = Object.entries({ ...usual, tls: 'verify', ca, ...config }).filter(([, value]) => value !== undefined)
  return {
    ...{ tenant_id: 'acme', conn_type: 'rabbitmq', config: Object.fromEntries(all) as OpenConnection['config'] },
    secret: JSON.stringify({ password }),
  }
}

/** Without TLS, so that the proxy sees the frames. */
function throughProxy(queue: string, { url }: FaultProxy): OpenConnection {
  return connect(queue, { config: { port: Number(new URL(url).port), tls: 'off' } })
}

/** A new durable queue. */
async function declare(name: string, type: 'classic' | 'quorum' | 'stream' = 'classic'): Promise<void> {
  await admin.channel.assertQueue(name, { durable: true, arguments: { 'x-queue-type': type } })
}

/** Resolves once the broker has them. */
async function publish(queue: string, bodies: readonly (string | Buffer)[], options: Options.Publish = {}) {
  const channel = await admin.connection.createConfirmChannel()
  for (const body of bodies) channel.sendToQueue(queue, Buffer.from(body), { persistent: true, ...options })
  await channel.waitForConfirms()
  await channel.close()
}

const countReady = async (queue: string) => (await admin.channel.checkQueue(queue)).messageCount
const bodiesOf = (from: number, count: number) => Array.from({ length: count }, (_, at) => `{"n":${from + at}}`)
const numbersOf = (rows: readonly Readonly<Record<string, unknown>>[]) => rows.map(({ n }) => Number(n))
const range = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at)

describe('a connection', () => {
  where('says what is there, or why not, without its place and secret', async () => {
    await declare('classic-probed')
    await publish('classic-probed', ['{}', '{}'])
    const probe = (connection: OpenConnection) => probeConnection({ ...settings, probe: true, connection })
    const elsewhere = createServer((near) => {
      const far = connectSocket(server.tls_port, '127.0.0.1')
      near.pipe(far).pipe(near)
      for (const socket of [near, far]) socket.on('error', () => undefined)
    })
    elsewhere.listen(0, '127.0.0.3')
    await once(elsewhere, 'listening')
    const { port } = elsewhere.address() as AddressInfo
    expect(await probe(connect('classic-probed'))).toEqual({ ok: true, detail: 'a queue with 2 messages' })
    const failing: readonly (readonly [OpenConnection, string])[] = [
      [connect('classic-probed', { password: 'other-secret' }), 'the server refuses the user or the secret'],
      [connect('classic-absent'), 'the broker has no such queue'],
      [connect('classic-probed', { config: { virtual_host: 'none' } }), 'may not use the virtual host'],
      [connect('classic-probed', { config: { ca: undefined } }), 'no certificate that the connection trusts'],
      [connect('classic-probed', { config: { host: '127.0.0.3', port } }), 'trusts (ERR_TLS_CERT_ALTNAME_INVALID)'],
      [connect('classic-probed', { config: { host: '127.0.0.2' } }), 'does not permit the address'],
      [connect('classic-probed', { config: { port: closed_port } }), 'the server did not answer (ECONNREFUSED)'],
    ]
    const hidden = ['127.0.0', String(server.tls_port), String(closed_port), server.password, 'other-secret', 'reader']
    for (const [connection, refusal] of failing) {
      const { ok, detail } = await probe(connection)
      expect({ ok, detail }).toEqual({ ok: false, detail: expect.stringContaining(refusal) })
      for (const text of hidden) expect(detail).not.toContain(text)
      using reader = new QueueReader(connection, settings)
      const { failure } = await reader.run()
      expect(failure?.reason).toContain(refusal)
    }
    expect(await countReady('classic-probed')).toBe(2)
    elsewhere.close()
  })
})

describe.each(['classic', 'quorum'] as const)('a %s queue', (type) => {
  where('is empty once its messages have landed, each once, in their order', async () => {
    const queue = `${type}-once`
    await declare(queue, type)
    using reader = new QueueReader(connect(queue), settings)
    expect((await reader.run()).rows).toEqual([])
    await publish(queue, bodiesOf(0, 1_000))
    const first = await reader.run()
    expect(first).toMatchObject({ isSettled: true, dataset: { rows: 1_000, rejects: { rows: 0 } } })
    expect(numbersOf(first.rows)).toEqual(range(0, 1_000))
    await expect.poll(() => countReady(queue)).toBe(0)
    const nothing = await reader.run()
    expect(nothing.dataset).toMatchObject({ rows: 0, columns: first.dataset.columns })
    await publish(queue, bodiesOf(1_000, 3))
    expect(numbersOf((await reader.run()).rows)).toEqual([1_000, 1_001, 1_002])
  })

  where('delivers again what was not acknowledged, and nothing of it lands twice', async () => {
    const queue = `${type}-again`
    await declare(queue, type)
    await publish(queue, [...bodiesOf(0, 300), ...bodiesOf(0, 2)])
    using reader = new QueueReader(connect(queue), settings)
    expect((await reader.run({ max_messages: 100 })).rows).toHaveLength(100)
    await expect.poll(() => countReady(queue)).toBe(202)
    const proxy = await startFaultProxy(server.url)
    proxy.inject('question', basic_ack)
    reader.connection = throughProxy(queue, proxy)
    const lost = await reader.run({ max_messages: 100 })
    expect(numbersOf(lost.rows)).toEqual(range(100, 100))
    expect(lost).toMatchObject({ isSettled: false, outcome: { log: expect.stringContaining('not be acknowledged') } })
    await proxy.end()
    reader.connection = connect(queue)
    await expect.poll(() => countReady(queue)).toBe(202)
    await publish(queue, bodiesOf(100, 1))
    const next = await reader.run()
    expect(numbersOf(next.rows).toSorted((a, b) => a - b)).toEqual([0, 1, 100, ...range(200, 100)])
    expect(next.dataset.cursor?.messages?.earlier).toEqual([])
    await expect.poll(() => countReady(queue)).toBe(0)
  })
})

describe('an acknowledgement whose answer is lost', () => {
  where('leaves nothing to deliver again, and an equal message that is new lands', async () => {
    const queue = 'classic-unanswered'
    await declare(queue)
    await publish(queue, bodiesOf(0, 3))
    const proxy = await startFaultProxy(server.url)
    proxy.inject('answer', basic_ack)
    using reader = new QueueReader(throughProxy(queue, proxy), settings)
    expect(await reader.run({ max_messages: 3 })).toMatchObject({ isSettled: false, dataset: { rows: 3 } })
    await proxy.end()
    reader.connection = connect(queue)
    await publish(queue, bodiesOf(1, 1))
    const next = await reader.run()
    expect(numbersOf(next.rows)).toEqual([1])
    // The queue had nothing else: it has none of the earlier ones.
    expect(next.dataset.cursor?.messages?.earlier).toEqual([])
  })
})

describe('bodies', () => {
  where(
    'that are not an object of JSON are rejected as a whole, with their numbers, and are acknowledged',
    async () => {
      const queue = 'classic-bodies'
      await declare(queue)
      const long = `{"text": "${'x'.repeat(5_000)}`
      const bytes = Buffer.from([0xff, 0x00, 0xfe])
      const bodies = [
        '{"n": 1}',
        long,
        '[1]',
        '',
        bytes,
        '{"n": 1, "n": 2}',
        '{\r\n "n": 12345678901234567890,\n "o": {"a": [1]}}',
      ]
      await publish(queue, [...bodies, '{"_type": "own"}'])
      using reader = new QueueReader(connect(queue), settings)
      const { rows, rejects, isSettled } = await reader.run({ max_messages: 8, properties: ['type', 'routing_key'] })
      expect(rows).toEqual([
        { _type: undefined, _routing_key: queue, n: '1', o: undefined },
        { _type: undefined, _routing_key: queue, n: '12345678901234567890', o: '{"a":[1]}' },
      ])
      const input = `${queue}.jsonl`
      expect(rejects).toEqual([
        { input, line: 2, reason: 'the body is not JSON', record: long },
        { input, line: 3, reason: 'the body is not a JSON object', record: '[1]' },
        { input, line: 4, reason: 'the body is not JSON', record: '' },
        { input, line: 5, reason: 'the body is not UTF-8', record: bytes.toString('base64'), encoding: 'base64' },
        { input, line: 6, reason: 'the name "n" is repeated', record: bodies[5] },
        { input, line: 8, reason: '"_type" is the column of a property of messages', record: '{"_type": "own"}' },
      ])
      expect(isSettled).toBe(true)
      expect(await countReady(queue)).toBe(0)
    },
  )

  where('that are all rejected land with the columns of the dataset before, or without any', async () => {
    const queue = 'classic-rejected'
    await declare(queue)
    using reader = new QueueReader(connect(queue), settings)
    await publish(queue, ['no'])
    expect((await reader.run({ max_messages: 1 })).dataset).toMatchObject({ columns: [], rejects: { rows: 1 } })
    await publish(queue, ['{"n": 1}'])
    const { columns } = (await reader.run({ max_messages: 1 })).dataset
    await publish(queue, ['no', 'no'])
    const { dataset } = await reader.run({ max_messages: 2 })
    expect(dataset).toMatchObject({ columns, rows: 0, rejects: { rows: 2 }, inputs: [{ rows: 0, rejects: 2 }] })
    await publish(queue, ['no', 'no'])
    const { failure } = await reader.run({ max_messages: 2, max_rejects: 1 })
    expect(failure?.reason).toContain('2 of the first 2 records do not fit')
    await expect.poll(() => countReady(queue)).toBe(2)
  })

  where('land as text or bytes beside what the broker and the sender say of them', async () => {
    const queue = 'classic-text'
    await declare(queue)
    const sent = { messageId: 'm-1', timestamp: 1_700_000_000, contentType: 'text/plain', headers: { a: 1, b: ['ü'] } }
    await publish(queue, ['first\nline', ''], sent)
    using reader = new QueueReader(connect(queue), settings)
    const properties = ['message_id', 'published_at', 'content_type', 'headers', 'app_id']
    const beside = {
      _message_id: 'm-1',
      _content_type: 'text/plain',
      _headers: '{"a":1,"b":["ü"]}',
      _app_id: undefined,
    }
    const text = await reader.run({ body: 'text', properties, max_messages: 2 })
    expect(text.rows).toMatchObject(['first\nline', ''].map((body) => ({ ...beside, body })))
    expect(text.dataset.columns.find(({ name }) => name === '_published_at')?.type).toBe('timestamp')
    await publish(queue, [Buffer.from([0, 255])], sent)
    expect((await reader.run({ body: 'base64', max_messages: 1 })).rows).toEqual([{ body: 'AP8=' }])
  })
})

describe('a reading', () => {
  where('ends by messages, bytes, a pause or its time, and leaves the rest where it was', async () => {
    const queue = 'classic-limits'
    await declare(queue)
    const bodies = Array.from({ length: 500 }, (_, at) => JSON.stringify({ n: at, text: 'x'.repeat(1_000) }))
    await publish(queue, bodies)
    using reader = new QueueReader(connect(queue), settings)
    const logged = async (params: Readonly<Record<string, unknown>>) => {
      const { outcome, dataset } = await reader.run(params)
      const [, end] = /the reading ended ([^;]*);/.exec(outcome.log) ?? []
      return [dataset.rows, end]
    }
    expect(await logged({ max_messages: 201 })).toEqual([201, 'after 201 messages'])
    expect(await logged({ max_bytes: 50_000 })).toEqual([50, 'after 50000 bytes'])
    expect(await countReady(queue)).toBe(249)
    const busy = startPublishing(queue)
    expect(await logged({ max_s: 2, idle_s: 2 })).toEqual([
      expect.any(Number),
      expect.stringContaining('after 2 s, or'),
    ])
    await busy.stop()
    expect(await logged({})).toEqual([expect.any(Number), 'after 1 s without a message'])
    expect(await countReady(queue)).toBe(0)
  })

  where('leaves a message above the limit in the queue, and takes those behind it', async () => {
    const queue = 'classic-large'
    await declare(queue)
    await publish(queue, ['{"n": 1}', Buffer.alloc(3_000_000), '{"n": 2}'])
    using reader = new QueueReader(connect(queue), settings)
    const { rows, outcome, isSettled } = await reader.run({ max_message_bytes: 1_000 })
    expect(numbersOf(rows)).toEqual([1, 2])
    expect([isSettled, outcome.log]).toEqual([true, expect.stringContaining('left 1 above max_message_bytes')])
    await expect.poll(() => countReady(queue)).toBe(1)
  })

  where(
    'stays below its memory, whatever the size of the queue',
    async () => {
      const queue = 'classic-memory'
      await declare(queue)
      const body = JSON.stringify({ text: 'x'.repeat(900_000) })
      for (let sent = 0; sent < 200; sent += 100) await publish(queue, Array<string>(100).fill(body))
      using reader = new QueueReader(connect(queue), settings)
      reader.memory_mb = 384
      const { failure, dataset } = await reader.run({ body: 'text', max_messages: 200, max_bytes: 1 << 30 })
      expect(failure).toBeUndefined()
      expect(dataset.rows).toBe(200)
    },
    60_000,
  )

  where('does not begin while another consumer has the queue', async () => {
    const queue = 'classic-shared'
    await declare(queue)
    await publish(queue, bodiesOf(0, 2))
    using reader = new QueueReader(connect(queue), settings)
    const { consumerTag } = await admin.channel.consume(queue, () => undefined)
    const { failure } = await reader.run()
    expect(failure).toMatchObject({ isFinal: false, reason: expect.stringContaining('or another consumer has it') })
    await admin.channel.cancel(consumerTag)
    await admin.channel.recover()
    expect(numbersOf((await reader.run({ max_messages: 2 })).rows)).toEqual([0, 1])
  })
})

describe('a stream', () => {
  where('keeps its messages, and each lands once by its offset, also after a lost acknowledgement', async () => {
    const queue = 'stream-log'
    await declare(queue, 'stream')
    await publish(queue, bodiesOf(0, 500))
    const proxy = await startFaultProxy(server.url)
    proxy.inject('question', basic_ack)
    using reader = new QueueReader(throughProxy(queue, proxy), settings)
    const lost = await reader.run({ max_messages: 300, properties: ['offset'] })
    expect(lost.isSettled).toBe(false)
    expect(lost.rows.at(-1)).toEqual({ _offset: '299', n: '299' })
    await proxy.end()
    reader.connection = connect(queue)
    expect(numbersOf((await reader.run({ max_messages: 50 })).rows)).toEqual(range(300, 50))
    await publish(queue, bodiesOf(500, 10))
    expect(numbersOf((await reader.run()).rows)).toEqual(range(350, 160))
    const nothing = await reader.run()
    expect(nothing.dataset).toMatchObject({ rows: 0, cursor: { offsets: { '0': '510' } } })
  })

  where('that was declared again does not pass for one without new messages', async () => {
    const queue = 'stream-again'
    await declare(queue, 'stream')
    await publish(queue, bodiesOf(0, 30))
    using reader = new QueueReader(connect(queue), settings)
    expect((await reader.run()).rows).toHaveLength(30)
    await admin.channel.deleteQueue(queue)
    await declare(queue, 'stream')
    await publish(queue, bodiesOf(0, 10))
    const { failure } = await reader.run()
    expect(failure).toMatchObject({ isFinal: false, reason: expect.stringContaining('declared again') })
  })
})

/** Publishes without a pause until it is stopped. */
function startPublishing(queue: string): { stop(): Promise<void> } {
  let isStopped = false
  const ended = (async () => {
    while (!isStopped) await publish(queue, ['{"n": 0}'])
  })()
  return {
    async stop() {
      isStopped = true
      await ended
    },
  }
}
