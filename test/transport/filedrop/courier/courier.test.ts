// A courier's medium: nothing leaves before it is durable there, nothing is lost or harmfully doubled wherever a command dies.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import {
  createDyingSteps,
  createMedium,
  exportFromAlpha,
  importAtBravo,
} from '../../../support/filedrop/courier-fixture.ts'
import { channel, listReceivedNumbers, readInStatus, upTo } from '../../../support/filedrop/filedrop-readers.ts'
import {
  buildMessage,
  type FiledropSites,
  formatReadyPath,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
  sendFromAlpha,
} from '../../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../../support/filedrop/filedrop-test.ts'
import { sampleTrace } from '../../../support/trace/sample-trace.ts'

const test = filedropTest.extend({
  options: { receiving: ['alpha', 'bravo'], peer: { inventory_interval_s: 400 * 86_400 } },
})
let media: string
test.beforeEach(async ({ sites }) => {
  media = createMedium(sites)
})

const listReady = (sites: FiledropSites) => fs.readdirSync(formatReadyPath(sites.alpha, 'bravo'))
const listStates = async (sites: FiledropSites) =>
  (await sites.alpha.journal.sentRun(channel, 1, 1, 999, 999)).map(({ state }) => state)

/** Everything on the medium as text: names, sizes and contents. */
function readContents(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return `${path} ${entry.isFile() ? fs.readFileSync(path, 'base64') : ''}`
    })
    .sort()
}

test('ready messages go by a signed manifest, come in at the other end, and count as picked up', async ({ sites }) => {
  await sendFromAlpha(sites, 3)
  const before = listReady(sites).map((name) => [
    name,
    fs.readFileSync(join(formatReadyPath(sites.alpha, 'bravo'), name), 'utf8'),
  ])
  const steps: string[] = []
  const made = await exportFromAlpha(sites, media, { progress: (done, all) => steps.push(`${done}/${all}`) })
  expect(made).toEqual({ messages: 3, bytes: expect.any(Number), folders: [expect.any(String)], left: [] })
  expect(steps).toEqual(['1/3', '2/3', '3/3'])
  const [folder = ''] = made.folders
  expect(folder).toMatch(/^alpha-to-bravo-[0-9a-f]{16}$/)
  expect(fs.readdirSync(media)).toEqual([folder])
  expect(fs.readdirSync(join(media, folder)).sort()).toEqual([...before.map(([name]) => name), 'MANIFEST.json'].sort())
  for (const [name = '', text] of before) expect(fs.readFileSync(join(media, folder, name), 'utf8')).toBe(text)
  const { payload } = JSON.parse(fs.readFileSync(join(media, folder, 'MANIFEST.json'), 'utf8'))
  expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({
    ...{ v: 1, type: 'platform.manifest', src: 'alpha', dst: 'bravo', channel, medium: folder.slice(-16) },
    files: before.map(([name, text = '']) => ({ name, bytes: Buffer.byteLength(text) })),
  })
  expect(listReady(sites)).toEqual([])
  await sites.alpha.transport.rescan()
  expect(await listStates(sites)).toEqual(['PICKED_UP', 'PICKED_UP', 'PICKED_UP'])

  const untouched = readContents(media)
  expect(await importAtBravo(sites, media)).toEqual({
    ...{ messages: 3, by_peer: { alpha: 3 }, folders: [folder], for_others: 0, faults: [] },
  })
  await sites.bravo.transport.rescan()
  expect(listReceivedNumbers(sites)).toEqual([1, 2, 3])
  for (const name of fs.readdirSync(listChannelFolders(sites.bravo, 'alpha').done)) {
    expect(fs.statSync(join(listChannelFolders(sites.bravo, 'alpha').done, name)).mode & 0o777).toBe(0o600)
  }
  expect(readContents(media)).toEqual(untouched)
})

test('a message whose label may no longer leave stays in ready, and is reported', async ({ sites }) => {
  await sendFromAlpha(sites, 1)
  const bravo = sites.alpha.pinned.get('bravo')
  if (!bravo) throw new Error('bravo is pinned')
  sites.alpha.pinned.set('bravo', { ...bravo, ceiling: { ...bravo.ceiling, level: 'UNCLASSIFIED' } })
  const { messages, left } = await exportFromAlpha(sites, media)
  expect({ messages, left }).toMatchObject({ messages: 0, left: [{ why: expect.stringContaining('label') }] })
  expect(fs.readdirSync(media)).toEqual([])
  expect(fs.readdirSync(formatReadyPath(sites.alpha, 'bravo'))).toHaveLength(2)
})

