// Messages of a real Kafka land once each, from every partition, and those of aborted transactions never.
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { type Kafka, type KafkaDriver, kafka, kafkaRequirement } from '../../support/engines/kafka.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import { QueueReader } from '../../support/ingest/queue-reader.ts'
import {
  bodiesOf,
  connectToTopic,
  numbersOf,
  range,
  topicSettings as settings,
  sortNumbers,
} from '../../support/ingest/topic-reader.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(kafkaRequirement)
let certificates: ServerCertificateSet
let server: Kafka
let driver: KafkaDriver

beforeAll(async () => {
  if (!kafkaRequirement.isPresent) return
  certificates = issueServerCertificates('server')
  server = await kafka(certificates.of('server'))
  await server.start()
  driver = server.drive()
})
afterAll(async () => {
  await server?.end()
  certificates?.dispose()
})

/** To the partitions in turn. */
const spread = (from: number, count: number, partitions: number) =>
  bodiesOf(from, count).map((value, at) => ({ value, partition: at % partitions }))

describe('a topic', () => {
  where('lands once each, from every partition and in its order, and goes on where it was', async () => {
    const topic = 'spread'
    await driver.create(topic, 3)
    using reader = new QueueReader(connectToTopic(server, topic), settings)
    const nothing = await reader.run()
    expect(nothing.rows).toEqual([])
    expect(nothing.dataset.cursor).toMatchObject({ offsets: { 0: '0', 1: '0', 2: '0' }, log: expect.any(String) })
    await driver.produce(topic, spread(0, 900, 3))
    const first = await reader.run({ properties: ['partition', 'offset'] })
    expect(first).toMatchObject({ isSettled: true, dataset: { rows: 900, rejects: { rows: 0 } } })
    expect(sortNumbers(numbersOf(first.rows))).toEqual(range(0, 900))
    for (const partition of [0, 1, 2]) {
      const rows = first.rows.filter(({ _partition }) => Number(_partition) === partition)
      expect(rows.map(({ _offset }) => Number(_offset))).toEqual(range(0, 300))
      expect(numbersOf(rows)).toEqual(range(0, 300).map((at) => at * 3 + partition))
    }
    expect(first.dataset.cursor).toMatchObject({ offsets: { 0: '300', 1: '300', 2: '300' }, epochs: { 0: 0 } })
    await driver.do({ do: 'grow', topic, partitions: 4 })
    await driver.produce(topic, spread(900, 8, 4))
    expect(sortNumbers(numbersOf((await reader.run()).rows))).toEqual(range(900, 8))
    const last = await reader.run()
    expect(last.dataset).toMatchObject({ rows: 0, cursor: { offsets: { 0: '302', 3: '2' } } })
  })

  where.each(['none', 'gzip', 'snappy', 'lz4', 'zstd'])('is read as its producer compressed it: %s', async (codec) => {
    const topic = `codec-${codec}`
    await driver.create(topic, 1, { 'compression.type': 'producer' })
    const texts = Array.from({ length: 400 }, (_, at) => JSON.stringify({ n: at, text: randomText(at) }))
    const compression = { 'compression.type': codec, 'batch.size': '200000', 'linger.ms': '200' }
    await driver.produce(topic, texts, { settings: compression })
    await driver.produce(topic, [JSON.stringify({ n: 400, text: 'ab'.repeat(300_000) })], { settings: compression })
    using reader = new QueueReader(connectToTopic(server, topic), settings)
    const { rows, failure } = await reader.run({ max_message_bytes: 1_000_000 })
    expect(failure).toBeUndefined()
    expect(rows.map((row) => JSON.stringify({ n: Number(row.n), text: row.text }))).toEqual([
      ...texts,
      JSON.stringify({ n: 400, text: 'ab'.repeat(300_000) }),
    ])
  })
})

describe('a transaction', () => {
  where('lands once it is committed, and not where it was aborted', async () => {
    const topic = 'transactions'
    await driver.create(topic)
    const transactionOf = (id: string) => ({ settings: { 'transactional.id': id } })
    using reader = new QueueReader(connectToTopic(server, topic), settings)
    await driver.produce(topic, bodiesOf(0, 2))
    await driver.produce(topic, bodiesOf(100, 50), { ...transactionOf('a'), end: 'abort' })
    await driver.produce(topic, bodiesOf(2, 3), { ...transactionOf('a'), end: 'commit' })
    await driver.produce(topic, bodiesOf(200, 5), { ...transactionOf('b'), end: 'abort' })
    const first = await reader.run()
    expect(numbersOf(first.rows)).toEqual([0, 1, 2, 3, 4])
    // With the marks of three transactions: what follows is new.
    expect(first.dataset.cursor?.offsets).toEqual({ 0: '63' })
    await driver.produce(topic, bodiesOf(5, 1), { ...transactionOf('c'), end: 'open' })
    await driver.produce(topic, bodiesOf(6, 2))
    const open = await reader.run()
    expect([open.dataset.rows, open.dataset.cursor?.offsets]).toEqual([0, { 0: '63' }])
    // Its next producer ends the transaction.
    await driver.produce(topic, bodiesOf(8, 1), { ...transactionOf('c'), end: 'commit' })
    expect(numbersOf((await reader.run()).rows)).toEqual([6, 7, 8])
  })
})

