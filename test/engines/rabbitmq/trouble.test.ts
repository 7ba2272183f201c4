// Trouble with a broker that runs: it accepts nothing, it was reconfigured, it admits nobody, its disk is lost.
import * as fs from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { amqpCarrier } from '../../../adapters/transport/amqp/carrier.ts'
import { inboxOf } from '../../../adapters/transport/amqp/topology.ts'
import type { DeliveryVerdict } from '../../../daemon/kernel/messaging/transport.ts'
import { type Rabbitmq, rabbitmqRequirement } from '../../support/engines/rabbitmq.ts'
import { issueServerCertificates, type ServerCertificateSet } from '../../support/engines/server-certificates.ts'
import {
  type FiledropSite,
  formatReadyPath,
  listNumbers,
  sendFromAlpha,
  startReceiving,
} from '../../support/filedrop/filedrop-sites.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { type BrokerSites, countQueuedMessages, createBroker, joinByBroker } from './join-by-broker.ts'

const test = whenPresent(rabbitmqRequirement)
let broker: Rabbitmq
let certificates: ServerCertificateSet
beforeAll(async () => {
  if (!rabbitmqRequirement.isPresent) return
  certificates = issueServerCertificates('server', 'alpha')
  broker = await createBroker(certificates.of('server'))
  await broker.start()
})
afterAll(async () => {
  await broker?.end()
  certificates?.dispose()
})

let sites: BrokerSites
afterEach(() => sites?.end())

async function joinSites(answer?: Parameters<typeof startReceiving>[1]): Promise<BrokerSites> {
  sites = await joinByBroker(broker)
  await startReceiving(sites.world.alpha)
  await startReceiving(sites.world.bravo, answer)
  await sites.waitUntilConnected()
  return sites
}

const inbox = () => inboxOf(sites.prefix, 'bravo', 'alpha')
const numbers = () => listNumbers(sites.world.bravo.received)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const healthOf = async (site: FiledropSite) => (await sites.carrier(site).health()).detail
const waitForHealth = (site: FiledropSite, words: RegExp) => waitUntil(async () => words.test(await healthOf(site)))
const readyAtAlpha = () => fs.readdirSync(formatReadyPath(sites.world.alpha, 'bravo')).length / 2

describe('a waiting message', () => {
  test('is acknowledged after it has been judged, and no sooner', async () => {
    const judging = Promise.withResolvers<DeliveryVerdict>()
    const { world } = await joinSites(() => judging.promise)
    await sendFromAlpha(world, 1)
    await waitUntil(() => fs.readdirSync(`${world.bravo.root}/alpha/in/work`).length === 2)
    try {
      // A queue counts unacknowledged messages every few seconds.
      const listed = () => broker.ctl('list_queues', 'name', 'messages_unacknowledged')
      await waitUntil(async () => (await listed()).includes(`${inbox().queue}\t1`))
    } finally {
      judging.resolve({ verdict: 'applied' })
    }
    await sites.disconnect(world.bravo)
    expect([numbers(), await countQueuedMessages(broker, inbox().queue)]).toEqual([[1], 0])
  })

  test('comes again when the connection breaks before that, and is applied once', async () => {
    const judging = Promise.withResolvers<DeliveryVerdict>()
    const { world } = await joinSites(() => judging.promise)
    await sendFromAlpha(world, 5)
    await waitUntil(() => fs.readdirSync(`${world.bravo.root}/alpha/in/work`).length > 0)
    await broker.ctl('close_all_connections', 'tested')
    await waitForHealth(world.bravo, /tested|ended/)
    judging.resolve({ verdict: 'applied' })
    await sites.waitUntilConnected()
    await waitUntil(async () => numbers().length === 5 && (await countQueuedMessages(broker, inbox().queue)) === 0)
    await sites.deliverAll()
    expect(numbers()).toEqual(upTo(5))
  })

  test('while its channel stands stays with the broker, whose site may end over it, without any haste, and comes when the channel is open', async () => {
    const { world } = await joinSites()
    const alpha = world.bravo.pinned.get('alpha')
    if (!alpha) throw new Error('alpha is pinned')
    world.bravo.pinned.delete('alpha')
    await sendFromAlpha(world, 3)
    await waitForHealth(world.bravo, /alpha receives nothing: there is no peer alpha/)
    await waitUntil(() => readyAtAlpha() === 0)
    expect(world.bravo.events.filter(({ event }) => event === 'carrier.broker.paused')).toHaveLength(1)
    await sites.disconnectDuring(world.bravo, async () => {
      expect(await countQueuedMessages(broker, inbox().queue)).toBe(3)
    })
    await waitForHealth(world.bravo, /there is no peer alpha/)
    world.bravo.pinned.set('alpha', alpha)
    await sites.deliverAll()
    expect(numbers()).toEqual(upTo(3))
  })
})

