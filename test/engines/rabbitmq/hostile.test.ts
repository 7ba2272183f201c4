// A user of a broker may put anything in a queue: content other than a message is dead-lettered, file-drop judges messages.
import { execFile } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { type Channel, connect, type Options } from 'amqplib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest'
import { skipLargeMessages } from '../../../adapters/platform/amqp-frames/skip-large-messages.ts'
import { amqpCarrier } from '../../../adapters/transport/amqp/carrier.ts'
import { encodeParcel } from '../../../adapters/transport/amqp/message.ts'
import { inboxOf } from '../../../adapters/transport/amqp/topology.ts'
import type { CarriedMessage, MessageReceiver } from '../../../daemon/kernel/messaging/carrier.ts'
import { type Rabbitmq, rabbitmqRequirement } from '../../support/engines/rabbitmq.ts'
import {
  buildLabel,
  buildMessage,
  type FiledropSite,
  listChannelFolders,
  listHandedParcels,
  listNumbers,
  listQuarantineReasons,
  sendFromAlpha,
  startReceiving,
} from '../../support/filedrop/filedrop-sites.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'
import { type BrokerSites, countQueuedMessages, joinByBroker, shareBroker, takeDeadLetters } from './join-by-broker.ts'

const test = whenPresent(rabbitmqRequirement)
let broker: Rabbitmq
beforeAll(async () => {
  if (!rabbitmqRequirement.isPresent) return
  broker = shareBroker('hostile')
  await broker.start()
})
afterAll(() => broker?.end())

let sites: BrokerSites
beforeEach(async () => {
  if (!rabbitmqRequirement.isPresent) return
  sites = await joinByBroker(broker)
  await startReceiving(sites.world.alpha)
  await startReceiving(sites.world.bravo)
  await sites.waitUntilConnected()
})
afterEach(() => sites?.end())

const inbox = () => inboxOf(sites.prefix, 'bravo', 'alpha')
const numbers = () => listNumbers(sites.world.bravo.received)
const message_id = `00000001-${'1'.padStart(16, '0')}`

/** As this user, into bravo's queue for alpha's messages, or another's. Rejects when the broker refuses it. */
async function publishTo(user: string, content: Buffer, about: Options.Publish, key = 'alpha'): Promise<void> {
  const connection = await connect({
    hostname: '127.0.0.1',
    port: broker.port,
    vhost: broker.vhost,
    username: user,
    password: broker.password,
  })
  connection.on('error', () => undefined)
  try {
    const channel = await connection.createConfirmChannel()
    const refused = new Promise<never>((_, reject) => channel.on('error', reject))
    channel.publish(inbox().exchange, key, content, { persistent: true, mandatory: true, ...about })
    await Promise.race([channel.waitForConfirms(), refused])
  } finally {
    await connection.close().catch(() => undefined)
  }
}

function buildParcel(more: Partial<CarriedMessage> = {}): CarriedMessage {
  return { epoch: 1, seq: 1, envelope: Buffer.from('{}'), body: Buffer.from('{}'), ...more }
}

async function publishParcel(parcel: CarriedMessage, user = 'alpha', about: Options.Publish = {}): Promise<void> {
  const draft = encodeParcel(parcel, inbox().exchange, 'alpha', user)
  await publishTo(user, draft.content, { ...draft.properties, ...about })
}

/** The view that a receiver has of honest messages, after all this. */
async function expectHonestDelivery(): Promise<void> {
  await sendFromAlpha(sites.world, 3)
  await sites.deliverAll()
  expect(numbers()).toEqual([1, 2, 3])
}

