// A sender says from time to time what it has sent, also when that is nothing new, and never more often.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type InventoryData, inventoryData } from '../../../daemon/kernel/messaging/inventory.ts'
import type { Statement } from '../../../daemon/kernel/messaging/statement.ts'
import { channel } from '../../support/filedrop/filedrop-readers.ts'
import {
  buildMessage,
  carryFiles,
  type FiledropSites,
  formatReadyPath,
  restartSite,
  sendFromAlpha,
  startReceiving,
} from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'

const interval_ms = 300_000

const test = filedropTest.extend({ options: { receiving: ['alpha'] } })

type ReadyInventory = { readonly statement: Statement; readonly data: InventoryData }

/** The inventories that lie in alpha's `ready`, in the order of their numbers. */
function listInventories(sites: FiledropSites): ReadyInventory[] {
  const ready = formatReadyPath(sites.alpha, 'bravo')
  const envelopes = fs.readdirSync(ready).filter((name) => name.endsWith('.env.json'))
  return envelopes.sort().flatMap((name) => {
    const { payload } = JSON.parse(fs.readFileSync(join(ready, name), 'utf8'))
    const statement = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Statement
    if (statement.kind !== 'inventory') return []
    const body = JSON.parse(fs.readFileSync(join(ready, name.replace('.env.', '.body.')), 'utf8'))
    return [{ statement, data: inventoryData.parse(body.data) }]
  })
}

async function passTime(sites: FiledropSites, ms: number): Promise<void> {
  sites.clock.ms += ms
  await sites.alpha.transport.rescan()
}

const listDigests = async (sites: FiledropSites) =>
  (await sites.alpha.journal.sentRun(channel, 1, 1, 5_000, 5_000)).map(({ digest }) => digest)

test('an inventory goes out with the first interval, and with each that follows, though nothing else is sent', async ({
  sites,
}) => {
  await passTime(sites, interval_ms - 1)
  expect(listInventories(sites)).toEqual([])
  await passTime(sites, 1)
  expect(listInventories(sites).map(({ data }) => data)).toEqual([
    { epoch: 1, highest: 0, rolling: '0'.repeat(96), digests: [], checkpoints: [] },
  ])
  await passTime(sites, interval_ms - 1)
  expect(listInventories(sites)).toHaveLength(1)
  await passTime(sites, 1)
  expect(listInventories(sites)).toHaveLength(2)
  // However long nothing ran, one tells everything.
  await passTime(sites, 20 * interval_ms)
  expect(listInventories(sites)).toHaveLength(3)
})

test('it names the number before its own, and the digests up to it, lowest first', async ({ sites }) => {
  await sendFromAlpha(sites, 3)
  await passTime(sites, interval_ms)
  const [{ statement, data } = {} as ReadyInventory] = listInventories(sites)
  expect(statement).toMatchObject({ seq: 4, kind: 'inventory', body: { schema: 'platform.inventory/1' } })
  const sent = await listDigests(sites)
  expect(data).toEqual({ epoch: 1, highest: 3, rolling: sent[2], digests: sent.slice(0, 3), checkpoints: [] })
  // The predecessor's digest is in each statement: the last one rolls over all of them.
  expect(statement.prev).toBe(data.rolling)
  expect(statement.label).toEqual({
    ...{ policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: sites.alpha.tenant_id },
    releasable_to: [sites.bravo.tenant_id],
  })
})

test('reports a message numbered in the same step as the inventory as it stands', async ({ sites }) => {
  sites.clock.ms += interval_ms
  // Requested together, so that they share a batch with the inventory or not: the chain holds either way.
  const sending = Array.from({ length: 40 }, () => sites.alpha.transport.send(buildMessage(sites), sampleTrace))
  await sites.alpha.transport.rescan()
  await Promise.all(sending)
  await sites.alpha.transport.rescan()
  const [{ statement, data } = {} as ReadyInventory, ...more] = listInventories(sites)
  expect(more).toEqual([])
  expect(data.highest).toBe(statement.seq - 1)
  expect(data.digests).toEqual((await listDigests(sites)).slice(0, data.highest))
})