test('a medium imported twice brings duplicates, silently', async ({ sites }) => {
  await sendFromAlpha(sites, 2)
  await exportFromAlpha(sites, media)
  for (let i = 0; i < 3; i++) {
    expect(await importAtBravo(sites, media)).toMatchObject({ messages: 2, faults: [] })
    await sites.bravo.transport.rescan()
  }
  // Also before the first ones are taken in.
  await importAtBravo(sites, media)
  await importAtBravo(sites, media)
  await sites.bravo.transport.rescan()
  expect(listReceivedNumbers(sites)).toEqual([1, 2])
  expect(await readInStatus(sites)).toMatchObject({ received: 2, duplicates: 6, quarantined: 0, backlog: 0 })
})

test('more messages than a manifest names go in several folders', async ({ sites }) => {
  await Promise.all(upTo(230).map(() => sites.alpha.transport.send(buildMessage(sites), sampleTrace)))
  await sites.alpha.transport.rescan()
  const { folders, messages } = await exportFromAlpha(sites, media)
  expect([folders.length, messages, listReady(sites)]).toEqual([3, 230, []])
  const steps: string[] = []
  await importAtBravo(sites, media, { progress: (done, all) => steps.push(`${done}/${all}`) })
  expect([steps.length, steps.at(-1)]).toEqual([230, '460/460'])
  await sites.bravo.transport.rescan()
  expect(listReceivedNumbers(sites)).toEqual(upTo(230))
})

test('nothing to carry makes no folder', async ({ sites }) => {
  expect(await exportFromAlpha(sites, media)).toEqual({ messages: 0, bytes: 0, folders: [], left: [] })
  expect(fs.readdirSync(media)).toEqual([])
  expect(await importAtBravo(sites, media)).toMatchObject({ messages: 0, folders: [], faults: [] })
})

describe('wherever the export dies', () => {
  test.for([
    ['the same medium', 0],
    ['another medium', 1],
  ])('a repeat to %s loses nothing, and nothing happens twice', async ([_, other], { sites }) => {
    let steps = 0
    for (let total = 0; ; steps++) {
      await sendFromAlpha(sites, 3)
      total += 3
      const hands = createDyingSteps(steps)
      const first = createMedium(sites, `medium-${steps}`)
      await exportFromAlpha(sites, first, { steps: hands }).catch(() => undefined)
      const second = other ? createMedium(sites, `other-${steps}`) : first
      expect((await exportFromAlpha(sites, second)).left).toEqual([])
      expect(listReady(sites)).toEqual([])
      expect(fs.readdirSync(second).filter((name) => name.startsWith('.'))).toEqual([])
      for (const medium of new Set([first, second])) expect((await importAtBravo(sites, medium)).faults).toEqual([])
      await sites.bravo.transport.rescan()
      await sites.alpha.transport.rescan()
      expect(listReceivedNumbers(sites)).toEqual(upTo(total))
      expect(new Set(await listStates(sites))).toEqual(new Set(['PICKED_UP']))
      expect(fs.readdirSync(listChannelFolders(sites.alpha, 'bravo').sent)).toHaveLength(total * 2)
      if (!hands.hasDied()) break
    }
    // Each of the messages is some steps at least.
    expect(steps).toBeGreaterThan(9)
    expect(await readInStatus(sites)).toMatchObject({ quarantined: 0, gaps: 0, ...(other ? {} : { duplicates: 0 }) })
  })

  test('between the two files of a message too', async ({ sites }) => {
    await sendFromAlpha(sites, 2)
    const { folders } = await exportFromAlpha(sites, createMedium(sites, 'first'))
    await sites.alpha.transport.stop()
    // As if the removal had ended after one file.
    const [env = ''] = fs
      .readdirSync(join(sites.dir, 'first', folders[0] ?? ''))
      .filter((name) => name.includes('.env.'))
    fs.copyFileSync(join(sites.dir, 'first', folders[0] ?? '', env), join(formatReadyPath(sites.alpha, 'bravo'), env))
    await restartSite(sites.alpha)
    expect(await listStates(sites)).toEqual(['PUBLISHED', 'PICKED_UP'])
    expect(await exportFromAlpha(sites, media)).toMatchObject({ messages: 1, left: [] })
    await sites.alpha.transport.rescan()
    expect(await listStates(sites)).toEqual(['PICKED_UP', 'PICKED_UP'])
    for (const medium of ['first', 'medium']) await importAtBravo(sites, join(sites.dir, medium))
    await sites.bravo.transport.rescan()
    expect(listReceivedNumbers(sites)).toEqual([1, 2])
  })
})