describe('content other than a message', () => {
  const type = 'platform.parcel.1'
  const longer = Buffer.concat([Buffer.from([0, 0, 0, 9]), Buffer.from('{}')])
  /** Its name, its content, and its properties. */
  const kinds: readonly [string, Buffer, Options.Publish][] = [
    ['nothing at all', Buffer.alloc(0), {}],
    ['another kind', Buffer.from('hello'), { type: 'greeting', messageId: message_id }],
    ['no number', longer, { type }],
    ['a number of another form', longer, { type, messageId: '1-1' }],
    ['number 0', longer, { type, messageId: '00000001-0000000000000000' }],
    ['a number beyond all numbers', longer, { type, messageId: '00000001-9999999999999999' }],
    ['less than a length', Buffer.from([0, 0]), { type, messageId: message_id }],
    ['an end before that of its envelope', longer, { type, messageId: message_id }],
    ['a length of four gigabytes', Buffer.from([255, 255, 255, 255, 1]), { type, messageId: message_id }],
  ]

  test('is among the dead letters as it came, with the reason; what follows arrives', async () => {
    for (const [, content, about] of kinds) await publishTo('alpha', content, { ...about, userId: 'alpha' })
    const dead = await takeDeadLetters(broker, sites, kinds.length)
    expect(dead.map(({ headers }) => headers.reason)).toEqual(kinds.map(() => 'GARBAGE'))
    expect(dead.map(({ bytes }) => bytes)).toEqual(kinds.map(([, content]) => content.length))
    expect(dead[1]?.headers).toMatchObject({ type: 'greeting', id: message_id, user: 'alpha' })
    await expectHonestDelivery()
    expect(listQuarantineReasons(sites.world.bravo, 'alpha')).toEqual([])
  })

  test('by reason of its size is dead, too, and one that is far too large never enters memory', async () => {
    const large = Buffer.alloc(4_194_305, 32)
    await publishParcel(buildParcel({ body: large }))
    await publishParcel(buildParcel({ envelope: Buffer.alloc(65_537, 32) }))
    await publishParcel(buildParcel({ body: Buffer.alloc(33_554_432, 32) }))
    const dead = await takeDeadLetters(broker, sites, 3)
    expect(dead.map(({ headers }) => headers.reason ?? headers['x-first-death-reason']).sort()).toEqual([
      'TOO_LARGE',
      'TOO_LARGE',
      'rejected',
    ])
    expect(Math.max(...dead.map(({ bytes }) => bytes))).toBeGreaterThan(33_554_432)
    expect(sites.world.bravo.events.filter(({ event }) => event === 'carrier.message.dead')).toHaveLength(3)
    await expectHonestDelivery()
  })

  test('is left out frame by frame where it is large, and the next comes whole', async () => {
    const { connection, channel } = await broker.connect()
    const { queue } = await channel.assertQueue('', { exclusive: true })
    const isLarge = skipLargeMessages(channel, 100_000)
    const seen: [number, boolean][] = []
    await channel.consume(queue, (message) => {
      if (message) seen.push([message.content.length, isLarge(message)])
    })
    for (const bytes of [500_000, 100_000, 0, 100_001, 7]) channel.sendToQueue(queue, Buffer.alloc(bytes))
    await waitUntil(() => seen.length === 5)
    expect(seen).toEqual([
      [0, true],
      [100_000, false],
      [0, false],
      [0, true],
      [7, false],
    ])
    await connection.close()
  })
})

describe('users other than alpha', () => {
  test('cannot send as alpha: the broker refuses the name, and without it the message is dead', async () => {
    await expect(publishParcel(buildParcel(), 'mallory', { userId: 'alpha' })).rejects.toThrow(/user_id/)
    await publishParcel(buildParcel(), 'mallory')
    await publishTo('mallory', Buffer.from('x'), {})
    const dead = await takeDeadLetters(broker, sites, 2)
    expect(dead.map(({ headers }) => [headers.reason, headers.user])).toEqual([
      ['WRONG_USER', 'mallory'],
      ['WRONG_USER', undefined],
    ])
    await expectHonestDelivery()
  })

  test('have no right to read, bind or delete the queues of bravo', async () => {
    const attempts: ((channel: Channel) => Promise<unknown>)[] = [
      (channel) => channel.consume(inbox().queue, () => undefined),
      (channel) => channel.deleteQueue(inbox().queue),
      (channel) => channel.deleteExchange(inbox().exchange),
      (channel) => channel.bindQueue(inbox().queue, `${sites.prefix}.mallory`, '#'),
      (channel) => channel.purgeQueue(inbox().queue),
    ]
    const at = {
      hostname: '127.0.0.1',
      port: broker.port,
      vhost: broker.vhost,
      username: 'mallory',
      password: broker.password,
    }
    const connection = await connect(at)
    for (const attempt of attempts) {
      const channel = await connection.createChannel()
      channel.on('error', () => undefined)
      await expect(attempt(channel)).rejects.toThrow(/ACCESS_REFUSED/)
    }
    await connection.close()
  })
})

describe('alpha’s user in other hands', () => {
  test('fills a quarantine with forgeries, and keeps no honest message out', async () => {
    const forged = { envelope: Buffer.from('{"payload":"e30","signatures":[]}'), body: Buffer.from('{}') }
    for (let seq = 1; seq <= 3; seq++) await publishParcel(buildParcel({ seq, ...forged }))
    await waitUntil(() => listQuarantineReasons(sites.world.bravo, 'alpha').length === 3)
    await expectHonestDelivery()
    expect(await countQueuedMessages(broker, inbox().dead_queue)).toBe(0)
  })

  test('sends halves of messages, which lie in no honest message’s way and fill no intake', async () => {
    const { alpha, bravo } = sites.world
    await sites.disconnect(alpha)
    await sendFromAlpha(sites.world, 1)
    const [own] = await listHandedParcels(alpha, 'bravo')
    if (!own) throw new Error('alpha has sent one')
    await publishParcel({ ...own, body: Buffer.alloc(0) })
    await publishParcel({ ...own, envelope: own.envelope.subarray(0, 40) })
    await waitUntil(() => listQuarantineReasons(bravo, 'alpha').length === 2)
    await sites.disconnectDuring(alpha)
    await waitUntil(() => numbers().length > 0)
    expect(listQuarantineReasons(bravo, 'alpha').map(({ reason }) => reason)).toEqual(['TRUNCATED', 'TRUNCATED'])
    expect(numbers()).toEqual([1])
    expect(fs.readdirSync(listChannelFolders(bravo, 'alpha').fresh)).toEqual([])
    expect(await countQueuedMessages(broker, inbox().queue)).toBe(0)
  })

  test('brings bravo its own messages back, and old ones again: the one is put away, the other changes nothing', async () => {
    const { alpha, bravo } = sites.world
    await expectHonestDelivery()
    const [old] = await collectSentParcels(alpha, 'bravo')
    await sites.disconnect(bravo)
    await bravo.transport.send(
      { ...buildMessage(sites.world), peer: 'alpha', label: buildLabel('tenant-alpha') },
      sampleTrace,
    )
    await bravo.transport.rescan()
    const [own] = await listHandedParcels(bravo, 'alpha')
    if (!own || !old) throw new Error('both have sent something')
    await publishParcel({ ...own, seq: 4 })
    await publishParcel(old)
    await sites.disconnectDuring(bravo)
    await waitUntil(async () => {
      await bravo.transport.rescan()
      const status = await bravo.transport.status()
      return status.some(({ direction, duplicates }) => direction === 'in' && duplicates === 1)
    })
    expect(listQuarantineReasons(bravo, 'alpha').map(({ reason }) => reason)).toEqual(['UNKNOWN_KEY'])
    expect(numbers()).toEqual([1, 2, 3])
  })
})

