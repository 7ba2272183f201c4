// Connections to a real Kafka by TLS and with users: what a test of them reports, and what a run does.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect } from 'vitest'
import type { OpenConnection } from '../../../daemon/roles/ingest/parts.ts'
import { probeConnection } from '../../../daemon/runtime/ingest/connection/probe-connection.ts'
import { type Kafka, type KafkaDriver, kafka, kafkaRequirement } from '../../support/engines/kafka.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import { findFreePorts } from '../../support/engines/server-process.ts'
import { QueueReader } from '../../support/ingest/queue-reader.ts'
import { bodiesOf, connectToTopic, numbersOf, topicSettings as settings } from '../../support/ingest/topic-reader.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(kafkaRequirement)
let certificates: ServerCertificateSet
let server: Kafka
let driver: KafkaDriver
let closed_port = 0
let ca = ''

beforeAll(async () => {
  if (!kafkaRequirement.isPresent) return
  certificates = issueServerCertificates('server')
  ca = readFileSync(certificates.of('server').ca, 'utf8')
  server = await kafka(certificates.of('server'), ['reader', 'a=b'])
  await server.start()
  driver = server.drive()
  closed_port = (await findFreePorts(1))[0] ?? 0
  for (const topic of ['open', 'denied']) {
    await driver.create(topic, 2)
    await driver.produce(topic, bodiesOf(0, 3))
  }
  for (const user of ['reader', 'a=b']) await driver.do({ do: 'allow', user, type: 'TOPIC', name: 'open' })
  await driver.do({ do: 'allow', user: 'reader', type: 'GROUP', name: 'open' })
})
afterAll(async () => {
  await server?.end()
  certificates?.dispose()
})

type Change = Readonly<Record<string, string | number | string[] | undefined>>

/** By TLS as the user. */
function connect(change: Change = {}, password = server.password, topic = 'open'): OpenConnection {
  const usual = { port: server.user_port, tls: 'verify', ca, mechanism: 'scram-sha-512', username: 'reader' }
  return connectToTopic(server, topic, { ...usual, ...change }, password)
}

const probe = (connection: OpenConnection) => probeConnection({ ...settings, probe: true, connection })

where('a user reads by each mechanism, and commits where it may', async () => {
  for (const mechanism of ['plain', 'scram-sha-256', 'scram-sha-512']) {
    for (const username of ['reader', 'a=b']) {
      if (mechanism === 'plain' && username !== 'reader') continue
      const connection = connect({ mechanism, username, group: `open-${mechanism}` })
      expect(await probe(connection)).toEqual({ ok: true, detail: 'a topic with 2 partitions' })
      using reader = new QueueReader(connection, settings)
      const { rows, isSettled, outcome } = await reader.run()
      expect(numbersOf(rows)).toEqual([0, 1, 2])
      expect([isSettled, outcome.log]).toEqual([username === 'reader', expect.any(String)])
      if (!isSettled) expect(outcome.log).toContain('may not commit offsets of the group')
    }
  }
})

where('a reading goes on for longer than the broker takes a proof of the user', async () => {
  await driver.create('open-long')
  await driver.produce('open-long', bodiesOf(0, 2))
  using reader = new QueueReader(connect({ mechanism: 'scram-sha-256' }, server.password, 'open-long'), settings)
  const reading = reader.run({ idle_s: 6, max_messages: 1_000 })
  expect(numbersOf((await reading).rows)).toEqual([0, 1])
})

where('TLS without a user reads too, by the second of the brokers where the first one is down', async () => {
  const secure = { port: server.tls_port, mechanism: 'none', username: undefined, brokers: ['127.0.0.4', '127.0.0.1'] }
  const { secret: _secret, ...connection } = connect(secure)
  const trusted = { ...settings, trusted_networks: ['127.0.0.0/8'] }
  using reader = new QueueReader(connection, trusted)
  expect(numbersOf((await reader.run()).rows)).toEqual([0, 1, 2])
})

where('what is wrong is reported, without places and secrets', async () => {
  const plain_port = server.port
  const failing: readonly (readonly [OpenConnection, string])[] = [
    [connect({}, 'other-secret'), 'the server refuses the user or the secret'],
    [connect({ mechanism: 'plain' }, 'other-secret'), 'the server refuses the user or the secret'],
    [connect({ username: 'nobody' }), 'the server refuses the user or the secret'],
    [connect({ mechanism: 'plain', tls: 'off', port: plain_port }), 'sent by TLS alone'],
    [connect({ mechanism: 'none', username: undefined }), 'no mechanism to prove it'],
    [connect({ username: undefined }), 'has a username and a password'],
    [connect({ tls: 'off', port: plain_port }), 'takes no user at this port'],
    [connectToTopic(server, 'open', { port: server.user_port, tls: 'verify', ca }), 'may need TLS (tls) or a user'],
    [connectToTopic(server, 'open', { port: server.tls_port }), 'may need TLS (tls) or a user'],
    [connect({}, server.password, 'denied'), 'may not read the topic'],
    [connectToTopic(server, 'absent'), 'the broker has no such topic'],
    [connectToTopic(server, 'not a name'), 'the broker has no such topic'],
    [connect({ ca: undefined }), 'no certificate that the connection trusts'],
    [connect({ port: plain_port }), 'the server did not answer'],
    [connectToTopic(server, 'open', { brokers: ['127.0.0.2'] }), 'does not permit the address'],
    [connectToTopic(server, 'open', { port: closed_port }), 'the server did not answer (ECONNREFUSED)'],
  ]
  const ports = [plain_port, server.tls_port, server.user_port, closed_port].map(String)
  const hidden = ['127.0.0', ...ports, server.password, 'other-secret', 'reader']
  for (const [connection, refusal] of failing) {
    const { ok, detail } = await probe(connection)
    expect({ ok, detail }).toEqual({ ok: false, detail: expect.stringContaining(refusal) })
    for (const text of hidden) expect(detail).not.toContain(text)
    using reader = new QueueReader(connection, settings)
    expect((await reader.run()).failure?.reason).toContain(refusal)
  }
})
