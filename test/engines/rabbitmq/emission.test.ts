// What a site decides on a lens reaches an exchange of somebody's broker: at least once, in order, under an id that tells repeats.
import * as fs from 'node:fs'
import path from 'node:path'
import type { Channel, ChannelModel, GetMessage } from 'amqplib'
import { afterAll, beforeAll, expect } from 'vitest'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { consensusWorld, open, operatorOf, opinion } from '../../roles/consensus/consensus-world.ts'
import { type Rabbitmq, rabbitmq, rabbitmqWanted } from '../../support/engines/rabbitmq.ts'
import type { Person } from '../../support/person.ts'
import { whenPresent } from '../../support/requires.ts'
import { type SiteWorld, until } from '../../support/site-world.ts'

const test = whenPresent(rabbitmqWanted)
let broker: Rabbitmq
let world: SiteWorld
let person: Person
let owner: { connection: ChannelModel; channel: Channel }

beforeAll(async () => {
  if (!rabbitmqWanted.isPresent) return
  // It may publish, and nothing else.
  broker = await rabbitmq({ users: { emitter: { configure: '^$', write: '^decisions$', read: '^$' } } })
  await broker.start()
  const password_file = path.join(broker.folder, 'emitter-password')
  fs.writeFileSync(password_file, `${broker.password}\n`, { mode: 0o600 })
  const at = { kind: 'amqp', url: broker.url, user: 'emitter', password_file }
  const sinks = [
    { ...at, name: 'told', exchange: 'decisions', routing_key: 'lens.decided' },
    { ...at, name: 'nowhere', exchange: 'decisions', routing_key: 'nobody.asked' },
    { ...at, name: 'refused', exchange: 'not-ours', routing_key: 'x' },
  ]
  world = await consensusWorld({ contributors: ['c1', 'c2'], consensus: { sinks } })
  person = await operatorOf(world)
  await declare()
})
afterAll(async () => {
  await world?.end()
  await broker?.end()
})

/** By whoever the exchange belongs to. */
async function declare(): Promise<void> {
  owner = await broker.connect()
  await owner.channel.assertExchange('decisions', 'topic', { durable: true })
  await owner.channel.assertExchange('not-ours', 'topic', { durable: true })
  await owner.channel.assertQueue('told', { durable: true })
  await owner.channel.bindQueue('told', 'decisions', 'lens.#')
}

async function ratified(): Promise<string> {
  const { id } = await open(person, { m: 1, n: 2 })
  await person.ok(contribute, { id, ...opinion('c1', 0.9) })
  return id
}

const owes = (id: string, count: number) => until(async () => (await person.ok(get, { id })).undelivered === count)

/** The next in the queue. */
function next(queue = 'told'): Promise<GetMessage> {
  return until(async () => (await owner.channel.get(queue, { noAck: true })) || undefined)
}

const bodyOf = ({ content }: GetMessage) => JSON.parse(content.toString('utf8'))

test('a decision and its retraction come in order, lasting, each under its own id', async () => {
  const id = await ratified()
  const first = await next()
  expect(first.properties).toMatchObject({
    messageId: `${id}:emission:ratified:told`,
    type: 'consensus.lens_emission/1',
    contentType: 'application/json',
    deliveryMode: 2,
    userId: 'emitter',
  })
  expect(first.properties.headers?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-\d\d$/)
  expect(bodyOf(first)).toMatchObject({
    id: first.properties.messageId,
    session_id: id,
    event: 'ratified',
    decision: 'match',
  })
  await person.ok(cancel, { id })
  const second = await next()
  expect([second.properties.messageId, bodyOf(second).event]).toEqual([`${id}:emission:retracted:told`, 'retracted'])
})

test('what no queue would take, and what the broker refuses, is owed and holds nobody up', async () => {
  const id = await ratified()
  expect(bodyOf(await next()).session_id).toBe(id)
  await owes(id, 2)
  await owner.channel.assertQueue('late', { durable: true })
  await owner.channel.bindQueue('late', 'decisions', 'nobody.asked')
  await until(async () => {
    world.wake('consensus', 'relay')
    return (await person.ok(get, { id })).undelivered === 1
  })
  // It was owed of the session before, too, and any of them may come twice.
  await until(async () => bodyOf(await next('late')).session_id === id)
  await owner.channel.purgeQueue('told')
})

test('a broker that is killed gets what it has not confirmed once it is back', async () => {
  await broker.kill()
  const id = await ratified()
  await owes(id, 3)
  await broker.start()
  owner = await broker.connect()
  await owner.channel.deleteExchange('not-ours')
  const message_id = await until(async () => {
    world.wake('consensus', 'relay')
    const found = await owner.channel.get('told', { noAck: true })
    return found ? found.properties.messageId : undefined
  })
  expect(message_id).toBe(`${id}:emission:ratified:told`)
  await owes(id, 1)
  expect(world.faults).toEqual([])
})
