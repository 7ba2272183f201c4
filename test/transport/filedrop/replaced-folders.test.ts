// A folder of a channel that is replaced stops the channel: a link is never followed, and nothing behind one is touched.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { everyFolderPath } from '../../../adapters/transport/filedrop/files/channel-folders.ts'
import {
  listAuditRecords,
  listReceivedNumbers,
  readInStatus,
  scanBravo,
} from '../../support/filedrop/filedrop-readers.ts'
import {
  buildPeer,
  carryFiles,
  type FiledropSites,
  listChannelFolders,
  restartSite,
  sendFromAlpha,
} from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'

const test = filedropTest.extend({ options: { receiving: ['alpha', 'bravo'] } })
const homeOf = (sites: FiledropSites) => listChannelFolders(sites.bravo, 'alpha').home

/** A copy of the folder elsewhere, with a file that nobody may touch, takes its place. */
function replaceFolder(sites: FiledropSites, path: string, by: 'link' | 'folder'): string {
  const folder = join(homeOf(sites), path)
  const elsewhere = join(sites.dir, `elsewhere-${path.replaceAll('/', '-')}`)
  fs.cpSync(folder, elsewhere, { recursive: true })
  fs.writeFileSync(join(elsewhere, 'notes.txt'), 'not of the channel')
  fs.renameSync(folder, join(sites.dir, 'moved-away'))
  if (by === 'link') fs.symlinkSync(elsewhere, folder)
  else fs.renameSync(elsewhere, folder)
  return by === 'link' ? elsewhere : folder
}

function restoreFolder(sites: FiledropSites, path: string): void {
  const folder = join(homeOf(sites), path)
  fs.rmSync(folder, { recursive: true, force: true })
  fs.renameSync(join(sites.dir, 'moved-away'), folder)
}

describe.each(everyFolderPath)('the folder "%s" of the channel', (path) => {
  test.for(['link', 'folder'] as const)(
    'replaced by a %s: stops with one alarm, nothing is touched, and goes on when it is back',
    async (by, { sites }) => {
      await sendFromAlpha(sites, 1)
      const elsewhere = replaceFolder(sites, path, by)
      carryFiles(sites.alpha, sites.bravo)
      const before = fs.readdirSync(elsewhere, { recursive: true }).sort()
      for (let i = 0; i < 3; i++) await scanBravo(sites)
      expect(await readInStatus(sites)).toMatchObject({
        state: 'stopped',
        detail: expect.stringMatching(/link|not the one/),
      })
      expect(fs.readdirSync(elsewhere, { recursive: true }).sort()).toEqual(before)
      expect(listReceivedNumbers(sites)).toEqual([])
      expect(await listAuditRecords(sites, 'filedrop.channel.stopped')).toHaveLength(2)
      const carried = fs.readdirSync(listChannelFolders(sites.bravo, 'alpha').fresh)
      const inNew = carried.map(
        (name) => [name, fs.readFileSync(join(listChannelFolders(sites.bravo, 'alpha').fresh, name))] as const,
      )
      restoreFolder(sites, path)
      for (const [name, bytes] of inNew)
        if (name !== 'notes.txt') fs.writeFileSync(join(listChannelFolders(sites.bravo, 'alpha').fresh, name), bytes)
      await scanBravo(sites)
      expect(await readInStatus(sites)).toMatchObject({ state: 'open' })
      expect(listReceivedNumbers(sites)).toEqual([1])
    },
  )

  test('a link is refused after a restart too, and a new folder is taken', async ({ sites }) => {
    replaceFolder(sites, path, 'link')
    await restartSite(sites.bravo)
    expect(await readInStatus(sites)).toMatchObject({ state: 'stopped', detail: expect.stringContaining('link') })
    await expect(sites.bravo.transport.enrol(buildPeer(sites.alpha))).rejects.toMatchObject({ code: 'conflict' })
    fs.rmSync(join(homeOf(sites), path))
    fs.cpSync(join(sites.dir, 'moved-away'), join(homeOf(sites), path), { recursive: true })
    await restartSite(sites.bravo)
    expect(await readInStatus(sites)).toMatchObject({ state: 'open' })
  })
})

test('a folder that is replaced between the check and the use is not used', async ({ sites }) => {
  await sites.bravo.transport.stop()
  let elsewhere: string | undefined
  // The message is read; its move to `work` comes next.
  const passFaultPoint = (step: string) => {
    if (step === 'read' && !elsewhere) elsewhere = replaceFolder(sites, 'in/work', 'link')
  }
  await sendFromAlpha(sites, 1)
  carryFiles(sites.alpha, sites.bravo)
  await restartSite(sites.bravo, undefined, {}, { passFaultPoint })
  expect(fs.readdirSync(elsewhere ?? '')).toEqual(['notes.txt'])
  expect(await readInStatus(sites)).toMatchObject({ state: 'stopped' })
})

test('an enrolment does not make folders through a link', async ({ sites }) => {
  const target = join(sites.dir, 'target')
  fs.mkdirSync(target)
  fs.symlinkSync(target, join(sites.bravo.root, 'charlie'))
  await expect(sites.bravo.transport.enrol({ ...buildPeer(sites.alpha), name: 'charlie' })).rejects.toMatchObject({
    code: 'conflict',
  })
  expect(fs.readdirSync(target)).toEqual([])
})

test('a purge does not search behind a link, and says so', async ({ sites }) => {
  const elsewhere = replaceFolder(sites, 'in/done', 'link')
  const digest = '38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b'
  fs.writeFileSync(join(elsewhere, 'empty'), '')
  await expect(sites.bravo.transport.custody.purge(digest, 'x', [])).rejects.toMatchObject({ code: 'unavailable' })
  expect(fs.readdirSync(elsewhere).sort()).toEqual(['empty', 'notes.txt'])
})
