// A disk that is full at one write after the other: nothing is lost, done twice or said to be done, and it goes on when there is room.
import * as fs from 'node:fs'
import { afterEach, beforeEach, expect } from 'vitest'
import type { DeliveryVerdict, InboundMessage } from '../../../daemon/kernel/messaging/transport.ts'
import { mountSmallDisk, onSmallDisk, type SmallDisk } from '../../support/store/small-disk.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'
import {
  buildMessage,
  carryFiles,
  createFiledropSites,
  type FiledropSites,
  formatReadyPath,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
  startReceiving,
} from './filedrop-sites.ts'
import { dropMessage, forgeMessage } from './forge-message.ts'

/** More pages than all that one message writes, so that the last rounds find room for everything. */
const max_pages = 48

let disk: SmallDisk
let world: FiledropSites
beforeEach(async () => {
  disk = mountSmallDisk(24)
  world = await createFiledropSites({ base: disk.dir, peer: { inventory_interval_s: 400 * 86_400 } })
})
afterEach(async () => {
  disk.empty()
  await world.dispose()
  disk.unmount()
})

const hasLoggedFailure = (from: number) => world.bravo.events.slice(from).some(({ event }) => event.endsWith('failed'))

onSmallDisk('received: sound messages are taken in once, bad ones put away once', async () => {
  const effects: string[] = []
  const answer = ({ statement: { msg_id } }: InboundMessage): DeliveryVerdict => {
    if (!effects.includes(msg_id)) effects.push(msg_id)
    return { verdict: 'applied' }
  }
  await startReceiving(world.bravo, answer)
  let prev = '0'.repeat(96)
  let failed = 0
  for (let pages = 0; pages < max_pages; pages++) {
    const seq = pages + 1
    const sound = await forgeMessage(world, { seq, statement: { prev } })
    prev = sound.digest
    dropMessage(world, sound)
    const bad = await forgeMessage(world, {
      seq: 1_000 + pages,
      envelope: (text) => text.replace('"payload":"ey', '"payload":"eA'),
    })
    dropMessage(world, bad)
    const from = world.bravo.events.length
    disk.fillLeaving(pages)
    for (let scans = 0; scans < 5; scans++) await world.bravo.transport.rescan()
    if (hasLoggedFailure(from)) failed += 1
    disk.empty()
    if (pages % 2 === 1) await restartSite(world.bravo, answer)
    for (let scans = 0; scans < 2; scans++) await world.bravo.transport.rescan()
    expect([pages, effects.length]).toEqual([pages, seq])
    const reasons = listQuarantineReasons(world.bravo, 'alpha').map(({ reason }) => reason)
    expect([pages, reasons]).toEqual([pages, Array.from({ length: seq }, () => 'BAD_SIG')])
    const { fresh, work } = listChannelFolders(world.bravo, 'alpha')
    expect([pages, fs.readdirSync(fresh), fs.readdirSync(work)]).toEqual([pages, [], []])
  }
  expect(failed).toBeGreaterThan(5)
  expect((await world.bravo.transport.status()).find(({ direction }) => direction === 'in')).toMatchObject({
    ...{ state: 'open', received: max_pages, gaps: 0 },
  })
  expect(await world.bravo.transport.health()).toEqual({ ok: true, detail: '' })
})

onSmallDisk('sent: what was promised goes out under its number, what was not may be asked again', async () => {
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
  let refused = 0
  for (let pages = 0; pages < max_pages; pages++) {
    const asked = buildMessage(world)
    disk.fillLeaving(pages)
    const promised = await world.alpha.transport.send(asked, sampleTrace).catch(() => undefined)
    await world.alpha.transport.rescan()
    if (!promised) refused += 1
    disk.empty()
    if (pages % 2 === 1) await restartSite(world.alpha)
    const sent = await world.alpha.transport.send(asked, sampleTrace)
    expect(sent).toMatchObject({ ...promised, seq: pages + 1 })
    await world.alpha.transport.rescan()
    expect(fs.readdirSync(formatReadyPath(world.alpha, 'bravo'))).toHaveLength(2)
    carryFiles(world.alpha, world.bravo)
    disk.fillLeaving(pages)
    await world.alpha.transport.rescan()
    disk.empty()
    await world.alpha.transport.rescan()
    await world.bravo.transport.rescan()
    expect(world.bravo.received.map(({ statement }) => statement.seq)).toEqual(
      Array.from({ length: pages + 1 }, (_, index) => index + 1),
    )
  }
  expect(refused).toBeGreaterThan(2)
  expect(fs.readdirSync(listChannelFolders(world.alpha, 'bravo').sent)).toHaveLength(2 * max_pages)
  expect(fs.readdirSync(listChannelFolders(world.alpha, 'bravo').tmp)).toEqual([])
  expect(listQuarantineReasons(world.bravo, 'alpha')).toEqual([])
})
