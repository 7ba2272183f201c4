// What an operator sees of a channel: its numbers, what waits and since when, and how fast it goes.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Verdict } from '../../../daemon/kernel/transport.ts'
import { aTrace } from '../../support/a-trace.ts'
import {
  carry,
  incomingOf,
  message,
  readyOf,
  restart,
  type Site,
  sendFromAlpha,
  startReceiving,
  twoSites,
  type World,
} from './two-sites.ts'

const minute = 60_000

let world: World
beforeEach(async () => {
  // No inventories among the messages that are counted here.
  world = await twoSites({ peer: { inventory_interval_s: 1_000_000 } })
})
afterEach(() => world.dispose())

async function statusOf(site: Site, direction: 'out' | 'in') {
  const found = (await site.transport.status()).find((each) => each.direction === direction)
  if (!found) throw new Error(`there is no channel ${direction}`)
  return found
}
const passes = (ms: number) => {
  world.clock.ms += ms
}

test('an empty channel waits for nothing and has no age of anything', async () => {
  await startReceiving(world.alpha)
  expect(await statusOf(world.alpha, 'out')).toEqual({
    ...{ peer: 'bravo', direction: 'out', state: 'open', stale: false, epoch: 1, next_seq: 1, highest_seq: 0, gaps: 0 },
    ...{ backlog: 0, held: 0, quarantined: 0, quarantined_bytes: 0, messages_per_minute: 0 },
    ...{ sent: 0, received: 0, duplicates: 0, detail: '' },
  })
})

test('sent: what no carrier has taken waits, since the first of it', async () => {
  await startReceiving(world.alpha)
  await sendFromAlpha(world, 3)
  passes(minute)
  await sendFromAlpha(world, 1)
  passes(minute)
  expect(await statusOf(world.alpha, 'out')).toMatchObject({ backlog: 4, oldest_waiting_s: 120, next_seq: 5 })
  carry(world.alpha, world.bravo, { only: (file) => !file.includes('0004.') })
  await world.alpha.transport.rescan()
  expect(await statusOf(world.alpha, 'out')).toMatchObject({ backlog: 1, oldest_waiting_s: 60, highest_seq: 4 })
  carry(world.alpha, world.bravo)
  await world.alpha.transport.rescan()
  const done = await statusOf(world.alpha, 'out')
  expect([done.backlog, 'oldest_waiting_s' in done]).toEqual([0, false])
})

test('received: what is held behind a gap is counted, with the gap, since it came', async () => {
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
  await sendFromAlpha(world, 4, { kind: 'result' })
  carry(world.alpha, world.bravo, { only: (file) => !file.includes('0002.') })
  await world.bravo.transport.rescan()
  passes(5 * minute)
  expect(await statusOf(world.bravo, 'in')).toMatchObject({
    ...{ next_seq: 2, highest_seq: 4, gaps: 1, backlog: 2, held: 2, oldest_waiting_s: 300, received: 1 },
  })
  carry(world.alpha, world.bravo)
  await world.bravo.transport.rescan()
  const done = await statusOf(world.bravo, 'in')
  expect(done).toMatchObject({ next_seq: 5, gaps: 0, backlog: 0, held: 0, received: 4 })
  expect(done).not.toHaveProperty('oldest_waiting_s')
})

test('a message that never becomes whole waits since it was first seen, over a restart too', async () => {
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
  await sendFromAlpha(world, 1)
  carry(world.alpha, world.bravo, { only: (file) => file.includes('.body.') })
  await world.bravo.transport.rescan()
  passes(10 * minute)
  await restart(world.bravo)
  expect(await statusOf(world.bravo, 'in')).toMatchObject({ backlog: 1, held: 0, oldest_waiting_s: 600 })
})

test('while intake pauses, what came in waits since it was entered', async () => {
  await startReceiving(world.alpha)
  const later: Verdict = { verdict: 'later', detail: 'the store is down' }
  await startReceiving(world.bravo, () => later)
  await sendFromAlpha(world, 2)
  carry(world.alpha, world.bravo)
  await world.bravo.transport.rescan()
  passes(2 * minute)
  expect(await statusOf(world.bravo, 'in')).toMatchObject({ backlog: 2, oldest_waiting_s: 120, received: 0 })
})

test('the quarantine is told in items and bytes', async () => {
  await startReceiving(world.bravo)
  const { fresh, quarantine } = incomingOf(world.bravo, 'alpha')
  fs.writeFileSync(join(fresh, 'stranger.txt'), 'x'.repeat(100_000))
  await world.bravo.transport.rescan()
  const taken = fs.readdirSync(quarantine).reduce((sum, name) => sum + fs.statSync(join(quarantine, name)).size, 0)
  const { quarantined, quarantined_bytes } = await statusOf(world.bravo, 'in')
  expect([quarantined, quarantined_bytes]).toEqual([1, taken])
})

test('the pace is that of the last five minutes, at both ends', async () => {
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
  for (let at = 0; at < 10; at++) {
    await sendFromAlpha(world, 6)
    carry(world.alpha, world.bravo)
    await world.bravo.transport.rescan()
    passes(minute)
    await world.alpha.transport.rescan()
    await world.bravo.transport.rescan()
  }
  expect((await statusOf(world.alpha, 'out')).messages_per_minute).toBe(6)
  expect((await statusOf(world.bravo, 'in')).messages_per_minute).toBe(6)
  passes(2.5 * minute)
  expect((await statusOf(world.bravo, 'in')).messages_per_minute).toBeLessThan(6)
  for (let at = 0; at < 6; at++) {
    passes(minute)
    await world.bravo.transport.rescan()
  }
  expect((await statusOf(world.bravo, 'in')).messages_per_minute).toBe(0)
})

test('what cannot be published does not count as gone through', async () => {
  await startReceiving(world.alpha)
  await world.alpha.transport.rescan()
  const ready = readyOf(world.alpha, 'bravo')
  fs.rmSync(ready, { recursive: true })
  fs.writeFileSync(ready, '')
  await world.alpha.transport.send(message(world), aTrace).catch(() => undefined)
  passes(minute)
  expect(await statusOf(world.alpha, 'out')).toMatchObject({ state: 'stopped', messages_per_minute: 0 })
})
