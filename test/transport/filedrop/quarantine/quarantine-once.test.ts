// One reason file and one audit record for an item and its reason, however often a scan meets it.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import {
  listAuditRecords,
  listReasons,
  listReceivedNumbers,
  readFolders,
  readInStatus,
  scanBravo,
} from '../../../support/filedrop/filedrop-readers.ts'
import { carryFiles, type FiledropSites, restartSite, sendFromAlpha } from '../../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../../support/filedrop/filedrop-test.ts'
import { dropMessage, forgeMessage } from '../../../support/filedrop/forge-message.ts'
import { whenPresent } from '../../../support/runner/requires.ts'
import { smallDiskRequirement } from '../../../support/store/small-disk.ts'

const test = filedropTest.extend({ options: { receiving: ['alpha', 'bravo'] } })
const onMount = whenPresent(smallDiskRequirement, test)
const stem = '00000001-0000000000000007'

async function scanOften(sites: FiledropSites): Promise<void> {
  for (let i = 0; i < 3; i++) await scanBravo(sites)
  for (let i = 0; i < 2; i++) await restartSite(sites.bravo)
}

const countRecords = async (sites: FiledropSites) =>
  (await listAuditRecords(sites, 'filedrop.message.quarantined')).length

/** Not even root renames a mount point. */
async function whileMounted(path: string, options: string, check: () => Promise<void>): Promise<void> {
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path])
  try {
    await check()
  } finally {
    execFileSync('umount', ['-l', path])
  }
}

onMount.for([
  ['a file that is not a message', 'notes.txt', 'NAME'],
  ['half a message', `${stem}.env.json`, 'NOT_REGULAR'],
])('%s that cannot be moved: recorded once, and ordered messages go on', async ([_, name = '', reason], { sites }) => {
  const path = join(readFolders(sites).fresh, name)
  fs.mkdirSync(path)
  await whileMounted(path, 'rw', async () => {
    await scanOften(sites)
    expect([listReasons(sites), await countRecords(sites)]).toEqual([[reason], 1])
    const detail = expect.stringContaining('cannot be moved to quarantine (EBUSY)')
    expect(await readInStatus(sites)).toMatchObject({ detail })
    await sendFromAlpha(sites, 2, { kind: 'result' })
    carryFiles(sites.alpha, sites.bravo)
    await scanBravo(sites)
    expect(listReceivedNumbers(sites)).toEqual([1, 2])
  })
  await scanBravo(sites)
  expect(fs.existsSync(path)).toBe(false)
})

onMount('a quarantine that cannot be written: one record, and it is complete when it can be', async ({ sites }) => {
  const { quarantine, fresh } = readFolders(sites)
  fs.writeFileSync(join(fresh, 'notes.txt'), 'x')
  await sites.bravo.transport.stop()
  await whileMounted(quarantine, 'ro', async () => {
    await scanOften(sites)
    expect([fs.readdirSync(quarantine), await countRecords(sites)]).toEqual([[], 1])
    await sites.bravo.transport.stop()
  })
  await restartSite(sites.bravo)
  expect([listReasons(sites), await countRecords(sites), fs.readdirSync(fresh)]).toEqual([['NAME'], 1, []])
})

test('the same refused bytes again are one item; other bytes are another', async ({ sites }) => {
  const made = await forgeMessage(sites, { envelope: (text) => text.replace(/"signature":"..../, '"signature":"AAAA') })
  for (let i = 0; i < 3; i++) {
    dropMessage(sites, made)
    await scanBravo(sites)
  }
  expect([listReasons(sites), await countRecords(sites)]).toEqual([['BAD_SIG'], 1])
  dropMessage(sites, { ...made, body: `${made.body} ` })
  await scanBravo(sites)
  expect([listReasons(sites), await countRecords(sites)]).toEqual([['BAD_SIG', 'BAD_SIG'], 2])
  expect(await readInStatus(sites)).toMatchObject({ quarantined: 2, backlog: 0 })
})

test('a message that the ledger has refused, and whose files stay: recorded once', async ({ sites }) => {
  const { work } = readFolders(sites)
  let steps = 0
  const passFaultPoint = (step: string) => {
    if (step === 'reason-written' && ++steps < 4) throw new Error('the process died here')
  }
  await restartSite(sites.bravo, () => ({ verdict: 'refused', code: 'invalid', detail: 'no' }), {}, { passFaultPoint })
  await sendFromAlpha(sites, 1)
  carryFiles(sites.alpha, sites.bravo)
  for (let i = 0; i < 6; i++) await scanBravo(sites)
  expect([listReasons(sites), await countRecords(sites)]).toEqual([['REFUSED'], 1])
  expect(fs.readdirSync(work)).toEqual([])
})