describe('messages', () => {
  where('have their key, headers, time and place beside the body', async () => {
    const topic = 'properties'
    await driver.create(topic)
    const bytes = Buffer.from([0xff, 0])
    const headers = [
      ['a', 'ü'],
      ['b', bytes],
      ['a', null],
      ['__proto__', 'x'],
    ] as const
    const at = Date.UTC(2026, 0, 2)
    await driver.produce(topic, [
      { value: '{"n": 1}', key: 'k-1', headers, at },
      { value: '{"n": 2}', key: bytes, at },
    ])
    using reader = new QueueReader(connectToTopic(server, topic), settings)
    const properties = ['key', 'headers', 'published_at', 'partition', 'offset']
    const { rows, dataset } = await reader.run({ properties })
    const place = { _partition: '0', _published_at: expect.anything() }
    expect(rows).toMatchObject([
      { ...place, n: '1', _key: 'k-1', _offset: '0', _headers: '{"a":["ü",null],"b":"/wA=","__proto__":"x"}' },
      { ...place, n: '2', _key: '/wA=', _offset: '1', _headers: undefined },
    ])
    expect(dataset.columns.find(({ name }) => name === '_published_at')?.type).toBe('timestamp')
  })

  where('without a body land with their key, or are rejected where nothing of them would be left', async () => {
    const topic = 'tombstones'
    await driver.create(topic)
    const messages = [
      { key: 'a', value: '{"n": 1}' },
      { key: 'a', value: null },
      { key: 'b', value: '' },
    ]
    await driver.produce(topic, messages)
    const read = async (params: Readonly<Record<string, unknown>>) => {
      using reader = new QueueReader(connectToTopic(server, topic), settings)
      const { rows, rejects } = await reader.run(params)
      return { rows, reasons: rejects.map(({ reason, line }) => [line, reason]) }
    }
    expect(await read({ properties: ['key'] })).toEqual({
      rows: [
        { _key: 'a', n: '1' },
        { _key: 'a', n: undefined },
      ],
      reasons: [[3, 'the body is not JSON']],
    })
    expect((await read({})).reasons).toEqual([
      [2, 'the message has no body, and no property that is a column'],
      [3, 'the body is not JSON'],
    ])
    expect((await read({ body: 'text', properties: ['key'] })).rows).toEqual([
      { _key: 'a', body: '{"n": 1}' },
      { _key: 'a', body: undefined },
      { _key: 'b', body: '' },
    ])
  })

  where('above the limit stay where they are, those behind them are taken, and they are counted once', async () => {
    const topic = 'large'
    await driver.create(topic)
    const large = Buffer.alloc(3_000_000, '7')
    await driver.produce(topic, ['{"n": 1}', large, '{"n": 2}', large])
    using reader = new QueueReader(connectToTopic(server, topic), settings)
    const { rows, outcome, dataset } = await reader.run({ max_message_bytes: 1_000 })
    expect(numbersOf(rows)).toEqual([1, 2])
    expect(outcome.log).toContain('left 2 above max_message_bytes')
    expect(dataset.cursor?.offsets).toEqual({ 0: '4' })
    expect((await reader.run({ max_message_bytes: 1_000 })).outcome.log).not.toContain('above max_message_bytes')
  })

  where('in batches beyond what is read at once end the run, which says so', async () => {
    const topic = 'huge'
    await driver.create(topic)
    await driver.produce(topic, [{ zeros: 40_000_000 }])
    using reader = new QueueReader(connectToTopic(server, topic), settings)
    const { failure } = await reader.run()
    expect(failure).toMatchObject({ isFinal: true, reason: expect.stringContaining('more than 33554432 bytes') })
  })
})

describe('a reading', () => {
  where('ends by messages, bytes, a pause or its time, and takes the rest by the next run', async () => {
    const topic = 'limits'
    await driver.create(topic, 2)
    const texts = Array.from({ length: 500 }, (_, at) => ({
      value: JSON.stringify({ n: at, text: 'x'.repeat(1_000) }),
      partition: at % 2,
    }))
    await driver.produce(topic, texts)
    using reader = new QueueReader(connectToTopic(server, topic), settings)
    const seen: number[] = []
    const logged = async (params: Readonly<Record<string, unknown>>) => {
      const { outcome, rows } = await reader.run(params)
      seen.push(...numbersOf(rows))
      const [, end] = /the reading ended ([^;]*);/.exec(outcome.log) ?? []
      return [rows.length, end]
    }
    expect(await logged({ max_messages: 201 })).toEqual([201, 'after 201 messages'])
    expect(await logged({ max_bytes: 50_000 })).toEqual([50, 'after 50000 bytes'])
    let isStopped = false
    let sent = 500
    const busy = (async () => {
      while (!isStopped) await driver.produce(topic, bodiesOf(sent++, 1))
    })()
    expect(await logged({ max_s: 2, idle_s: 2 })).toEqual([
      expect.any(Number),
      expect.stringContaining('after 2 s, or'),
    ])
    isStopped = true
    await busy
    expect(await logged({})).toEqual([expect.any(Number), 'after 1 s without a message'])
    expect(sortNumbers(seen)).toEqual(range(0, sent))
  })

  where(
    'stays below its memory, whatever the size of the topic',
    async () => {
      const topic = 'memory'
      await driver.create(topic)
      const body = JSON.stringify({ text: 'x'.repeat(900_000) })
      for (let sent = 0; sent < 300; sent += 50) await driver.produce(topic, Array<string>(50).fill(body))
      using reader = new QueueReader(connectToTopic(server, topic), settings)
      reader.memory_mb = 384
      const { failure, dataset } = await reader.run({ body: 'text', max_messages: 300, max_bytes: 1 << 30 })
      expect(failure).toBeUndefined()
      expect(dataset.rows).toBe(300)
    },
    60_000,
  )
})

/** Repeats itself, in parts alone. */
function randomText(seed: number): string {
  let state = seed + 1
  const next = () => {
    state = (state * 48_271) % 2_147_483_647
    return state
  }
  return Array.from({ length: 100 }, () => (next() % 3 === 0 ? 'a repeated part ' : next().toString(36))).join('')
}