/** Messages that a site has sent and still holds, as a thief would have them. */
async function collectSentParcels(site: FiledropSite, peer: string): Promise<CarriedMessage[]> {
  const { sent } = listChannelFolders(site, peer)
  const stem = '00000001-0000000000000001'
  const file = (part: string) => path.join(sent, `${stem}.${part}.json`)
  const read = (part: string) => fs.readFileSync(file(part))
  // Kept once its absence is noticed; the envelope comes last.
  await waitUntil(() => fs.existsSync(file('env')))
  return [{ epoch: 1, seq: 1, envelope: read('env'), body: read('body') }]
}

describe('a message that breaks its reader', () => {
  /** Lists in lists, deeper than a reader's stack: amqplib unfolds the headers before any of our code runs. */
  const deep = `
    const { connect } = require('amqplib')
    const { at, exchange } = JSON.parse(process.env.GIVEN)
    let headers = []
    for (let depth = 0; depth < 9000; depth++) headers = [headers]
    connect(at).then(async (connection) => {
      const channel = await connection.createConfirmChannel()
      channel.publish(exchange, 'alpha', Buffer.from('x'), { userId: 'alpha', persistent: true, headers: { headers } })
      await channel.waitForConfirms()
      await connection.close()
    })`

  test('stops the peer that it comes from, and no other', async () => {
    const { prefix, world } = sites
    await sites.disconnect(world.bravo)
    const landed: string[] = []
    const bravo = amqpCarrier({
      ...{ broker: { url: broker.url, user: 'bravo', tls: {} }, password: broker.password, site: 'bravo', prefix },
      queue_type: 'classic',
      ...{ limits: { envelope_bytes: 1_024, body_bytes: 1_024 }, log: world.bravo.options().log, wait_ms: () => 10 },
      peers: { alpha: { user: 'alpha' }, mallory: { user: 'mallory' } },
    })
    const land: MessageReceiver = async (peer, parcels) => {
      landed.push(...parcels.map(() => peer))
      return parcels.map(() => 'landed')
    }
    await bravo.start(land, async () => undefined)
    try {
      const at = {
        hostname: '127.0.0.1',
        port: broker.port,
        vhost: broker.vhost,
        username: 'alpha',
        password: broker.password,
      }
      const env = { GIVEN: JSON.stringify({ at, exchange: inbox().exchange }) }
      await waitUntil(async () => (await bravo.health()).ok)
      await promisify(execFile)(process.execPath, ['--stack-size=7000', '-e', deep], { env })
      await waitUntil(async () => (await bravo.health()).detail.includes('call stack'))
      const { content, properties } = encodeParcel(buildParcel(), inbox().exchange, 'mallory', 'mallory')
      await publishTo('mallory', content, properties, 'mallory')
      await waitUntil(() => landed.length > 0)
      expect(landed).toEqual(['mallory'])
      // It is tried again and again, as everything is that could be taken at another time.
      await waitUntil(async () => /^alpha receives nothing: [^;]*call stack[^;]*$/.test((await bravo.health()).detail))
    } finally {
      await bravo.stop()
    }
  })

  test('is dead after a thousand times, where queues count', async () => {
    await sites.end()
    sites = await joinByBroker(broker, { queue_type: 'quorum' })
    await sites.waitUntilConnected()
    const { connection, channel } = await broker.connect()
    await sites.disconnect(sites.world.bravo)
    await publishParcel(buildParcel())
    let times = 0
    await channel.prefetch(1)
    await channel.consume(inbox().queue, (message) => {
      if (!message) return
      times += 1
      channel.nack(message, false, true)
    })
    const [dead] = await takeDeadLetters(broker, sites, 1)
    expect([dead?.headers['x-first-death-reason'], times]).toEqual(['delivery_limit', 1_001])
    await connection.close()
  })
})
