// The place in a topic of a real Kafka: committed to a group once it has landed, and never one behind messages that were not read.
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { kafkaSource } from '../../../adapters/ingest-source/kafka/kafka-source.ts'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import type { MessageRequest } from '../../../daemon/shared/message-source/message-source.ts'
import { type Kafka, type KafkaDriver, kafka, kafkaRequirement } from '../../support/engines/kafka.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import { QueueReader } from '../../support/ingest/queue-reader.ts'
import {
  bodiesOf,
  connectToTopic,
  numbersOf,
  range,
  topicSettings as settings,
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

describe('the consumer group of a connection', () => {
  where('has the offsets of what has landed, and decides nothing', async () => {
    const topic = 'grouped'
    await driver.create(topic, 2)
    await driver.produce(topic, ['no', ...bodiesOf(0, 10)])
    using reader = new QueueReader(connectToTopic(server, topic, { group: 'readers' }), settings)
    const committed = () => driver.do({ do: 'group', group: 'readers' })
    expect((await reader.run({ max_rejects: 0 })).failure).toBeDefined()
    expect(await committed()).toEqual({})
    expect(await reader.run({ max_messages: 5 })).toMatchObject({ isSettled: true, dataset: { rows: 4 } })
    expect(await committed()).toEqual({ 'grouped/0': 5, 'grouped/1': 0 })
    // Another reader begins where its own datasets end: nowhere.
    using other = new QueueReader(connectToTopic(server, topic, { group: 'readers' }), settings)
    expect((await other.run()).rows).toHaveLength(10)
    expect(numbersOf((await reader.run()).rows)).toEqual(range(4, 6))
    expect(await committed()).toEqual({ 'grouped/0': 11, 'grouped/1': 0 })
  })

  where('that has members takes no offsets: the messages have landed all the same, each once', async () => {
    const topic = 'joined'
    await driver.create(topic)
    await driver.do({ do: 'join', topic, group: 'members' })
    await driver.produce(topic, bodiesOf(0, 3))
    using reader = new QueueReader(connectToTopic(server, topic, { group: 'members' }), settings)
    const { outcome, rows, isSettled } = await reader.run()
    expect([numbersOf(rows), isSettled]).toEqual([[0, 1, 2], false])
    expect(outcome.log).toContain('could not be acknowledged: the consumer group has members')
    expect((await reader.run()).rows).toEqual([])
  })
})

describe('a topic', () => {
  where('whose messages were removed before they were read fails the run, or goes on behind them', async () => {
    const topic = 'trimmed'
    await driver.create(topic, 2)
    using reader = new QueueReader(connectToTopic(server, topic), settings)
    await reader.run()
    await driver.produce(topic, [...bodiesOf(0, 10), { value: '{"n": 100}', partition: 1 }])
    expect((await reader.run({ max_messages: 11 })).rows).toHaveLength(11)
    // The removed messages have landed.
    await driver.do({ do: 'trim', topic, partition: 0, before: 10 })
    expect((await reader.run()).dataset).toMatchObject({ rows: 0 })
    await driver.produce(topic, bodiesOf(10, 10))
    await driver.do({ do: 'trim', topic, partition: 0, before: 15 })
    const { failure } = await reader.run()
    expect(failure).toEqual({
      isFinal: true,
      reason: expect.stringContaining('partition 0 was read up to offset 10 and begins at 15 now'),
    })
    const next = await reader.run({ on_lost_messages: 'continue' })
    expect(numbersOf(next.rows)).toEqual(range(15, 5))
    expect(next.outcome.log).toContain('; 5 offsets were removed before they were read')
    expect((await reader.run()).dataset).toMatchObject({ rows: 0, cursor: { offsets: { 0: '20', 1: '1' } } })
  })

  where('whose last offsets are the marks of transactions lost nothing when they are removed', async () => {
    const topic = 'marked'
    await driver.create(topic)
    await driver.produce(topic, bodiesOf(0, 3), { end: 'commit', settings: { 'transactional.id': 'marks' } })
    using reader = new QueueReader(connectToTopic(server, topic), settings)
    expect((await reader.run()).rows).toHaveLength(3)
    await driver.do({ do: 'trim', topic, partition: 0, before: 4 })
    await driver.produce(topic, bodiesOf(3, 1))
    expect(numbersOf((await reader.run()).rows)).toEqual([3])
  })

  where('that was created again does not pass for the one that was read', async () => {
    const topic = 'again'
    await driver.create(topic)
    await driver.produce(topic, bodiesOf(0, 3))
    using reader = new QueueReader(connectToTopic(server, topic), settings)
    expect((await reader.run()).rows).toHaveLength(3)
    await driver.do({ do: 'delete', topic })
    await expect
      .poll(() =>
        driver.create(topic).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    await driver.produce(topic, bodiesOf(10, 5))
    const { failure } = await reader.run()
    expect(failure).toEqual({ isFinal: true, reason: expect.stringContaining('it was created again') })
  })

  where('is read on when its broker was killed and is back, within a run or by the next one', async () => {
    const topic = 'restarted'
    await driver.create(topic)
    await driver.produce(topic, bodiesOf(0, 5))
    const seen: string[] = []
    const enough = Promise.withResolvers<void>()
    const reading = readTopic(topic, enough.promise, (body) => {
      seen.push(body)
      if (seen.length === 10) enough.resolve()
    })
    await expect.poll(() => seen.length).toBe(5)
    await server.kill()
    await server.start()
    await driver.produce(topic, bodiesOf(5, 5))
    await reading
    expect(seen).toEqual(bodiesOf(0, 10))
    using reader = new QueueReader(connectToTopic(server, topic), settings)
    expect((await reader.run()).rows).toHaveLength(10)
    await server.kill()
    const { failure } = await reader.run()
    expect(failure).toMatchObject({ isFinal: false, reason: expect.stringContaining('ECONNREFUSED') })
    await server.start()
    await driver.produce(topic, bodiesOf(10, 5))
    expect(numbersOf((await reader.run()).rows)).toEqual(range(10, 5))
  })

  where('whose broker lost its disk does not pass for one without new messages', async () => {
    for (const topic of ['lost', 'lost-further']) {
      await driver.create(topic)
      await driver.produce(topic, bodiesOf(0, 5))
    }
    using reader = new QueueReader(connectToTopic(server, 'lost'), settings)
    using further = new QueueReader(connectToTopic(server, 'lost-further'), settings)
    for (const each of [reader, further]) expect((await each.run()).rows).toHaveLength(5)
    await server.kill()
    server.losePartition('lost', 0)
    server.losePartition('lost-further', 0)
    await server.start()
    expect((await reader.run()).failure).toMatchObject({
      reason: expect.stringContaining('does not have the messages'),
    })
    // Other messages at the same offsets, and beyond.
    await driver.produce('lost-further', bodiesOf(100, 8))
    expect((await further.run()).failure).toMatchObject({
      reason: expect.stringContaining('does not have the messages'),
    })
  })
})

async function readTopic(topic: string, isEnough: Promise<void>, onBody: (body: string) => void): Promise<void> {
  const source = kafkaSource({
    ...{ brokers: ['127.0.0.1'], port: server.port, topic, tls: 'off', mechanism: 'none' },
    rule: addressRule(settings.trusted_networks),
  })
  const request: MessageRequest = {
    ...{ max_messages: 100, max_message_bytes: 1_000, position: { offsets: new Map(), epochs: new Map() } },
    ...{ onOpen: () => undefined, onPlace: () => undefined, onGap: () => undefined, onLarge: () => 'leave' },
    onMessage({ body }) {
      onBody(Buffer.from(body).toString())
      return 'take'
    },
  }
  await source.receive(request, isEnough, new AbortController().signal).finally(() => source.close())
}
