// A disk that is full at one write after the other: nothing is lost, done twice or said to be done, and it goes on when there is room.
import * as fs from 'node:fs'
import { afterEach, beforeEach, expect } from 'vitest'
import type { Incoming, Verdict } from '../../../daemon/kernel/transport.ts'
import { aTrace } from '../../support/a-trace.ts'
import { onSmallDisk, type SmallDisk, smallDisk } from '../../support/small-disk.ts'
import { drop, forge } from './forged.ts'
import {
  carry,
  incomingOf,
  message,
  quarantineOf,
  readyOf,
  restart,
  startReceiving,
  twoSites,
  type World,
} from './two-sites.ts'

/** More pages than all that one message writes, so that the last rounds find room for everything. */
const most_pages = 48

let disk: SmallDisk
let world: World
beforeEach(async () => {
  disk = smallDisk(24)
  world = await twoSites({ base: disk.dir, peer: { inventory_interval_s: 400 * 86_400 } })
})
afterEach(async () => {
  disk.empty()
  await world.dispose()
  disk.end()
})

const wasTold = (from: number) => world.bravo.events.slice(from).some(({ event }) => event.endsWith('failed'))

onSmallDisk('received: sound messages are taken in once, bad ones put away once', async () => {
  const effects: string[] = []
  const answer = ({ statement: { msg_id } }: Incoming): Verdict => {
    if (!effects.includes(msg_id)) effects.push(msg_id)
    return { verdict: 'applied' }
  }
  await startReceiving(world.bravo, answer)
  let prev = '0'.repeat(96)
  let failed = 0
  for (let pages = 0; pages < most_pages; pages++) {
    const seq = pages + 1
    const sound = await forge(world, { seq, statement: { prev } })
    prev = sound.digest
    drop(world, sound)
    const bad = await forge(world, {
      seq: 1_000 + pages,
      envelope: (text) => text.replace('"payload":"ey', '"payload":"eA'),
    })
    drop(world, bad)
    const from = world.bravo.events.length
    disk.leave(pages)
    for (let scans = 0; scans < 5; scans++) await world.bravo.transport.rescan()
    if (wasTold(from)) failed += 1
    disk.empty()
    if (pages % 2 === 1) await restart(world.bravo, answer)
    for (let scans = 0; scans < 2; scans++) await world.bravo.transport.rescan()
    expect([pages, effects.length]).toEqual([pages, seq])
    const reasons = quarantineOf(world.bravo, 'alpha').map(({ reason }) => reason)
    expect([pages, reasons]).toEqual([pages, Array.from({ length: seq }, () => 'BAD_SIG')])
    const { fresh, work } = incomingOf(world.bravo, 'alpha')
    expect([pages, fs.readdirSync(fresh), fs.readdirSync(work)]).toEqual([pages, [], []])
  }
  expect(failed).toBeGreaterThan(5)
  expect((await world.bravo.transport.status()).find(({ direction }) => direction === 'in')).toMatchObject({
    ...{ state: 'open', received: most_pages, gaps: 0 },
  })
  expect(await world.bravo.transport.health()).toEqual({ ok: true, detail: '' })
})

onSmallDisk('sent: what was promised goes out under its number, what was not may be asked again', async () => {
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
  let refused = 0
  for (let pages = 0; pages < most_pages; pages++) {
    const asked = message(world)
    disk.leave(pages)
    const promised = await world.alpha.transport.send(asked, aTrace).catch(() => undefined)
    await world.alpha.transport.rescan()
    if (!promised) refused += 1
    disk.empty()
    if (pages % 2 === 1) await restart(world.alpha)
    const sent = await world.alpha.transport.send(asked, aTrace)
    expect(sent).toMatchObject({ ...promised, seq: pages + 1 })
    await world.alpha.transport.rescan()
    expect(fs.readdirSync(readyOf(world.alpha, 'bravo'))).toHaveLength(2)
    carry(world.alpha, world.bravo)
    disk.leave(pages)
    await world.alpha.transport.rescan()
    disk.empty()
    await world.alpha.transport.rescan()
    await world.bravo.transport.rescan()
    expect(world.bravo.received.map(({ statement }) => statement.seq)).toEqual(
      Array.from({ length: pages + 1 }, (_, index) => index + 1),
    )
  }
  expect(refused).toBeGreaterThan(2)
  expect(fs.readdirSync(incomingOf(world.alpha, 'bravo').sent)).toHaveLength(2 * most_pages)
  expect(fs.readdirSync(incomingOf(world.alpha, 'bravo').tmp)).toEqual([])
  expect(quarantineOf(world.bravo, 'alpha')).toEqual([])
})
