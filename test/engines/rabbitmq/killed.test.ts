// A broker that is killed in the middle of things and started again: what it had confirmed is not lost, and nothing counts twice.
import { afterAll, beforeAll, expect } from 'vitest'
import type { OutboundMessage } from '../../../daemon/kernel/messaging/transport.ts'
import { type Rabbitmq, rabbitmqRequirement } from '../../support/engines/rabbitmq.ts'
import {
  buildLabel,
  buildMessage,
  type FiledropSite,
  listNumbers,
  startReceiving,
} from '../../support/filedrop/filedrop-sites.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'
import { type BrokerSites, createBroker, joinByBroker } from './join-by-broker.ts'

const test = whenPresent(rabbitmqRequirement)
let broker: Rabbitmq
let sites: BrokerSites
beforeAll(async () => {
  if (!rabbitmqRequirement.isPresent) return
  broker = await createBroker()
  await broker.start()
  sites = await joinByBroker(broker)
})
afterAll(async () => {
  await sites?.end()
  await broker?.end()
})

const count = 400

function buildOutgoing(to: FiledropSite): OutboundMessage {
  return { ...buildMessage(sites.world), peer: to.name, label: buildLabel(to.tenant_id) }
}

/** Sends all of them, in steps, each as soon as the one before is in the outbox. */
async function sendAll(from: FiledropSite, to: FiledropSite): Promise<void> {
  for (let sent = 0; sent < count; sent += 20) {
    await Promise.all(Array.from({ length: 20 }, () => from.transport.send(buildOutgoing(to), sampleTrace)))
    await from.transport.rescan()
  }
}

test('under load from both sides, twice: each message is applied once, in order, and none is missing', async () => {
  const { alpha, bravo } = sites.world
  await startReceiving(alpha)
  await startReceiving(bravo)
  await sites.waitUntilConnected()
  const sending = Promise.all([sendAll(alpha, bravo), sendAll(bravo, alpha)])
  for (const least of [count / 8, count / 2]) {
    await waitUntil(() => alpha.received.length >= least && bravo.received.length >= least)
    await broker.kill()
    await broker.start()
  }
  await sending
  const numbers = (site: FiledropSite) => listNumbers(site.received)
  await waitUntil(() => numbers(alpha).length >= count && numbers(bravo).length >= count)
  await sites.deliverAll()
  const all = Array.from({ length: count }, (_, index) => index + 1)
  for (const site of [alpha, bravo]) {
    expect(numbers(site)).toEqual(all)
    const incoming = (await site.transport.status()).find(({ direction }) => direction === 'in')
    expect(incoming).toMatchObject({ received: count, quarantined: 0, gaps: 0, next_seq: count + 1 })
    expect(site.events.some(({ event }) => event === 'carrier.broker.unreached')).toBe(true)
  }
})