describe('a broker that takes nothing', () => {
  test('because the queue is full leaves the rest with the sender, in order', async () => {
    const { world, prefix } = await joinSites()
    await sites.disconnect(world.bravo)
    const most = JSON.stringify({ 'max-length': 3, overflow: 'reject-publish' })
    await broker.ctl('set_policy', 'few', `^${prefix}.bravo.from`, most, '--apply-to', 'queues')
    await sendFromAlpha(world, 20)
    await waitUntil(async () => world.alpha.events.some(({ event }) => event === 'carrier.peer.unreached'))
    await waitUntil(async () => (await countQueuedMessages(broker, inbox().queue)) >= 3)
    expect(readyAtAlpha()).toBeGreaterThan(0)
    await sites.disconnectDuring(world.bravo)
    await sites.deliverAll()
    expect(numbers()).toEqual(upTo(20))
    await broker.ctl('clear_policy', 'few')
  })

  test('because it is short of memory is left alone until it is not, and says so in the health', async () => {
    const { world } = await joinSites()
    await broker.ctl('set_vm_memory_high_watermark', 'absolute', '1')
    await sendFromAlpha(world, 3)
    await waitForHealth(world.alpha, /bravo is sent nothing: the broker accepts no messages at present: low on memory/)
    expect(numbers()).toEqual([])
    await broker.ctl('set_vm_memory_high_watermark', 'absolute', '1GB')
    await sites.deliverAll()
    expect(numbers()).toEqual(upTo(3))
  })

  test('that is short of memory gets none of the given-up messages once it reads again', async () => {
    const { world, prefix } = await joinSites()
    for (const site of [world.alpha, world.bravo]) await sites.disconnect(site)
    const alpha = amqpCarrier({
      ...{ broker: { url: broker.url, user: 'alpha', tls: {} }, password: broker.password, site: 'alpha', prefix },
      ...{ queue_type: 'classic', peers: { bravo: {} }, limits: { envelope_bytes: 65_536, body_bytes: 4_194_304 } },
      ...{ log: world.alpha.options().log, wait_ms: () => 10 },
    })
    const parcel = (seq: number, bytes: number) => ({
      ...{ epoch: 1, seq, envelope: Buffer.from('{}') },
      body: Buffer.alloc(bytes, 32),
    })
    try {
      await broker.ctl('set_vm_memory_high_watermark', 'absolute', '1')
      const many = upTo(30).map((seq) => parcel(seq, 2_000_000))
      const calledBack = new AbortController()
      const carrying = alpha.carry('bravo', many, calledBack.signal)
      carrying.catch(() => calledBack.abort())
      await expect(carrying).rejects.toThrow(/accepts no messages at present/)
      await broker.ctl('set_vm_memory_high_watermark', 'absolute', '1GB')
      const lands = () => alpha.carry('bravo', [parcel(31, 10)], AbortSignal.timeout(10_000)).catch(() => ['full'])
      await waitUntil(async () => (await lands())[0] === 'landed')
      // The contents of the buffers between the two are with the broker; the rest of sixty million bytes is not.
      expect(await countQueuedMessages(broker, inbox().queue)).toBeLessThan(15)
    } finally {
      await alpha.stop()
    }
  })
})

describe('a broker that was changed', () => {
  test('that loses a queue has it again; its messages are missing, requested by receipt, and arrive', async () => {
    const { world } = await joinSites()
    await sites.disconnectDuring(world.bravo, async () => {
      await sendFromAlpha(world, 4)
      await waitUntil(async () => (await countQueuedMessages(broker, inbox().queue)) === 4)
      const { connection, channel } = await broker.connect()
      await channel.deleteQueue(inbox().queue)
      await connection.close()
    })
    await sites.waitUntilConnected()
    await lostAndFound(4)
  })

  test('while it is read has the queue again, too', async () => {
    const { world } = await joinSites()
    const { connection, channel } = await broker.connect()
    await channel.deleteQueue(inbox().queue)
    await connection.close()
    await waitUntil(() =>
      world.bravo.events.some(({ event, fields }) => /unreached/.test(event) && /deleted/.test(String(fields.detail))),
    )
    await sendFromAlpha(world, 2)
    await sites.deliverAll()
    expect(numbers()).toEqual([1, 2])
  })

  test('with another queue of that name is reported, and no message leaves', async () => {
    const { world } = await joinSites()
    const { queue } = inbox()
    await sites.disconnect(world.bravo)
    const { connection, channel } = await broker.connect()
    await channel.deleteQueue(queue)
    await channel.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'quorum' } })
    await sites.disconnectDuring(world.bravo)
    await waitForHealth(world.bravo, /alpha receives nothing: the broker has it in another form.*PRECONDITION_FAILED/)
    await sendFromAlpha(world, 1)
    await waitForHealth(world.alpha, /bravo is sent nothing: bravo has no queue for messages from alpha at the broker/)
    expect(readyAtAlpha()).toBe(1)
    await channel.deleteQueue(queue)
    await connection.close()
    await sites.deliverAll()
    expect(numbers()).toEqual([1])
  })

  test('that has lost its disk: its confirmed messages are missing, requested by receipt, and arrive', async () => {
    const { world } = await joinSites()
    await sendFromAlpha(world, 2)
    await sites.deliverAll()
    await sites.disconnect(world.bravo)
    await sendFromAlpha(world, 3)
    await waitUntil(() => readyAtAlpha() === 0)
    await broker.kill()
    broker.loseDisk()
    await broker.start()
    await sites.disconnectDuring(world.bravo)
    await sites.waitUntilConnected()
    await lostAndFound(5)
  })
})

