// A channel is made once, at enrolment; what is lost afterwards stops it, and no peer's trouble stops another.

import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { aTrace } from '../../support/a-trace.ts'
import {
  carry,
  incomingOf,
  message,
  peerOf,
  restart,
  sendFromAlpha,
  startReceiving,
  twoSites,
  type World,
} from './two-sites.ts'

let world: World
beforeEach(async () => {
  world = await twoSites()
})
afterEach(() => world.dispose())

const home = () => incomingOf(world.bravo, 'alpha').home
const channelFile = () => join(home(), 'CHANNEL.json')
const states = async () => (await world.bravo.transport.status()).map(({ state }) => state)

test('enrolment makes private folders; repeating it changes nothing', async () => {
  const before = fs.readFileSync(channelFile(), 'utf8')
  await world.bravo.transport.enrol(peerOf(world.alpha))
  expect(fs.readFileSync(channelFile(), 'utf8')).toBe(before)
  expect(fs.statSync(channelFile()).mode & 0o777).toBe(0o600)
  const folders = fs.readdirSync(home(), { recursive: true, withFileTypes: true }).filter((each) => each.isDirectory())
  expect(folders.map(({ name, parentPath }) => join(parentPath, name).slice(home().length + 1)).sort()).toEqual([
    ...['in', 'in/done', 'in/new', 'in/quarantine', 'in/work', 'out', 'out/ready', 'out/sent', 'out/tmp'],
  ])
  for (const { name, parentPath } of folders) expect(fs.statSync(join(parentPath, name)).mode & 0o777).toBe(0o700)
})

test('without CHANNEL.json the channel stops with one alarm, nothing is touched, and it is never made again', async () => {
  await startReceiving(world.bravo)
  await sendFromAlpha(world, 1)
  const text = fs.readFileSync(channelFile(), 'utf8')
  fs.rmSync(channelFile())
  carry(world.alpha, world.bravo)
  await world.bravo.transport.rescan()
  await world.bravo.transport.rescan()
  expect(await states()).toEqual(['stopped', 'stopped'])
  expect((await world.bravo.transport.health()).detail).toContain('CHANNEL.json is missing')
  expect(fs.readdirSync(incomingOf(world.bravo, 'alpha').fresh)).toHaveLength(2)
  await expect(world.bravo.transport.enrol(peerOf(world.alpha))).rejects.toMatchObject({ code: 'conflict' })
  await expect(world.bravo.transport.send(message(world, { peer: 'alpha' }), aTrace)).rejects.toThrow()
  await restart(world.bravo)
  expect(fs.existsSync(channelFile())).toBe(false)
  const alarms = world.bravo.events.filter(({ event }) => event === 'filedrop.channel.stopped')
  // Once per direction and process.
  expect(alarms).toHaveLength(4)
  fs.writeFileSync(channelFile(), text, { mode: 0o600 })
  await world.bravo.transport.rescan()
  expect(world.bravo.received).toHaveLength(1)
})

test.each([
  ['belongs to another channel', (text: string) => text.replace('"peer": "alpha"', '"peer": "charlie"')],
  ['is damaged', () => '{'],
])('a CHANNEL.json that %s stops the channel', async (detail, change) => {
  await startReceiving(world.bravo)
  fs.writeFileSync(channelFile(), change(fs.readFileSync(channelFile(), 'utf8')))
  await world.bravo.transport.rescan()
  expect(await states()).toEqual(['stopped', 'stopped'])
  expect((await world.bravo.transport.health()).detail).toContain(detail)
})

test('a lost journal is not started anew beside folders that remember', async () => {
  world.bravo.file.db.exec('DELETE FROM journal_channel')
  await startReceiving(world.bravo)
  await world.bravo.transport.rescan()
  expect(await states()).toEqual(['stopped', 'stopped'])
})

test('a peer that is let go stops; pinned again it goes on, in the running process', async () => {
  await startReceiving(world.bravo)
  await sendFromAlpha(world, 1)
  const pin = world.bravo.pinned.get('alpha')
  world.bravo.pinned.delete('alpha')
  carry(world.alpha, world.bravo)
  await world.bravo.transport.rescan()
  expect(world.bravo.received).toEqual([])
  if (pin) world.bravo.pinned.set('alpha', pin)
  await world.bravo.transport.rescan()
  expect(world.bravo.received).toHaveLength(1)
})

test('a peer that is pinned and enrolled while the carrier runs is taken up', async () => {
  await startReceiving(world.bravo)
  const charlie = { ...peerOf(world.alpha), name: 'charlie' }
  world.bravo.pinned.set('charlie', charlie)
  await world.bravo.transport.enrol(charlie)
  expect((await world.bravo.transport.status()).map(({ peer, state }) => `${peer} ${state}`)).toEqual([
    ...['alpha open', 'alpha open', 'charlie open', 'charlie open'],
  ])
})

test('a message to nobody, or to a peer without a channel, is refused', async () => {
  await expect(world.alpha.transport.send(message(world, { peer: 'nobody' }), aTrace)).rejects.toMatchObject({
    code: 'not_found',
  })
  world.alpha.pinned.set('charlie', { ...peerOf(world.bravo), name: 'charlie' })
  await expect(world.alpha.transport.send(message(world, { peer: 'charlie' }), aTrace)).rejects.toMatchObject({
    code: 'unavailable',
  })
})

test.each([
  ['too large', { body: { text: 'x'.repeat(4_194_304) } }, 'too_large'],
  ['nested too deep', { body: { deep: JSON.parse(`${'['.repeat(15)}${']'.repeat(15)}`) } }, 'invalid'],
])('a body that no receiver takes (%s) is refused before it has a number', async (_, more, code) => {
  await expect(world.alpha.transport.send(message(world, more), aTrace)).rejects.toMatchObject({ code })
  expect(await world.alpha.transport.send(message(world), aTrace)).toMatchObject({ seq: 1 })
})
