// A channel is made once, at enrolment; what is lost afterwards stops it, and no peer's trouble stops another.

import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sampleTrace } from '../../support/trace/sample-trace.ts'
import {
  buildMessage,
  buildPeer,
  carryFiles,
  createFiledropSites,
  type FiledropSites,
  listChannelFolders,
  restartSite,
  sendFromAlpha,
  startReceiving,
} from './filedrop-sites.ts'

let world: FiledropSites
beforeEach(async () => {
  world = await createFiledropSites()
})
afterEach(() => world.dispose())

const formatHome = () => listChannelFolders(world.bravo, 'alpha').home
const formatChannelFile = () => join(formatHome(), 'CHANNEL.json')
const listStates = async () => (await world.bravo.transport.status()).map(({ state }) => state)

test('enrolment makes private folders; repeating it changes nothing', async () => {
  const before = fs.readFileSync(formatChannelFile(), 'utf8')
  await world.bravo.transport.enrol(buildPeer(world.alpha))
  expect(fs.readFileSync(formatChannelFile(), 'utf8')).toBe(before)
  expect(fs.statSync(formatChannelFile()).mode & 0o777).toBe(0o600)
  const folders = fs
    .readdirSync(formatHome(), { recursive: true, withFileTypes: true })
    .filter((each) => each.isDirectory())
  expect(folders.map(({ name, parentPath }) => join(parentPath, name).slice(formatHome().length + 1)).sort()).toEqual([
    ...['in', 'in/done', 'in/new', 'in/quarantine', 'in/work', 'out', 'out/ready', 'out/sent', 'out/tmp'],
  ])
  for (const { name, parentPath } of folders) expect(fs.statSync(join(parentPath, name)).mode & 0o777).toBe(0o700)
})

test('without CHANNEL.json the channel stops with one alarm, nothing is touched, and it is never made again', async () => {
  await startReceiving(world.bravo)
  await sendFromAlpha(world, 1)
  const text = fs.readFileSync(formatChannelFile(), 'utf8')
  fs.rmSync(formatChannelFile())
  carryFiles(world.alpha, world.bravo)
  await world.bravo.transport.rescan()
  await world.bravo.transport.rescan()
  expect(await listStates()).toEqual(['stopped', 'stopped'])
  expect((await world.bravo.transport.health()).detail).toContain('CHANNEL.json is missing')
  expect(fs.readdirSync(listChannelFolders(world.bravo, 'alpha').fresh)).toHaveLength(2)
  await expect(world.bravo.transport.enrol(buildPeer(world.alpha))).rejects.toMatchObject({ code: 'conflict' })
  await expect(world.bravo.transport.send(buildMessage(world, { peer: 'alpha' }), sampleTrace)).rejects.toThrow()
  await restartSite(world.bravo)
  expect(fs.existsSync(formatChannelFile())).toBe(false)
  const alarms = world.bravo.events.filter(({ event }) => event === 'filedrop.channel.stopped')
  // Once per direction and process.
  expect(alarms).toHaveLength(4)
  fs.writeFileSync(formatChannelFile(), text, { mode: 0o600 })
  await world.bravo.transport.rescan()
  expect(world.bravo.received).toHaveLength(1)
})

test.each([
  ['belongs to another channel', (text: string) => text.replace('"peer": "alpha"', '"peer": "charlie"')],
  ['is damaged', () => '{'],
])('a CHANNEL.json that %s stops the channel', async (detail, change) => {
  await startReceiving(world.bravo)
  fs.writeFileSync(formatChannelFile(), change(fs.readFileSync(formatChannelFile(), 'utf8')))
  await world.bravo.transport.rescan()
  expect(await listStates()).toEqual(['stopped', 'stopped'])
  expect((await world.bravo.transport.health()).detail).toContain(detail)
})

test('a lost journal is not started anew beside folders that remember', async () => {
  world.bravo.file.db.exec('DELETE FROM journal_channel')
  await startReceiving(world.bravo)
  await world.bravo.transport.rescan()
  expect(await listStates()).toEqual(['stopped', 'stopped'])
})

test('a peer that is let go stops; pinned again it goes on, in the running process', async () => {
  await startReceiving(world.bravo)
  await sendFromAlpha(world, 1)
  const pin = world.bravo.pinned.get('alpha')
  world.bravo.pinned.delete('alpha')
  carryFiles(world.alpha, world.bravo)
  await world.bravo.transport.rescan()
  expect(world.bravo.received).toEqual([])
  if (pin) world.bravo.pinned.set('alpha', pin)
  await world.bravo.transport.rescan()
  expect(world.bravo.received).toHaveLength(1)
})

test('a peer that is pinned and enrolled while the carrier runs is taken up', async () => {
  await startReceiving(world.bravo)
  const charlie = { ...buildPeer(world.alpha), name: 'charlie' }
  world.bravo.pinned.set('charlie', charlie)
  await world.bravo.transport.enrol(charlie)
  expect((await world.bravo.transport.status()).map(({ peer, state }) => `${peer} ${state}`)).toEqual([
    ...['alpha open', 'alpha open', 'charlie open', 'charlie open'],
  ])
})

test('a message to nobody, or to a peer without a channel, is refused', async () => {
  await expect(world.alpha.transport.send(buildMessage(world, { peer: 'nobody' }), sampleTrace)).rejects.toMatchObject({
    code: 'not_found',
  })
  world.alpha.pinned.set('charlie', { ...buildPeer(world.bravo), name: 'charlie' })
  await expect(world.alpha.transport.send(buildMessage(world, { peer: 'charlie' }), sampleTrace)).rejects.toMatchObject(
    {
      code: 'unavailable',
    },
  )
})

test.each([
  ['too large', { body: { text: 'x'.repeat(4_194_304) } }, 'too_large'],
  ['nested too deep', { body: { deep: JSON.parse(`${'['.repeat(15)}${']'.repeat(15)}`) } }, 'invalid'],
])('a body that no receiver takes (%s) is refused before it has a number', async (_, more, code) => {
  await expect(world.alpha.transport.send(buildMessage(world, more), sampleTrace)).rejects.toMatchObject({ code })
  expect(await world.alpha.transport.send(buildMessage(world), sampleTrace)).toMatchObject({ seq: 1 })
})
