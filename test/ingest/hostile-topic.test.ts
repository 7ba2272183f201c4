// Servers that are not a Kafka, or are a hostile one: a clear end of each run, bounded memory, and no address that the profile denies.
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import {
  describeMessages,
  describeStart,
  describeTopic,
  describeVersions,
  type HostileKafka,
  type KafkaAnswers,
  listenAsKafka,
} from '../support/engines/hostile-kafka.ts'
import { type BatchParts, buildBatch, zigzag } from '../support/engines/kafka-batches.ts'
import { QueueReader, type QueueRun } from '../support/ingest/queue-reader.ts'
import { connectToTopic, topicSettings } from '../support/ingest/topic-reader.ts'

let server: HostileKafka | undefined
afterEach(() => server?.close())

type Params = Readonly<Record<string, unknown>>

async function openReader(answers: KafkaAnswers, change: Readonly<Record<string, string>> = {}): Promise<QueueReader> {
  server = await listenAsKafka(answers)
  const reader = new QueueReader(connectToTopic(server, 'q', change, change.username && 'a-secret'), topicSettings)
  reader.memory_mb = 256
  return reader
}

async function run(
  answers: KafkaAnswers,
  params: Params = {},
  change: Readonly<Record<string, string>> = {},
): Promise<QueueRun> {
  using reader = await openReader(answers, change)
  const found = await reader.run(params)
  const text = JSON.stringify(found.outcome)
  for (const hidden of ['127.0.0', String(server?.port), 'a-secret', 'ann']) expect(text).not.toContain(hidden)
  return found
}

const notKafka = 'the server does not answer as a Kafka does'
const sendRaw =
  (bytes: Buffer): NonNullable<KafkaAnswers['metadata']> =>
  (_, socket) =>
    void socket.write(bytes)
const fetchOf = (parts: BatchParts): KafkaAnswers => ({ fetch: describeMessages(buildBatch(parts)) })
const longest = Buffer.from([0x7f, 0xff, 0xff, 0xff])

