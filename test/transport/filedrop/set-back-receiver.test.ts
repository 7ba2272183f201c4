// A receiver that was restored, or that begins an epoch, does not know the last number of its peer before an inventory comes.
import { expect } from 'vitest'
import {
  channel,
  listAuditRecords,
  listReceivedNumbers,
  readInStatus,
} from '../../support/filedrop/filedrop-readers.ts'
import { carryFiles, type FiledropSites, restartSite, sendFromAlpha } from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'

const minute_ms = 60_000
const interval_s = 86_400
const test = filedropTest.extend({ options: { peer: { inventory_interval_s: interval_s } } })
const accredited = { isAccredited: () => true, acknowledgements: { alpha: { every_s: 60 } } }

test.beforeEach(async ({ sites }) => {
  await restartSite(sites.alpha, undefined, {}, { isAccredited: () => true })
  await restartSite(sites.bravo, undefined, {}, accredited)
})

async function carryBoth(sites: FiledropSites): Promise<void> {
  sites.clock.ms += minute_ms
  for (const [from, to] of [
    [sites.alpha, sites.bravo],
    [sites.bravo, sites.alpha],
  ] as const) {
    await from.transport.rescan()
    carryFiles(from, to)
    await to.transport.rescan()
  }
}

const readState = (sites: FiledropSites, epoch?: number) => sites.bravo.transport.oneWay.inventoryState('alpha', epoch)

/** As a backup from after the first message leaves the journal; the restore forgets the inventory. */
async function setBack({ bravo }: FiledropSites): Promise<void> {
  await bravo.transport.stop()
  bravo.received.length = 0
  bravo.file.db.exec(`
    DELETE FROM journal_ledger WHERE seq > 1;
    UPDATE journal_run SET floor = 1, highest = 1, beyond = 0;
  `)
  await bravo.journal.forgetInventory(channel)
}

test('before the first inventory, and in an older epoch, it is unknown; after one it is known', async ({ sites }) => {
  expect(await readState(sites)).toEqual({ is_inventory_pending: true, is_requested: true })
  sites.clock.ms += interval_s * 1_000
  await carryBoth(sites)
  expect(await readState(sites)).toMatchObject({ is_inventory_pending: false, inventory_at: expect.any(String) })
  expect(await readInStatus(sites)).toMatchObject({ is_inventory_pending: false })
  expect(await readState(sites, 7)).toMatchObject({ is_inventory_pending: true, is_requested: false })
})

test('after a restore it is unknown until the next inventory, which an acknowledgement requests once', async ({
  sites,
}) => {
  await sendFromAlpha(sites, 4)
  for (let i = 0; i < 2; i++) await carryBoth(sites)
  sites.clock.ms += interval_s * 1_000
  for (let i = 0; i < 2; i++) await carryBoth(sites)
  expect(listReceivedNumbers(sites).slice(0, 4)).toEqual([1, 2, 3, 4])
  expect(await readState(sites)).toMatchObject({ is_inventory_pending: false })

  await setBack(sites)
  await restartSite(sites.bravo, undefined, {}, accredited)
  expect(await readState(sites)).toMatchObject({ is_inventory_pending: true, is_requested: true })
  expect(await readInStatus(sites)).toMatchObject({ gaps: 0, is_inventory_pending: true })

  // Long before alpha's next inventory would be due by itself.
  for (let i = 0; i < 8; i++) await carryBoth(sites)
  expect(await readState(sites)).toMatchObject({ is_inventory_pending: false })
  expect(await readInStatus(sites)).toMatchObject({ gaps: 0, is_inventory_pending: false })
  expect(listReceivedNumbers(sites).sort()).toEqual(expect.arrayContaining([2, 3, 4]))
  const records = await sites.alpha.audit.list({ action: 'filedrop.peer.set_back', limit: 9 })
  expect(records.map(({ event }) => event?.detail)).toMatchObject([{ epoch: 1, floor: 1 }])
  expect(await listAuditRecords(sites, 'filedrop.channel.equivocation')).toEqual([])
})

test('without an accredited way back nothing requests it', async ({ sites }) => {
  await restartSite(sites.bravo)
  expect(await readState(sites)).toMatchObject({ is_inventory_pending: true, is_requested: false })
})
