// A packaged site that several peers flood with the largest messages there are, all at once: its memory has an end.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { parse, stringify } from 'yaml'
import { encodeParcel } from '../../../adapters/transport/amqp/message.ts'
import { exchangeOf, inboxOf } from '../../../adapters/transport/amqp/topology.ts'
import { type Rabbitmq, rabbitmqRequirement } from '../../support/engines/rabbitmq.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import type { RunningDaemon } from '../../support/site/daemon-process.ts'
import { createPackagedFederation, type PackagedFederation } from '../../support/site/packaged-federation.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { countQueuedMessages, createBroker } from './join-by-broker.ts'

const test = whenPresent(rabbitmqRequirement)
const peers = ['alpha', 'charlie', 'delta', 'echo']
/** Of each peer. */
const messages = 12
/** The largest body that is taken in. */
const body = Buffer.alloc(4_194_304, 32)
const max_mib = 300

let broker: Rabbitmq
let world: PackagedFederation
let bravo: RunningDaemon
beforeAll(async () => {
  if (!rabbitmqRequirement.isPresent) return
  broker = await createBroker()
  await broker.start()
  world = await createPackagedFederation('bravo', ...peers)
  const site = world.sites.bravo
  if (!site) throw new Error('bravo was made')
  const file = path.join(site.dir, 'profile.yaml')
  const profile = parse(fs.readFileSync(file, 'utf8')) as Record<string, unknown>
  const amqp = { url: broker.url, user: 'bravo', password: broker.password }
  const named = Object.fromEntries(peers.map((peer) => [peer, {}]))
  fs.writeFileSync(file, stringify({ ...profile, amqp: { ...amqp, peers: named } }))
  bravo = await site.start()
})
afterAll(async () => {
  await world?.end()
  await broker?.end()
})

const countQuarantined = (peer: string) => {
  const folder = path.join(world.sites.bravo?.dir ?? '', 'filedrop', peer, 'in', 'quarantine')
  return fs.readdirSync(folder).filter((name) => name.endsWith('.reason.json')).length
}
const readMemory_mib = (what: 'VmHWM' | 'VmRSS') =>
  Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(fs.readFileSync(`/proc/${bravo.pid}/status`, 'utf8'))?.[1]) / 1_024

test('four peers with the largest messages cost less than 300 MiB, with any backlog', async () => {
  const inboxes = peers.map((peer) => inboxOf('platform', 'bravo', peer))
  await waitUntil(async () =>
    (await Promise.all(inboxes.map(({ queue }) => countQueuedMessages(broker, queue).catch(() => -1)))).every(
      (count) => count === 0,
    ),
  )
  const before = readMemory_mib('VmRSS')
  const { connection } = await broker.connect()
  const channel = await connection.createConfirmChannel()
  const envelope = Buffer.from('{"payload":"e30","signatures":[]}')
  for (let seq = 1; seq <= messages; seq++) {
    for (const peer of peers) {
      const draft = encodeParcel({ epoch: 1, seq, envelope, body }, exchangeOf('platform', 'bravo'), peer, undefined)
      channel.publish(draft.exchange, draft.key, draft.content, { ...draft.properties, persistent: true })
    }
    await channel.waitForConfirms()
  }
  await connection.close()
  for (const peer of peers) {
    for (let tries = 1; countQuarantined(peer) < messages; tries++) {
      await waitUntil(() => countQuarantined(peer) >= messages).catch((error) => {
        if (tries === 6) throw error
      })
    }
  }
  const peak = readMemory_mib('VmHWM')
  console.info(`${Math.round(before)} MiB before, ${Math.round(peak)} MiB at most`)
  expect(peak).toBeLessThan(max_mib)
})
