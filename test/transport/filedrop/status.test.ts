// What an operator sees of a channel: its numbers, what waits and since when, and how fast it goes.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DeliveryVerdict } from '../../../daemon/kernel/messaging/transport.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'
import {
  buildMessage,
  carryFiles,
  createFiledropSites,
  type FiledropSite,
  type FiledropSites,
  formatReadyPath,
  listChannelFolders,
  restartSite,
  sendFromAlpha,
  startReceiving,
} from './filedrop-sites.ts'

const minute_ms = 60_000

let world: FiledropSites
beforeEach(async () => {
  // No inventories among the messages that are counted here.
  world = await createFiledropSites({ peer: { inventory_interval_s: 1_000_000 } })
})
afterEach(() => world.dispose())

async function readStatus(site: FiledropSite, direction: 'out' | 'in') {
  const found = (await site.transport.status()).find((each) => each.direction === direction)
  if (!found) throw new Error(`there is no channel ${direction}`)
  return found
}
const passTime = (ms: number) => {
  world.clock.ms += ms
}

test('an empty channel waits for nothing and has no age of anything', async () => {
  await startReceiving(world.alpha)
  expect(await readStatus(world.alpha, 'out')).toEqual({
    ...{ peer: 'bravo', direction: 'out', state: 'open', stale: false, epoch: 1, next_seq: 1, highest_seq: 0, gaps: 0 },
    ...{ backlog: 0, held: 0, quarantined: 0, quarantined_bytes: 0, messages_per_minute: 0 },
    ...{ sent: 0, received: 0, duplicates: 0, detail: '' },
  })
})

test('sent: what no carrier has taken waits, since the first of it', async () => {
  await startReceiving(world.alpha)
  await sendFromAlpha(world, 3)
  passTime(minute_ms)
  await sendFromAlpha(world, 1)
  passTime(minute_ms)
  expect(await readStatus(world.alpha, 'out')).toMatchObject({ backlog: 4, oldest_waiting_s: 120, next_seq: 5 })
  carryFiles(world.alpha, world.bravo, { only: (file) => !file.includes('0004.') })
  await world.alpha.transport.rescan()
  expect(await readStatus(world.alpha, 'out')).toMatchObject({ backlog: 1, oldest_waiting_s: 60, highest_seq: 4 })
  carryFiles(world.alpha, world.bravo)
  await world.alpha.transport.rescan()
  const done = await readStatus(world.alpha, 'out')
  expect([done.backlog, 'oldest_waiting_s' in done]).toEqual([0, false])
})

test('received: what is held behind a gap is counted, with the gap, since it came', async () => {
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
  await sendFromAlpha(world, 4, { kind: 'result' })
  carryFiles(world.alpha, world.bravo, { only: (file) => !file.includes('0002.') })
  await world.bravo.transport.rescan()
  passTime(5 * minute_ms)
  expect(await readStatus(world.bravo, 'in')).toMatchObject({
    ...{ next_seq: 2, highest_seq: 4, gaps: 1, backlog: 2, held: 2, oldest_waiting_s: 300, received: 1 },
  })
  carryFiles(world.alpha, world.bravo)
  await world.bravo.transport.rescan()
  const done = await readStatus(world.bravo, 'in')
  expect(done).toMatchObject({ next_seq: 5, gaps: 0, backlog: 0, held: 0, received: 4 })
  expect(done).not.toHaveProperty('oldest_waiting_s')
})

test('a message that never becomes whole waits since it was first seen, over a restart too', async () => {
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
  await sendFromAlpha(world, 1)
  carryFiles(world.alpha, world.bravo, { only: (file) => file.includes('.body.') })
  await world.bravo.transport.rescan()
  passTime(10 * minute_ms)
  await restartSite(world.bravo)
  expect(await readStatus(world.bravo, 'in')).toMatchObject({ backlog: 1, held: 0, oldest_waiting_s: 600 })
})

test('while intake pauses, what came in waits since it was entered', async () => {
  await startReceiving(world.alpha)
  const later: DeliveryVerdict = { verdict: 'later', detail: 'the store is down' }
  await startReceiving(world.bravo, () => later)
  await sendFromAlpha(world, 2)
  carryFiles(world.alpha, world.bravo)
  await world.bravo.transport.rescan()
  passTime(2 * minute_ms)
  expect(await readStatus(world.bravo, 'in')).toMatchObject({ backlog: 2, oldest_waiting_s: 120, received: 0 })
})

test('the quarantine is told in items and bytes', async () => {
  await startReceiving(world.bravo)
  const { fresh, quarantine } = listChannelFolders(world.bravo, 'alpha')
  fs.writeFileSync(join(fresh, 'stranger.txt'), 'x'.repeat(100_000))
  await world.bravo.transport.rescan()
  const taken = fs.readdirSync(quarantine).reduce((sum, name) => sum + fs.statSync(join(quarantine, name)).size, 0)
  const { quarantined, quarantined_bytes } = await readStatus(world.bravo, 'in')
  expect([quarantined, quarantined_bytes]).toEqual([1, taken])
})

test('the pace is that of the last five minutes, at both ends', async () => {
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
  for (let at = 0; at < 10; at++) {
    await sendFromAlpha(world, 6)
    carryFiles(world.alpha, world.bravo)
    await world.bravo.transport.rescan()
    passTime(minute_ms)
    await world.alpha.transport.rescan()
    await world.bravo.transport.rescan()
  }
  expect((await readStatus(world.alpha, 'out')).messages_per_minute).toBe(6)
  expect((await readStatus(world.bravo, 'in')).messages_per_minute).toBe(6)
  passTime(2.5 * minute_ms)
  expect((await readStatus(world.bravo, 'in')).messages_per_minute).toBeLessThan(6)
  for (let at = 0; at < 6; at++) {
    passTime(minute_ms)
    await world.bravo.transport.rescan()
  }
  expect((await readStatus(world.bravo, 'in')).messages_per_minute).toBe(0)
})

test('what cannot be published does not count as gone through', async () => {
  await startReceiving(world.alpha)
  await world.alpha.transport.rescan()
  const ready = formatReadyPath(world.alpha, 'bravo')
  fs.rmSync(ready, { recursive: true })
  fs.writeFileSync(ready, '')
  await world.alpha.transport.send(buildMessage(world), sampleTrace).catch(() => undefined)
  passTime(minute_ms)
  expect(await readStatus(world.alpha, 'out')).toMatchObject({ state: 'stopped', messages_per_minute: 0 })
})