/** Folders below `dir` that this process has open. */
function listOpenFolders(dir: string): string[] {
  const open = fs.readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return fs.readlinkSync(join('/proc/self/fd', descriptor))
    } catch {
      // The descriptor of this very list.
      return []
    }
  })
  return open
    .filter((path) => path.startsWith(dir) && fs.statSync(path, { throwIfNoEntry: false })?.isDirectory())
    .sort()
}

test('wherever the import dies, a repeat brings everything, and nothing ends in quarantine', async ({ sites }) => {
  await sendFromAlpha(sites, 2)
  await exportFromAlpha(sites, media)
  for (const { transport } of [sites.alpha, sites.bravo]) await transport.rescan()
  const openFolders = listOpenFolders(sites.dir)
  let steps = 0
  for (; ; steps++) {
    const hands = createDyingSteps(steps)
    await importAtBravo(sites, media, { steps: hands }).catch(() => undefined)
    expect(listOpenFolders(sites.dir)).toEqual(openFolders)
    await sites.bravo.transport.rescan()
    if (!hands.hasDied()) break
  }
  expect(steps).toBeGreaterThan(6)
  await restartSite(sites.bravo)
  expect(listReceivedNumbers(sites)).toEqual([1, 2])
  expect(await readInStatus(sites)).toMatchObject({ quarantined: 0, backlog: 0 })
  expect(fs.readdirSync(listChannelFolders(sites.bravo, 'alpha').tmp)).toEqual([])
})

test('a disk without room: what does not fit stays in ready, and the medium keeps no half', async ({ sites }) => {
  await sendFromAlpha(sites, 2)
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  let writes = 0
  const hands = {
    site: <T>(act: () => T) => act(),
    medium<T>(act: () => T): T {
      writes += 1
      if (writes === 6) throw full
      return act()
    },
  }
  await expect(exportFromAlpha(sites, media, { steps: hands })).rejects.toThrow('ENOSPC')
  expect([listReady(sites).length, fs.readdirSync(media)]).toEqual([4, []])
})

test('a message that this site did not sign under its number stays in ready, and is reported', async ({ sites }) => {
  await sendFromAlpha(sites, 3)
  const at = (name: string) => join(formatReadyPath(sites.alpha, 'bravo'), name)
  const [body1 = '', , body2 = '', env2 = '', , env3 = ''] = listReady(sites).sort()
  fs.writeFileSync(at(body1), '{"planted":true}')
  fs.copyFileSync(at(env3), at(env2))
  fs.writeFileSync(at('00000009-0000000000000009.body.json'), '{}')
  fs.writeFileSync(at('notes.txt'), 'a note')
  const { messages, left } = await exportFromAlpha(sites, media)
  expect(messages).toBe(1)
  expect(left.map(({ file, why }) => `${file} ${why}`)).toEqual([
    '00000001-0000000000000001 it differs from what this site signed under this number',
    '00000001-0000000000000002 it differs from what this site signed under this number',
    '00000009-0000000000000009 half of it is missing, here and in out/sent',
  ])
  expect(listReady(sites).sort()).toEqual(
    [body1, body1.replace('body', 'env'), body2, env2, '00000009-0000000000000009.body.json', 'notes.txt'].sort(),
  )
  await importAtBravo(sites, media)
  await sites.bravo.transport.rescan()
  expect([listReceivedNumbers(sites), listQuarantineReasons(sites.bravo, 'alpha')]).toEqual([[3], []])
})
