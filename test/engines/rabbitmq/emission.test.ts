// Decisions of a site on a lens reach an exchange of a foreign broker: at least once, in order, under an id that reveals repeats.
import * as fs from 'node:fs'
import path from 'node:path'
import type { Channel, ChannelModel, GetMessage } from 'amqplib'
import { afterAll, beforeAll, expect } from 'vitest'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import {
  buildOpinionInput,
  createOperator,
  openSession,
  startConsensusSite,
} from '../../roles/consensus/consensus-site.ts'
import { type Rabbitmq, rabbitmqRequirement } from '../../support/engines/rabbitmq.ts'
import { sharedRabbitmq } from '../../support/engines/shared-servers.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { type TestSite, waitUntil } from '../../support/site/test-site.ts'

const test = whenPresent(rabbitmqRequirement)
let broker: Rabbitmq
let world: TestSite
let person: CheckedClient
let owner: { connection: ChannelModel; channel: Channel }

beforeAll(async () => {
  if (!rabbitmqRequirement.isPresent) return
  // It may publish, and nothing else.
  broker = sharedRabbitmq('emission', { emitter: { configure: '^$', write: '^decisions$', read: '^$' } })
  await broker.start()
  const password_file = path.join(broker.folder, 'emitter-password')
  fs.writeFileSync(password_file, `${broker.password}\n`, { mode: 0o600 })
  const at = { kind: 'amqp', url: broker.url, user: 'emitter', password_file }
  const sinks = [
    { ...at, name: 'bound', exchange: 'decisions', routing_key: 'lens.decided' },
    { ...at, name: 'nowhere', exchange: 'decisions', routing_key: 'unbound.decided' },
    { ...at, name: 'refused', exchange: 'not-ours', routing_key: 'x' },
  ]
  world = await startConsensusSite({ contributors: ['c1', 'c2'], consensus: { sinks } })
  person = await createOperator(world)
  await declareExchange()
})
afterAll(async () => {
  await world?.end()
  await broker?.end()
})

/** By the owner of the exchange. */
async function declareExchange(): Promise<void> {
  owner = await broker.connect()
  await owner.channel.assertExchange('decisions', 'topic', { durable: true })
  await owner.channel.assertExchange('not-ours', 'topic', { durable: true })
  await owner.channel.assertQueue('bound', { durable: true })
  await owner.channel.bindQueue('bound', 'decisions', 'lens.#')
}

async function ratifySession(): Promise<string> {
  const { id } = await openSession(person, { m: 1, n: 2 })
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9) })
  return id
}

const waitForUndelivered = (id: string, count: number) =>
  waitUntil(async () => (await person.ok(get, { id })).undelivered === count)

/** The next in the queue. */
function takeNext(queue = 'bound'): Promise<GetMessage> {
  return waitUntil(async () => (await owner.channel.get(queue, { noAck: true })) || undefined)
}

const parseBody = ({ content }: GetMessage) => JSON.parse(content.toString('utf8'))

test('a decision and its retraction come in order, lasting, each under its own id', async () => {
  const id = await ratifySession()
  const first = await takeNext()
  expect(first.properties).toMatchObject({
    messageId: `${id}:emission:ratified:bound`,
    type: 'consensus.lens_emission/1',
    contentType: 'application/json',
    deliveryMode: 2,
    userId: 'emitter',
  })
  expect(first.properties.headers?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-\d\d$/)
  expect(parseBody(first)).toMatchObject({
    id: first.properties.messageId,
    session_id: id,
    event: 'ratified',
    decision: 'match',
  })
  await person.ok(cancel, { id })
  const second = await takeNext()
  expect([second.properties.messageId, parseBody(second).event]).toEqual([
    `${id}:emission:retracted:bound`,
    'retracted',
  ])
})

test('a message that no queue takes, or that the broker refuses, stays pending and delays no other', async () => {
  const id = await ratifySession()
  expect(parseBody(await takeNext()).session_id).toBe(id)
  await waitForUndelivered(id, 2)
  await owner.channel.assertQueue('late', { durable: true })
  await owner.channel.bindQueue('late', 'decisions', 'unbound.decided')
  await waitUntil(async () => {
    world.wakeWorker('consensus', 'relay')
    return (await person.ok(get, { id })).undelivered === 1
  })
  // It was pending for the session before, too, and any of them may arrive twice.
  await waitUntil(async () => parseBody(await takeNext('late')).session_id === id)
  await owner.channel.purgeQueue('bound')
})

test('a broker that is killed gets what it has not confirmed once it is back', async () => {
  await broker.kill()
  const id = await ratifySession()
  await waitForUndelivered(id, 3)
  await broker.start()
  owner = await broker.connect()
  await owner.channel.deleteExchange('not-ours')
  const message_id = await waitUntil(async () => {
    world.wakeWorker('consensus', 'relay')
    const found = await owner.channel.get('bound', { noAck: true })
    return found ? found.properties.messageId : undefined
  })
  expect(message_id).toBe(`${id}:emission:ratified:bound`)
  await waitForUndelivered(id, 1)
  expect(world.loggedErrors).toEqual([])
})
