// Servers that are not a broker, or are a hostile one: a clear end of each run, bounded memory, and nothing acknowledged that has not landed.
import type { Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { OpenConnection } from '../../daemon/roles/ingest/parts.ts'
import {
  describeBody,
  describeHostileDelivery,
  type HostileBehaviour,
  type HostileRabbitmq,
  listenAsRabbitmq,
  sendEndlessly,
} from '../support/engines/hostile-rabbitmq.ts'
import { QueueReader, type QueueRun } from '../support/ingest/queue-reader.ts'

const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1'], addonDir: '' }
let server: HostileRabbitmq | undefined
afterEach(() => server?.close())

async function run(behaviour: HostileBehaviour, params: Readonly<Record<string, unknown>> = {}): Promise<QueueRun> {
  server = await listenAsRabbitmq(behaviour)
  const place = { host: '127.0.0.1', port: server.port, virtual_host: '/', queue: 'q', username: 'ann', tls: 'off' }
  const connection: OpenConnection = {
    ...{ tenant_id: 'acme', conn_type: 'rabbitmq', config: place },
    secret: JSON.stringify({ password: 'a-secret' }),
  }
  using reader = new QueueReader(connection, settings)
  reader.memory_mb = 256
  const found = await reader.run(params)
  const text = JSON.stringify(found.outcome)
  for (const hidden of ['127.0.0.1', String(server.port), 'a-secret', 'ann']) expect(text).not.toContain(hidden)
  return found
}

test('a body without an end is read past, and the pause after it ends the reading', async () => {
  const piece = describeBody(Buffer.alloc(100_000))
  const found = await run({
    onConsume(socket) {
      socket.write(describeHostileDelivery(1, Buffer.alloc(10), 2 ** 50))
      sendEndlessly(socket, () => piece)
    },
  })
  expect(found.failure?.reason ?? found.outcome.log).toMatch(/left 1 above max_message_bytes|did not answer/)
  expect(server?.acknowledged()).toBe(0)
})

test('messages without an end are taken up to the limit', async () => {
  let tag = 0
  const found = await run(
    { onConsume: (socket) => sendEndlessly(socket, () => describeHostileDelivery(++tag, Buffer.from(`{"n":${tag}}`))) },
    { max_messages: 150 },
  )
  expect(found.dataset.rows).toBe(150)
  expect(new Set(found.rows.map(({ n }) => n)).size).toBe(150)
})

test.each<[string, HostileBehaviour, string]>([
  [
    'a stream without offsets',
    { takesOffsets: true, onConsume: (socket) => socket.write(describeHostileDelivery(1, Buffer.from('{}'))) },
    'does not answer as a RabbitMQ does',
  ],
  [
    'an end within a body',
    { onConsume: (socket) => socket.end(describeHostileDelivery(1, Buffer.from('{"a"'), 100)) },
    'is lost',
  ],
  [
    'a body that is longer than its header says',
    { onConsume: (socket) => socket.write(describeHostileDelivery(1, Buffer.alloc(100), 10)) },
    'is lost',
  ],
  ['another protocol', { hello: Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n') }, 'is lost'],
  [
    'a frame without an end',
    { hello: Buffer.concat([Buffer.from([1, 0, 0, 0x7f, 0xff, 0xff, 0xff]), Buffer.alloc(500_000)]) },
    'is lost',
  ],
])('%s fails the try, and nothing is acknowledged', async (_, behaviour, reason) => {
  const { failure } = await run(behaviour)
  expect(failure?.reason).toContain(reason)
  expect(server?.acknowledged()).toBe(0)
})

test('the consumer has the queue until all that has landed is acknowledged', async () => {
  const acknowledged: (number | undefined)[] = []
  const found = await run({
    onConsume: (socket) => socket.write(describeHostileDelivery(1, Buffer.from('{"n":1}'))),
    onCancel: () => acknowledged.push(server?.acknowledged()),
  })
  expect(found.isSettled).toBe(true)
  expect(acknowledged).toEqual([1])
})

/** In frames as the connection takes them. */
function sendDelivery(socket: Socket, tag: number, body: Buffer): void {
  const piece_bytes = 100_000
  socket.write(describeHostileDelivery(tag, body.subarray(0, piece_bytes), body.length))
  for (let at = piece_bytes; at < body.length; at += piece_bytes)
    socket.write(describeBody(body.subarray(at, at + piece_bytes)))
}

test.each<[string, Buffer]>([
  ['text', Buffer.alloc(1_500_000, 'a')],
  ['base64', Buffer.alloc(1_000_000, 'b')],
  ['json', Buffer.from(`{"body": "${'c'.repeat(2_000_000)}"}`)],
  ['json', Buffer.from(`{"body": [{}, ${'1e15,'.repeat(100_000)}0]}`)],
])('a body of %s with a value that is too long is in the rejects as a whole', async (body, sent) => {
  const found = await run(
    { onConsume: (socket) => sendDelivery(socket, 1, sent) },
    { body, max_message_bytes: 8_388_608 },
  )
  expect(found.rejects).toMatchObject([{ line: 1, reason: '"body" has more than 1048576 bytes' }])
  expect(String(found.rejects[0]?.record)).toBe(sent.toString())
  expect(found.isSettled).toBe(true)
})