/** One more is sent, so that bravo sees that numbers are missing; its receipt is carried to alpha by hand. */
async function lostAndFound(lost_up_to: number): Promise<void> {
  const { alpha, bravo } = sites.world
  await sendFromAlpha(sites.world, 1)
  await waitUntil(() => numbers().at(-1) === lost_up_to + 1)
  expect(numbers().length).toBeLessThan(lost_up_to + 1)
  const receipt = await bravo.transport.oneWay.gapReceipt('alpha')
  expect((await alpha.transport.oneWay.resendFor(receipt)).resent).toBeGreaterThan(0)
  await waitUntil(async () => {
    await bravo.transport.rescan()
    return numbers().length === lost_up_to + 1
  })
  expect(numbers()).toEqual(upTo(lost_up_to + 1))
}

describe('a broker over TLS', () => {
  const carriers: ReturnType<typeof amqpCarrier>[] = []
  afterEach(async () => {
    for (const each of carriers.splice(0)) await each.stop()
  })

  /** Alpha alone, which reads what bravo sends. */
  async function alone(options: {
    url?: string
    user?: string
    password?: string
    tls?: { ca_file?: string; cert_file?: string; key_file?: string }
  }) {
    const events: string[] = []
    const say = (event: string, fields: object = {}) => void events.push(`${event} ${JSON.stringify(fields)}`)
    const { url = `amqps://localhost:${broker.tls_port}`, user, password, tls = {} } = options
    const carrier = amqpCarrier({
      ...{ broker: { url, user, tls }, password, site: 'alpha', prefix: 'tls', peers: { bravo: {} } },
      queue_type: 'classic',
      ...{ limits: { envelope_bytes: 1_024, body_bytes: 1_024 }, wait_ms: () => 50 },
      log: { debug: say, info: say, warn: say, error: say },
    })
    carriers.push(carrier)
    await carrier.start(
      async (_, parcels) => parcels.map(() => 'landed' as const),
      async () => undefined,
    )
    const waitForDetail = (words: RegExp) => waitUntil(async () => words.test((await carrier.health()).detail))
    return { waitForDetail, events }
  }

  test('is believed when the authority of the settings has signed it', async () => {
    const { waitForDetail } = await alone({
      user: 'alpha',
      password: broker.password,
      tls: { ca_file: certificates.of('server').ca },
    })
    await waitForDetail(/^connected$/)
  })

  test('knows a site by its certificate, without any password', async () => {
    const { ca, cert, key } = certificates.of('alpha')
    const { waitForDetail } = await alone({ tls: { ca_file: ca, cert_file: cert, key_file: key } })
    await waitForDetail(/^connected$/)
  })

  test('is not believed without that authority, nor under another name', async () => {
    const unknown = await alone({ user: 'alpha', password: broker.password })
    await unknown.waitForDetail(/self.signed certificate|unable to (get|verify)/)
    const url = `amqps://127.0.0.2:${broker.tls_port}`
    const named = await alone({
      url,
      user: 'alpha',
      password: broker.password,
      tls: { ca_file: certificates.of('server').ca },
    })
    await named.waitForDetail(/ECONNREFUSED|does not match/)
  })

  test('lets nobody in with a wrong password, and no word of it gets about', async () => {
    const { waitForDetail, events } = await alone({ url: broker.url, user: 'alpha', password: 'not-the-password' })
    await waitForDetail(/ACCESS_REFUSED/)
    expect(events.join('\n')).toMatch(/carrier\.broker\.unreached/)
    expect(events.join('\n')).not.toContain('not-the-password')
  })

  test('reports the name of a file that cannot be read', async () => {
    const { waitForDetail } = await alone({ user: 'alpha', password: 'x', tls: { ca_file: '/nowhere/ca.pem' } })
    await waitForDetail(/the file \/nowhere\/ca\.pem cannot be read/)
  })
})
