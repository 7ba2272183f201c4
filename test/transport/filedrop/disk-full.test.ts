// A disk that is full at one write after the other: nothing is lost, done twice or falsely acknowledged, and it goes on with room.
import * as fs from 'node:fs'
import { expect } from 'vitest'
import type { DeliveryVerdict, InboundMessage } from '../../../daemon/kernel/messaging/transport.ts'
import {
  buildMessage,
  carryFiles,
  type FiledropSites,
  formatReadyPath,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
  startReceiving,
} from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'
import { dropMessage, forgeMessage } from '../../support/filedrop/forge-message.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { mountSmallDisk, type SmallDisk, smallDiskRequirement } from '../../support/store/small-disk.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'

/** More pages than all that one message writes, so that the last rounds find room for everything. */
const max_pages = 48

const diskTest = filedropTest
  .extend<{ disk: SmallDisk }>({
    disk: async ({ onTestFinished }, use) => {
      const disk = mountSmallDisk(24)
      onTestFinished(() => disk.empty())
      await use(disk)
      disk.unmount()
    },
  })
  .extend({
    options: async ({ disk }, use) => use({ base: disk.dir, peer: { inventory_interval_s: 400 * 86_400 } }),
  })
const test = whenPresent(smallDiskRequirement, diskTest)

const hasLoggedFailure = (sites: FiledropSites, from: number) =>
  sites.bravo.events.slice(from).some(({ event }) => event.endsWith('failed'))

test('received: sound messages are taken in once, bad ones put away once', async ({ disk, sites }) => {
  const effects: string[] = []
  const answer = ({ statement: { msg_id } }: InboundMessage): DeliveryVerdict => {
    if (!effects.includes(msg_id)) effects.push(msg_id)
    return { verdict: 'applied' }
  }
  await startReceiving(sites.bravo, answer)
  let prev = '0'.repeat(96)
  let failed = 0
  for (let pages = 0; pages < max_pages; pages++) {
    const seq = pages + 1
    const sound = await forgeMessage(sites, { seq, statement: { prev } })
    prev = sound.digest
    dropMessage(sites, sound)
    const bad = await forgeMessage(sites, {
      seq: 1_000 + pages,
      envelope: (text) => text.replace('"payload":"ey', '"payload":"eA'),
    })
    dropMessage(sites, bad)
    const from = sites.bravo.events.length
    disk.fillLeaving(pages)
    for (let scans = 0; scans < 5; scans++) await sites.bravo.transport.rescan()
    if (hasLoggedFailure(sites, from)) failed += 1
    disk.empty()
    if (pages % 2 === 1) await restartSite(sites.bravo, answer)
    for (let scans = 0; scans < 2; scans++) await sites.bravo.transport.rescan()
    expect([pages, effects.length]).toEqual([pages, seq])
    const reasons = listQuarantineReasons(sites.bravo, 'alpha').map(({ reason }) => reason)
    expect([pages, reasons]).toEqual([pages, Array.from({ length: seq }, () => 'BAD_SIG')])
    const { fresh, work } = listChannelFolders(sites.bravo, 'alpha')
    expect([pages, fs.readdirSync(fresh), fs.readdirSync(work)]).toEqual([pages, [], []])
  }
  expect(failed).toBeGreaterThan(5)
  expect((await sites.bravo.transport.status()).find(({ direction }) => direction === 'in')).toMatchObject({
    ...{ state: 'open', received: max_pages, gaps: 0 },
  })
  expect(await sites.bravo.transport.health()).toEqual({ ok: true, detail: '' })
})

test('sent: an acknowledged message goes out under its number, a refused one may be sent again', async ({
  disk,
  sites,
}) => {
  await startReceiving(sites.alpha)
  await startReceiving(sites.bravo)
  let refused = 0
  for (let pages = 0; pages < max_pages; pages++) {
    const message = buildMessage(sites)
    disk.fillLeaving(pages)
    const promised = await sites.alpha.transport.send(message, sampleTrace).catch(() => undefined)
    await sites.alpha.transport.rescan()
    if (!promised) refused += 1
    disk.empty()
    if (pages % 2 === 1) await restartSite(sites.alpha)
    const sent = await sites.alpha.transport.send(message, sampleTrace)
    expect(sent).toMatchObject({ ...promised, seq: pages + 1 })
    await sites.alpha.transport.rescan()
    expect(fs.readdirSync(formatReadyPath(sites.alpha, 'bravo'))).toHaveLength(2)
    carryFiles(sites.alpha, sites.bravo)
    disk.fillLeaving(pages)
    await sites.alpha.transport.rescan()
    disk.empty()
    await sites.alpha.transport.rescan()
    await sites.bravo.transport.rescan()
    expect(sites.bravo.received.map(({ statement }) => statement.seq)).toEqual(
      Array.from({ length: pages + 1 }, (_, index) => index + 1),
    )
  }
  expect(refused).toBeGreaterThan(2)
  expect(fs.readdirSync(listChannelFolders(sites.alpha, 'bravo').sent)).toHaveLength(2 * max_pages)
  expect(fs.readdirSync(listChannelFolders(sites.alpha, 'bravo').tmp)).toEqual([])
  expect(listQuarantineReasons(sites.bravo, 'alpha')).toEqual([])
})
