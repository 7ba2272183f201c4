// A channel as an operator sees it: its numbers, its backlog and since when, and its speed.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { DeliveryVerdict } from '../../../daemon/kernel/messaging/transport.ts'
import {
  buildMessage,
  carryFiles,
  type FiledropSite,
  type FiledropSites,
  formatReadyPath,
  listChannelFolders,
  restartSite,
  sendFromAlpha,
  startReceiving,
} from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'

const minute_ms = 60_000

// No inventories among the messages that are counted here.
const test = filedropTest.extend({ options: { peer: { inventory_interval_s: 1_000_000 } } })

async function readStatus(site: FiledropSite, direction: 'out' | 'in') {
  const found = (await site.transport.status()).find((each) => each.direction === direction)
  if (!found) throw new Error(`there is no channel ${direction}`)
  return found
}
const passTime = (sites: FiledropSites, ms: number) => {
  sites.clock.ms += ms
}

test('an empty channel waits for nothing and has no age of anything', async ({ sites }) => {
  await startReceiving(sites.alpha)
  expect(await readStatus(sites.alpha, 'out')).toEqual({
    ...{ peer: 'bravo', direction: 'out', state: 'open', stale: false, epoch: 1, next_seq: 1, highest_seq: 0, gaps: 0 },
    ...{ backlog: 0, held: 0, quarantined: 0, quarantined_bytes: 0, messages_per_minute: 0 },
    ...{ is_inventory_pending: false, set_aside: [] },
    ...{ sent: 0, received: 0, duplicates: 0, detail: '' },
  })
})

test('sent: what no carrier has taken waits, since the first of it', async ({ sites }) => {
  await startReceiving(sites.alpha)
  await sendFromAlpha(sites, 3)
  passTime(sites, minute_ms)
  await sendFromAlpha(sites, 1)
  passTime(sites, minute_ms)
  expect(await readStatus(sites.alpha, 'out')).toMatchObject({ backlog: 4, oldest_waiting_s: 120, next_seq: 5 })
  carryFiles(sites.alpha, sites.bravo, { only: (file) => !file.includes('0004.') })
  await sites.alpha.transport.rescan()
  expect(await readStatus(sites.alpha, 'out')).toMatchObject({ backlog: 1, oldest_waiting_s: 60, highest_seq: 4 })
  carryFiles(sites.alpha, sites.bravo)
  await sites.alpha.transport.rescan()
  const done = await readStatus(sites.alpha, 'out')
  expect([done.backlog, 'oldest_waiting_s' in done]).toEqual([0, false])
})

test('received: counts messages held behind a gap, with the gap, since it came', async ({ sites }) => {
  await startReceiving(sites.alpha)
  await startReceiving(sites.bravo)
  await sendFromAlpha(sites, 4, { kind: 'result' })
  carryFiles(sites.alpha, sites.bravo, { only: (file) => !file.includes('0002.') })
  await sites.bravo.transport.rescan()
  passTime(sites, 5 * minute_ms)
  expect(await readStatus(sites.bravo, 'in')).toMatchObject({
    ...{ next_seq: 2, highest_seq: 4, gaps: 1, backlog: 2, held: 2, oldest_waiting_s: 300, received: 1 },
  })
  carryFiles(sites.alpha, sites.bravo)
  await sites.bravo.transport.rescan()
  const done = await readStatus(sites.bravo, 'in')
  expect(done).toMatchObject({ next_seq: 5, gaps: 0, backlog: 0, held: 0, received: 4 })
  expect(done).not.toHaveProperty('oldest_waiting_s')
})

test('a message that never becomes whole waits since it was first seen, over a restart too', async ({ sites }) => {
  await startReceiving(sites.alpha)
  await startReceiving(sites.bravo)
  await sendFromAlpha(sites, 1)
  carryFiles(sites.alpha, sites.bravo, { only: (file) => file.includes('.body.') })
  await sites.bravo.transport.rescan()
  passTime(sites, 10 * minute_ms)
  await restartSite(sites.bravo)
  expect(await readStatus(sites.bravo, 'in')).toMatchObject({ backlog: 1, held: 0, oldest_waiting_s: 600 })
})

test('while intake pauses, what came in waits since it was entered', async ({ sites }) => {
  await startReceiving(sites.alpha)
  const later: DeliveryVerdict = { verdict: 'later', detail: 'the store is down' }
  await startReceiving(sites.bravo, () => later)
  await sendFromAlpha(sites, 2)
  carryFiles(sites.alpha, sites.bravo)
  await sites.bravo.transport.rescan()
  passTime(sites, 2 * minute_ms)
  expect(await readStatus(sites.bravo, 'in')).toMatchObject({ backlog: 2, oldest_waiting_s: 120, received: 0 })
})

test('reports the quarantine in items and bytes', async ({ sites }) => {
  await startReceiving(sites.bravo)
  const { fresh, quarantine } = listChannelFolders(sites.bravo, 'alpha')
  fs.writeFileSync(join(fresh, 'stranger.txt'), 'x'.repeat(100_000))
  await sites.bravo.transport.rescan()
  const taken = fs.readdirSync(quarantine).reduce((sum, name) => sum + fs.statSync(join(quarantine, name)).size, 0)
  const { quarantined, quarantined_bytes } = await readStatus(sites.bravo, 'in')
  expect([quarantined, quarantined_bytes]).toEqual([1, taken])
})

test('the pace is that of the last five minutes, at both ends', async ({ sites }) => {
  await startReceiving(sites.alpha)
  await startReceiving(sites.bravo)
  for (let at = 0; at < 10; at++) {
    await sendFromAlpha(sites, 6)
    carryFiles(sites.alpha, sites.bravo)
    await sites.bravo.transport.rescan()
    passTime(sites, minute_ms)
    await sites.alpha.transport.rescan()
    await sites.bravo.transport.rescan()
  }
  expect((await readStatus(sites.alpha, 'out')).messages_per_minute).toBe(6)
  expect((await readStatus(sites.bravo, 'in')).messages_per_minute).toBe(6)
  passTime(sites, 2.5 * minute_ms)
  expect((await readStatus(sites.bravo, 'in')).messages_per_minute).toBeLessThan(6)
  for (let at = 0; at < 6; at++) {
    passTime(sites, minute_ms)
    await sites.bravo.transport.rescan()
  }
  expect((await readStatus(sites.bravo, 'in')).messages_per_minute).toBe(0)
})

test('an unpublishable message does not count as gone through', async ({ sites }) => {
  await startReceiving(sites.alpha)
  await sites.alpha.transport.rescan()
  const ready = formatReadyPath(sites.alpha, 'bravo')
  fs.rmSync(ready, { recursive: true })
  fs.writeFileSync(ready, '')
  await sites.alpha.transport.send(buildMessage(sites), sampleTrace).catch(() => undefined)
  passTime(sites, minute_ms)
  expect(await readStatus(sites.alpha, 'out')).toMatchObject({ state: 'stopped', messages_per_minute: 0 })
})
