// A broker that is killed in the middle of things and started again: what it had confirmed is not lost, and nothing counts twice.
import { afterAll, beforeAll, expect } from 'vitest'
import type { Outgoing } from '../../../daemon/kernel/transport.ts'
import { aTrace } from '../../support/a-trace.ts'
import { type Rabbitmq, rabbitmqWanted } from '../../support/engines/rabbitmq.ts'
import { whenPresent } from '../../support/requires.ts'
import { until } from '../../support/site-world.ts'
import { labelFor, message, numbersOf, type Site, startReceiving } from '../../transport/filedrop/two-sites.ts'
import { brokerOf, type Joined, joined } from './by-broker.ts'

const test = whenPresent(rabbitmqWanted)
let broker: Rabbitmq
let sites: Joined
beforeAll(async () => {
  if (!rabbitmqWanted.isPresent) return
  broker = await brokerOf()
  await broker.start()
  sites = await joined(broker)
})
afterAll(async () => {
  await sites?.end()
  await broker?.end()
})

const count = 400

function outgoing(to: Site): Outgoing {
  return { ...message(sites.world), peer: to.name, label: labelFor(to.tenant_id) }
}

/** Sends all of them, in steps, each as soon as the one before is in the outbox. */
async function sendAll(from: Site, to: Site): Promise<void> {
  for (let sent = 0; sent < count; sent += 20) {
    await Promise.all(Array.from({ length: 20 }, () => from.transport.send(outgoing(to), aTrace)))
    await from.transport.rescan()
  }
}

test('under load from both sides, twice: each message is applied once, in order, and none is missing', async () => {
  const { alpha, bravo } = sites.world
  await startReceiving(alpha)
  await startReceiving(bravo)
  await sites.connected()
  const sending = Promise.all([sendAll(alpha, bravo), sendAll(bravo, alpha)])
  for (const least of [count / 8, count / 2]) {
    await until(() => alpha.received.length >= least && bravo.received.length >= least)
    await broker.kill()
    await broker.start()
  }
  await sending
  const numbers = (site: Site) => numbersOf(site.received)
  await until(() => numbers(alpha).length >= count && numbers(bravo).length >= count)
  await sites.settle()
  const all = Array.from({ length: count }, (_, index) => index + 1)
  for (const site of [alpha, bravo]) {
    expect(numbers(site)).toEqual(all)
    const incoming = (await site.transport.status()).find(({ direction }) => direction === 'in')
    expect(incoming).toMatchObject({ received: count, quarantined: 0, gaps: 0, next_seq: count + 1 })
    expect(site.events.some(({ event }) => event === 'carrier.broker.unreached')).toBe(true)
  }
})
