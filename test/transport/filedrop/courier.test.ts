// A courier's medium: nothing leaves before it is durable there, nothing is lost or harmfully doubled wherever a command dies.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sampleTrace } from '../../support/trace/sample-trace.ts'
import { createDyingAccess, createMedium, exportFromAlpha, importAtBravo } from './courier-fixture.ts'
import {
  buildMessage,
  createFiledropSites,
  type FiledropSites,
  formatReadyPath,
  listChannelFolders,
  listQuarantineReasons,
  restartSite,
  sendFromAlpha,
  startReceiving,
} from './filedrop-sites.ts'

const channel = 'filedrop/alpha/bravo'

let world: FiledropSites
let media: string
beforeEach(async () => {
  world = await createFiledropSites({ peer: { inventory_interval_s: 400 * 86_400 } })
  media = createMedium(world)
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const listReady = () => fs.readdirSync(formatReadyPath(world.alpha, 'bravo'))
const listNumbers = () => world.bravo.received.map(({ statement }) => statement.seq)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const listStates = async () => (await world.alpha.journal.sentRun(channel, 1, 1, 999, 999)).map(({ state }) => state)
const readInStatus = async () => (await world.bravo.transport.status()).find(({ direction }) => direction === 'in')

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

test('what is ready goes by a signed manifest, is taken in at the other end, and counts as picked up', async () => {
  await sendFromAlpha(world, 3)
  const before = listReady().map((name) => [
    name,
    fs.readFileSync(join(formatReadyPath(world.alpha, 'bravo'), name), 'utf8'),
  ])
  const steps: string[] = []
  const made = await exportFromAlpha(world, media, { progress: (done, all) => steps.push(`${done}/${all}`) })
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
  expect(listReady()).toEqual([])
  await world.alpha.transport.rescan()
  expect(await listStates()).toEqual(['PICKED_UP', 'PICKED_UP', 'PICKED_UP'])

  const untouched = readContents(media)
  expect(await importAtBravo(world, media)).toEqual({
    ...{ messages: 3, by_peer: { alpha: 3 }, folders: [folder], for_others: 0, faults: [] },
  })
  await world.bravo.transport.rescan()
  expect(listNumbers()).toEqual([1, 2, 3])
  for (const name of fs.readdirSync(listChannelFolders(world.bravo, 'alpha').done)) {
    expect(fs.statSync(join(listChannelFolders(world.bravo, 'alpha').done, name)).mode & 0o777).toBe(0o600)
  }
  expect(readContents(media)).toEqual(untouched)
})

test('what waits under a label that may not leave any more stays in ready, and is told', async () => {
  await sendFromAlpha(world, 1)
  const bravo = world.alpha.pinned.get('bravo')
  if (!bravo) throw new Error('bravo is pinned')
  world.alpha.pinned.set('bravo', { ...bravo, ceiling: { ...bravo.ceiling, level: 'UNCLASSIFIED' } })
  const { messages, left } = await exportFromAlpha(world, media)
  expect({ messages, left }).toMatchObject({ messages: 0, left: [{ why: expect.stringContaining('label') }] })
  expect(fs.readdirSync(media)).toEqual([])
  expect(fs.readdirSync(formatReadyPath(world.alpha, 'bravo'))).toHaveLength(2)
})

test('a medium imported twice brings duplicates, silently', async () => {
  await sendFromAlpha(world, 2)
  await exportFromAlpha(world, media)
  for (let i = 0; i < 3; i++) {
    expect(await importAtBravo(world, media)).toMatchObject({ messages: 2, faults: [] })
    await world.bravo.transport.rescan()
  }
  // Also before the first ones are taken in.
  await importAtBravo(world, media)
  await importAtBravo(world, media)
  await world.bravo.transport.rescan()
  expect(listNumbers()).toEqual([1, 2])
  expect(await readInStatus()).toMatchObject({ received: 2, duplicates: 6, quarantined: 0, backlog: 0 })
})

test('more messages than a manifest names go in several folders', async () => {
  await Promise.all(upTo(230).map(() => world.alpha.transport.send(buildMessage(world), sampleTrace)))
  await world.alpha.transport.rescan()
  const { folders, messages } = await exportFromAlpha(world, media)
  expect([folders.length, messages, listReady()]).toEqual([3, 230, []])
  const steps: string[] = []
  await importAtBravo(world, media, { progress: (done, all) => steps.push(`${done}/${all}`) })
  expect([steps.length, steps.at(-1)]).toEqual([230, '460/460'])
  await world.bravo.transport.rescan()
  expect(listNumbers()).toEqual(upTo(230))
})

test('nothing to carry makes no folder', async () => {
  expect(await exportFromAlpha(world, media)).toEqual({ messages: 0, bytes: 0, folders: [], left: [] })
  expect(fs.readdirSync(media)).toEqual([])
  expect(await importAtBravo(world, media)).toMatchObject({ messages: 0, folders: [], faults: [] })
})

describe('wherever the export dies', () => {
  test.each([
    ['the same medium', 0],
    ['another medium', 1],
  ])('a repeat to %s loses nothing, and nothing happens twice', async (_, other) => {
    let steps = 0
    for (let total = 0; ; steps++) {
      await sendFromAlpha(world, 3)
      total += 3
      const hands = createDyingAccess(steps)
      const first = createMedium(world, `medium-${steps}`)
      await exportFromAlpha(world, first, { runAs: hands }).catch(() => undefined)
      const second = other ? createMedium(world, `other-${steps}`) : first
      expect((await exportFromAlpha(world, second)).left).toEqual([])
      expect(listReady()).toEqual([])
      expect(fs.readdirSync(second).filter((name) => name.startsWith('.'))).toEqual([])
      for (const medium of new Set([first, second])) expect((await importAtBravo(world, medium)).faults).toEqual([])
      await world.bravo.transport.rescan()
      await world.alpha.transport.rescan()
      expect(listNumbers()).toEqual(upTo(total))
      expect(new Set(await listStates())).toEqual(new Set(['PICKED_UP']))
      expect(fs.readdirSync(listChannelFolders(world.alpha, 'bravo').sent)).toHaveLength(total * 2)
      if (!hands.hasDied()) break
    }
    // Each of the messages is some steps at least.
    expect(steps).toBeGreaterThan(9)
    expect(await readInStatus()).toMatchObject({ quarantined: 0, gaps: 0, ...(other ? {} : { duplicates: 0 }) })
  })

  test('between the two files of a message too', async () => {
    await sendFromAlpha(world, 2)
    const { folders } = await exportFromAlpha(world, createMedium(world, 'first'))
    await world.alpha.transport.stop()
    // As if the removal had ended after one file.
    const [env = ''] = fs
      .readdirSync(join(world.dir, 'first', folders[0] ?? ''))
      .filter((name) => name.includes('.env.'))
    fs.copyFileSync(join(world.dir, 'first', folders[0] ?? '', env), join(formatReadyPath(world.alpha, 'bravo'), env))
    await restartSite(world.alpha)
    expect(await listStates()).toEqual(['PUBLISHED', 'PICKED_UP'])
    expect(await exportFromAlpha(world, media)).toMatchObject({ messages: 1, left: [] })
    await world.alpha.transport.rescan()
    expect(await listStates()).toEqual(['PICKED_UP', 'PICKED_UP'])
    for (const medium of ['first', 'medium']) await importAtBravo(world, join(world.dir, medium))
    await world.bravo.transport.rescan()
    expect(listNumbers()).toEqual([1, 2])
  })
})

test('wherever the import dies, a repeat brings everything, and nothing ends in quarantine', async () => {
  await sendFromAlpha(world, 2)
  await exportFromAlpha(world, media)
  let steps = 0
  for (; ; steps++) {
    const hands = createDyingAccess(steps)
    await importAtBravo(world, media, { runAs: hands }).catch(() => undefined)
    await world.bravo.transport.rescan()
    if (!hands.hasDied()) break
  }
  expect(steps).toBeGreaterThan(6)
  await restartSite(world.bravo)
  expect(listNumbers()).toEqual([1, 2])
  expect(await readInStatus()).toMatchObject({ quarantined: 0, backlog: 0 })
  expect(fs.readdirSync(listChannelFolders(world.bravo, 'alpha').tmp)).toEqual([])
})

test('a disk without room: what does not fit stays in ready, and the medium keeps no half', async () => {
  await sendFromAlpha(world, 2)
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
  await expect(exportFromAlpha(world, media, { runAs: hands })).rejects.toThrow('ENOSPC')
  expect([listReady().length, fs.readdirSync(media)]).toEqual([4, []])
})

test('what this site did not sign under its number stays in ready, and is told', async () => {
  await sendFromAlpha(world, 3)
  const at = (name: string) => join(formatReadyPath(world.alpha, 'bravo'), name)
  const [body1 = '', , body2 = '', env2 = '', , env3 = ''] = listReady().sort()
  fs.writeFileSync(at(body1), '{"planted":true}')
  fs.copyFileSync(at(env3), at(env2))
  fs.writeFileSync(at('00000009-0000000000000009.body.json'), '{}')
  fs.writeFileSync(at('notes.txt'), 'a note')
  const { messages, left } = await exportFromAlpha(world, media)
  expect(messages).toBe(1)
  expect(left.map(({ file, why }) => `${file} ${why}`)).toEqual([
    '00000001-0000000000000001 it is not what this site signed under this number',
    '00000001-0000000000000002 it is not what this site signed under this number',
    '00000009-0000000000000009 half of it is missing, here and in out/sent',
  ])
  expect(listReady().sort()).toEqual(
    [body1, body1.replace('body', 'env'), body2, env2, '00000009-0000000000000009.body.json', 'notes.txt'].sort(),
  )
  await importAtBravo(world, media)
  await world.bravo.transport.rescan()
  expect([listNumbers(), listQuarantineReasons(world.bravo, 'alpha')]).toEqual([[3], []])
})