test('no more than 1,024 digests, and fewer where bodies are small', async ({ sites }) => {
  const many = Array.from({ length: 1_100 }, () => sites.alpha.transport.send(buildMessage(sites), sampleTrace))
  await Promise.all(many)
  await passTime(sites, interval_ms)
  const sent = await listDigests(sites)
  expect(listInventories(sites)[0]?.data.digests).toEqual(sent.slice(1_100 - 1_024, 1_100))
  await restartSite(sites.alpha, undefined, { max_body_bytes: 8_192 })
  await passTime(sites, interval_ms)
  const { data } = listInventories(sites)[1] as ReadyInventory
  expect(data.highest).toBe(1_101)
  expect(data.digests.length).toBeGreaterThan(10)
  expect(data.digests).toEqual((await listDigests(sites)).slice(0, 1_101).slice(-data.digests.length))
})

test('it carries the newest heads of the audit chains', async ({ sites }) => {
  const signature = await sites.alpha.signatures.sign('checkpoint', Buffer.from('{}'))
  const head = { writer: 'site@alpha', seq: 7, hash: 'a'.repeat(64), at: '2026-03-01T12:00:00.000Z', signature }
  await restartSite(sites.alpha, undefined, {}, { checkpoints: async () => [head] })
  await passTime(sites, interval_ms)
  expect(listInventories(sites)[0]?.data.checkpoints).toEqual([head])
})

test('a restart neither brings one before its time nor puts it off', async ({ sites }) => {
  await passTime(sites, interval_ms)
  for (let i = 0; i < 4; i++) {
    await passTime(sites, interval_ms / 4 - 1)
    await restartSite(sites.alpha)
  }
  expect(listInventories(sites)).toHaveLength(1)
  await passTime(sites, 4)
  expect(listInventories(sites)).toHaveLength(2)
})

test('a wall clock that jumps back or far ahead while the site is down costs one interval at most', async ({
  sites,
}) => {
  await passTime(sites, interval_ms)
  sites.clock.ms -= 90 * 86_400_000
  await restartSite(sites.alpha)
  expect(listInventories(sites)).toHaveLength(1)
  await passTime(sites, interval_ms)
  expect(listInventories(sites)).toHaveLength(2)
  sites.clock.ms += 400 * 86_400_000
  await restartSite(sites.alpha)
  expect(listInventories(sites)).toHaveLength(3)
})

test('a wall clock that jumps while the site runs changes nothing', async ({ sites }) => {
  let wall = sites.clock.ms
  const clock = { now: () => wall, monotonic: () => sites.clock.ms }
  await restartSite(sites.alpha, undefined, {}, { clock })
  wall += 90 * 86_400_000
  await passTime(sites, interval_ms - 1)
  expect(listInventories(sites)).toEqual([])
  wall -= 365 * 86_400_000
  await passTime(sites, 1)
  expect(listInventories(sites)).toHaveLength(1)
})

test('while the journal fails there is none, and the next look makes up for it', async ({ sites }) => {
  let isDown = true
  const journal = new Proxy(sites.alpha.journal, {
    get(target, name, self) {
      if (name === 'append' && isDown) return () => Promise.reject(new Error('the disk is full'))
      return Reflect.get(target, name, self)
    },
  })
  await restartSite(sites.alpha, undefined, {}, { journal })
  await passTime(sites, interval_ms)
  expect(listInventories(sites)).toEqual([])
  isDown = false
  await passTime(sites, 1)
  expect(listInventories(sites)).toHaveLength(1)
})

test('each peer’s record says how often, and a channel that stands still says nothing', async ({ sites }) => {
  const { pinned } = sites.alpha
  const bravo = pinned.get('bravo')
  if (bravo) pinned.set('bravo', { ...bravo, inventory_interval_s: 86_400 })
  await passTime(sites, interval_ms)
  expect(listInventories(sites)).toEqual([])
  await sites.alpha.journal.setState(channel, 'frozen', 'for a test')
  await passTime(sites, 86_400_000)
  expect(listInventories(sites)).toEqual([])
  await sites.alpha.journal.setState(channel, 'open', '')
  await passTime(sites, 1)
  expect(listInventories(sites)).toHaveLength(1)
})

test('the content of an inventory arrives unchanged', async ({ sites }) => {
  await startReceiving(sites.bravo)
  await sendFromAlpha(sites, 2)
  await passTime(sites, interval_ms)
  carryFiles(sites.alpha, sites.bravo)
  await sites.bravo.transport.rescan()
  expect((await sites.bravo.transport.status()).find(({ direction }) => direction === 'in')).toMatchObject({
    ...{ highest_seq: 3, gaps: 0, quarantined: 0, backlog: 0 },
  })
})