test.each<[string, KafkaAnswers, string]>([
  ['another protocol', { api_versions: sendRaw(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')) }, notKafka],
  ['an answer without an end', { api_versions: sendRaw(longest) }, notKafka],
  ['an answer of a negative length', { api_versions: sendRaw(Buffer.from([0xff, 0xff, 0xff, 0])) }, notKafka],
  ['an answer to another request', { metadata: sendRaw(Buffer.from([0, 0, 0, 5, 9, 9, 9, 9, 0])) }, notKafka],
  ['an answer that ends within', { metadata: describeTopic({ port: 1 }).subarray(0, 20) }, notKafka],
  ['a list that is longer than its answer', { api_versions: Buffer.concat([Buffer.alloc(2), longest]) }, notKafka],
  ['an alert of TLS', { api_versions: sendRaw(Buffer.from([0x15, 3, 3, 0, 2, 2, 80])) }, 'may need TLS'],
  ['no requests that are known here', { api_versions: describeVersions(3) }, 'the first one that is read is Kafka 2.7'],
  ['a partition that was not requested', { fetch: describeMessages(Buffer.alloc(0), { partition: 3 }) }, notKafka],
  ['too many partitions', { metadata: describeTopic({ port: 1, partitions: 5_000 }) }, 'more than 4096 partitions'],
  ['a checksum of another batch', fetchOf({ values: ['{}'], checksum: 1 }), 'its checksum is another one'],
  ['more messages than there are', fetchOf({ values: ['{}'], count: 2 ** 31 - 1 }), notKafka],
  ['a message that is longer than its batch', fetchOf({ records: zigzag(2 ** 30), count: 1 }), notKafka],
  ['a message of a negative length', fetchOf({ records: zigzag(-5), count: 1 }), notKafka],
  ['an unknown codec', fetchOf({ records: Buffer.alloc(9), count: 1, attributes: 7 }), notKafka],
  ['what its codec does not know', fetchOf({ records: Buffer.alloc(9), count: 1, attributes: 1 }), notKafka],
])('%s fails the try', async (_, answers, reason) => {
  const { failure } = await run(answers)
  expect(failure?.reason).toContain(reason)
})

const zeros = Buffer.alloc(1 << 28)
/** One literal, then copies of it. */
const snappyBomb = Buffer.concat([
  zigzag(2 ** 30),
  Buffer.from([0, 0]),
  Buffer.alloc(4_000_000, Buffer.from([0xfe, 1, 0])),
])
const lz4Bomb = Buffer.concat([
  Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0, 0, 0, 0x10, 0]),
  Buffer.from([0x1f, 0, 1, 0]),
  Buffer.alloc((1 << 20) - 5, 0xff),
  Buffer.from([0]),
])

test.each([
  ['gzip', 1, gzipSync(zeros)],
  ['snappy', 2, snappyBomb],
  ['lz4', 3, lz4Bomb],
  ['zstd', 4, zstdCompressSync(zeros)],
])('a batch of %s that expands without an end fails the try', async (_, attributes, records) => {
  const { failure } = await run(fetchOf({ records, count: 1, attributes }))
  expect(failure?.reason).toBe('a compressed batch of the topic has more than 67108864 bytes when it is expanded')
})

test('a broker that others name is not dialled where the profile denies its address', async () => {
  const elsewhere = await listenAsKafka({}, '127.0.0.2')
  const { failure } = await run({ metadata: describeTopic({ host: '127.0.0.2', port: elsewhere.port }) })
  expect(failure).toEqual({ isFinal: true, reason: 'the profile does not permit the address of the server' })
  expect(elsewhere.count('api_versions')).toBe(0)
  elsewhere.close()
})

test('a coordinator that is elsewhere is not dialled, and what has landed stays', async () => {
  const elsewhere = await listenAsKafka({}, '127.0.0.2')
  const coordinator = (send: (body: Buffer) => void) => send(describeCoordinator('127.0.0.2', elsewhere.port))
  const found = await run(
    { fetch: describeMessages(buildBatch({ values: ['{"n":1}'] })), find_coordinator: coordinator },
    { max_messages: 1 },
    { group: 'g' },
  )
  expect([found.rows, found.isSettled]).toEqual([[{ n: '1' }], false])
  expect(elsewhere.count('api_versions')).toBe(0)
  elsewhere.close()
})

function describeCoordinator(host: string, port: number): Buffer {
  const text = Buffer.from(host)
  const head = [Buffer.alloc(4), Buffer.alloc(2), Buffer.from([0]), Buffer.from([0, 0, 0, 1, text.length + 1]), text]
  const end = Buffer.alloc(5)
  end.writeInt32BE(port)
  return Buffer.concat([...head, end])
}

test('messages without an end are taken up to the limit, and none that comes again lands twice', async () => {
  const batch = (from: number) => buildBatch({ base: from, values: [0, 1, 2].map((at) => `{"n":${from + at}}`) })
  let from = -2
  const fetch = (send: (body: Buffer) => void) => {
    from += 2
    send(describeMessages(Buffer.concat([batch(from), batch(Math.max(0, from - 2))])))
  }
  const { rows } = await run({ fetch }, { max_messages: 40 })
  expect(rows.map(({ n }) => Number(n))).toEqual([...Array(40).keys()])
})

test('messages of a server that has no terms of leaders land, and the next run goes on behind them', async () => {
  const fetch = describeMessages(buildBatch({ values: ['{"n":1}'], epoch: -1 }))
  const { dataset } = await run({ fetch }, { max_messages: 1 })
  expect(dataset.cursor).toMatchObject({ offsets: { 0: '1' } })
  expect(dataset.cursor?.epochs).toBeUndefined()
})

test('a broker that answers at once without messages is not requested without a pause', async () => {
  const { dataset } = await run({}, { idle_s: 1 })
  expect(dataset.rows).toBe(0)
  expect(server?.count('fetch')).toBeLessThan(60)
})

test('a topic that becomes another one within a run fails it', async () => {
  let requests = 0
  const metadata = (send: (body: Buffer) => void) =>
    send(describeTopic({ port: server?.port ?? 0, id: (requests++ === 0 ? 'ab' : 'cd').repeat(16) }))
  const { failure } = await run({ metadata, list_offsets: describeStart(0n) })
  expect(failure?.reason).toContain('it was created again')
})

test('a run that is stopped leaves a silent broker at once', async () => {
  using reader = await openReader({ fetch: () => undefined })
  const stop = new AbortController()
  const outcome = reader.try({}, stop.signal)
  await expect.poll(() => server?.count('fetch')).toBe(1)
  stop.abort(new Error('stopped'))
  await expect(outcome).rejects.toThrow('stopped')
})

const challengeOf = (text: (nonce: string) => string): KafkaAnswers => {
  let nonce = ''
  return {
    sasl_authenticate(send, _, request) {
      const message = request.bytes().toString()
      nonce ||= /r=([^,]*)/.exec(message)?.[1] ?? ''
      const answer = Buffer.from(message.startsWith('n,,') ? text(nonce) : 'v=AAAA')
      const length = Buffer.alloc(4)
      length.writeInt32BE(answer.length)
      send(Buffer.concat([Buffer.from([0, 0, 0xff, 0xff]), length, answer, Buffer.alloc(8)]))
    },
  }
}

test.each<[string, (nonce: string) => string, string]>([
  ['a number of rounds that keeps a processor for hours', (nonce) => `r=${nonce}x,s=c2FsdA==,i=2000000000`, notKafka],
  ['too few rounds', (nonce) => `r=${nonce}x,s=c2FsdA==,i=1`, notKafka],
  ['the nonce of another client', () => 'r=other,s=c2FsdA==,i=4096', notKafka],
  ['no nonce of its own', (nonce) => `r=${nonce},s=c2FsdA==,i=4096`, notKafka],
  ['no proof that it knows the secret', (nonce) => `r=${nonce}x,s=c2FsdA==,i=4096`, 'does not know the secret'],
])('a broker with %s gets no further', async (_, text, reason) => {
  const user = { mechanism: 'scram-sha-256', username: 'ann' }
  const { failure } = await run(challengeOf(text), {}, user)
  expect(failure?.reason).toContain(reason)
  expect(server?.count('metadata')).toBe(0)
})
