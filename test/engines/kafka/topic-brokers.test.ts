// A topic whose partitions two real brokers lead: all of them land, also while one of the brokers is gone and its partitions move.
import { afterAll, beforeAll, expect } from 'vitest'
import { kafkaSource } from '../../../adapters/ingest-source/kafka/kafka-source.ts'
import { addressRule } from '../../../adapters/platform/address-rule/address-rule.ts'
import type { MessageRequest } from '../../../daemon/shared/message-source/message-source.ts'
import { type Kafka, type KafkaDriver, kafka, kafkaRequirement } from '../../support/engines/kafka.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import type { ServerProcess } from '../../support/engines/server-process.ts'
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
import { waitUntil } from '../../support/site/test-site.ts'

const where = whenPresent(kafkaRequirement)
const topic = 'replicated'
const partitions = 4
let certificates: ServerCertificateSet
let server: Kafka
let second: ServerProcess & { readonly port: number }
let driver: KafkaDriver

beforeAll(async () => {
  if (!kafkaRequirement.isPresent) return
  certificates = issueServerCertificates('server')
  server = await kafka(certificates.of('server'))
  await server.start()
  second = await server.addBroker()
  await second.start()
  driver = server.drive()
  const create = () => driver.do({ do: 'create', topic, partitions, replicas: 2 })
  // The controller knows the second broker a little later.
  await waitUntil(() =>
    create().then(
      () => true,
      () => false,
    ),
  )
})
afterAll(async () => {
  await server?.end()
  certificates?.dispose()
})

const publish = (from: number, count: number) =>
  driver.produce(
    topic,
    bodiesOf(from, count).map((value, at) => ({ value, partition: at % partitions })),
  )

where('messages of both brokers land once each, by either of them', async () => {
  expect(new Set(Object.values(await driver.do({ do: 'leaders', topic })))).toEqual(new Set([1, 2]))
  await publish(0, 400)
  for (const { port } of [server, second]) {
    using reader = new QueueReader(connectToTopic({ port }, topic), settings)
    expect(sortNumbers(numbersOf((await reader.run()).rows))).toEqual(range(0, 400))
    expect((await reader.run()).rows).toEqual([])
  }
})

where('a reading goes on when a broker is killed and the other one leads its partitions', async () => {
  using reader = new QueueReader(connectToTopic(server, topic), settings)
  expect((await reader.run()).rows).toHaveLength(400)
  const seen: number[] = []
  const enough = Promise.withResolvers<void>()
  const request: MessageRequest = {
    ...{ max_messages: 1_000, max_message_bytes: 1_000, position: { offsets: new Map(), epochs: new Map() } },
    ...{ onOpen: () => undefined, onPlace: () => undefined, onGap: () => undefined, onLarge: () => 'leave' },
    onMessage({ body }) {
      seen.push(JSON.parse(Buffer.from(body).toString()).n)
      if (seen.length === 800) enough.resolve()
      return 'take'
    },
  }
  const source = kafkaSource({
    ...{ brokers: ['127.0.0.1'], port: server.port, topic, tls: 'off', mechanism: 'none' },
    rule: addressRule(settings.trusted_networks),
  })
  const reading = source.receive(request, enough.promise, new AbortController().signal)
  await expect.poll(() => seen.length).toBe(400)
  await second.kill()
  await publish(400, 400)
  await reading.finally(() => source.close())
  expect(sortNumbers(seen)).toEqual(range(0, 800))
  await second.start()
  // Other terms of the leaders than when it read before.
  expect(sortNumbers(numbersOf((await reader.run()).rows))).toEqual(range(400, 400))
})
