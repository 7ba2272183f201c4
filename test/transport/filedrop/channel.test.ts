// A channel is made once, at enrolment; a later loss stops it, and no peer's trouble stops another.

import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { OutboundMessage } from '../../../daemon/kernel/messaging/transport.ts'
import {
  buildMessage,
  buildPeer,
  carryFiles,
  type FiledropSites,
  listChannelFolders,
  restartSite,
  sendFromAlpha,
  startReceiving,
} from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest as test } from '../../support/filedrop/filedrop-test.ts'
import { sampleTrace } from '../../support/trace/sample-trace.ts'

const formatHome = (sites: FiledropSites) => listChannelFolders(sites.bravo, 'alpha').home
const formatChannelFile = (sites: FiledropSites) => join(formatHome(sites), 'CHANNEL.json')
const listStates = async (sites: FiledropSites) => (await sites.bravo.transport.status()).map(({ state }) => state)

test('enrolment makes private folders; repeating it changes nothing', async ({ sites }) => {
  const before = fs.readFileSync(formatChannelFile(sites), 'utf8')
  await sites.bravo.transport.enrol(buildPeer(sites.alpha))
  expect(fs.readFileSync(formatChannelFile(sites), 'utf8')).toBe(before)
  expect(fs.statSync(formatChannelFile(sites)).mode & 0o777).toBe(0o600)
  const folders = fs
    .readdirSync(formatHome(sites), { recursive: true, withFileTypes: true })
    .filter((each) => each.isDirectory())
  expect(
    folders.map(({ name, parentPath }) => join(parentPath, name).slice(formatHome(sites).length + 1)).sort(),
  ).toEqual([...['in', 'in/done', 'in/new', 'in/quarantine', 'in/work', 'out', 'out/ready', 'out/sent', 'out/tmp']])
  for (const { name, parentPath } of folders) expect(fs.statSync(join(parentPath, name)).mode & 0o777).toBe(0o700)
})

test('without CHANNEL.json the channel stops with one alarm, nothing is touched, and it is never made again', async ({
  sites,
}) => {
  await startReceiving(sites.bravo)
  await sendFromAlpha(sites, 1)
  const text = fs.readFileSync(formatChannelFile(sites), 'utf8')
  fs.rmSync(formatChannelFile(sites))
  carryFiles(sites.alpha, sites.bravo)
  await sites.bravo.transport.rescan()
  await sites.bravo.transport.rescan()
  expect(await listStates(sites)).toEqual(['stopped', 'stopped'])
  expect((await sites.bravo.transport.health()).detail).toContain('CHANNEL.json is missing')
  expect(fs.readdirSync(listChannelFolders(sites.bravo, 'alpha').fresh)).toHaveLength(2)
  await expect(sites.bravo.transport.enrol(buildPeer(sites.alpha))).rejects.toMatchObject({ code: 'conflict' })
  await expect(sites.bravo.transport.send(buildMessage(sites, { peer: 'alpha' }), sampleTrace)).rejects.toThrow()
  await restartSite(sites.bravo)
  expect(fs.existsSync(formatChannelFile(sites))).toBe(false)
  const alarms = sites.bravo.events.filter(({ event }) => event === 'filedrop.channel.stopped')
  // Once per direction and process.
  expect(alarms).toHaveLength(4)
  fs.writeFileSync(formatChannelFile(sites), text, { mode: 0o600 })
  await sites.bravo.transport.rescan()
  expect(sites.bravo.received).toHaveLength(1)
})

test.for<[string, (text: string) => string]>([
  ['belongs to another channel', (text: string) => text.replace('"peer": "alpha"', '"peer": "charlie"')],
  ['is damaged', () => '{'],
])('a CHANNEL.json that %s stops the channel', async ([detail, change], { sites }) => {
  await startReceiving(sites.bravo)
  fs.writeFileSync(formatChannelFile(sites), change(fs.readFileSync(formatChannelFile(sites), 'utf8')))
  await sites.bravo.transport.rescan()
  expect(await listStates(sites)).toEqual(['stopped', 'stopped'])
  expect((await sites.bravo.transport.health()).detail).toContain(detail)
})

test('a lost journal is not started anew beside folders that remember', async ({ sites }) => {
  sites.bravo.file.db.exec('DELETE FROM journal_channel')
  await startReceiving(sites.bravo)
  await sites.bravo.transport.rescan()
  expect(await listStates(sites)).toEqual(['stopped', 'stopped'])
})

test('a peer that is let go stops; pinned again it goes on, in the running process', async ({ sites }) => {
  await startReceiving(sites.bravo)
  await sendFromAlpha(sites, 1)
  const pin = sites.bravo.pinned.get('alpha')
  sites.bravo.pinned.delete('alpha')
  carryFiles(sites.alpha, sites.bravo)
  await sites.bravo.transport.rescan()
  expect(sites.bravo.received).toEqual([])
  if (pin) sites.bravo.pinned.set('alpha', pin)
  await sites.bravo.transport.rescan()
  expect(sites.bravo.received).toHaveLength(1)
})

test('a peer that is pinned and enrolled while the carrier runs is taken up', async ({ sites }) => {
  await startReceiving(sites.bravo)
  const charlie = { ...buildPeer(sites.alpha), name: 'charlie' }
  sites.bravo.pinned.set('charlie', charlie)
  await sites.bravo.transport.enrol(charlie)
  expect((await sites.bravo.transport.status()).map(({ peer, state }) => `${peer} ${state}`)).toEqual([
    ...['alpha open', 'alpha open', 'charlie open', 'charlie open'],
  ])
})

test('a message to nobody, or to a peer without a channel, is refused', async ({ sites }) => {
  await expect(sites.alpha.transport.send(buildMessage(sites, { peer: 'nobody' }), sampleTrace)).rejects.toMatchObject({
    code: 'not_found',
  })
  sites.alpha.pinned.set('charlie', { ...buildPeer(sites.bravo), name: 'charlie' })
  await expect(sites.alpha.transport.send(buildMessage(sites, { peer: 'charlie' }), sampleTrace)).rejects.toMatchObject(
    {
      code: 'unavailable',
    },
  )
})

test.for<[string, Partial<OutboundMessage>, string]>([
  ['too large', { body: { text: 'x'.repeat(4_194_304) } }, 'too_large'],
  ['nested too deep', { body: { deep: JSON.parse(`${'['.repeat(15)}${']'.repeat(15)}`) } }, 'invalid'],
])('a body that no receiver takes (%s) is refused before it has a number', async ([_, more, code], { sites }) => {
  await expect(sites.alpha.transport.send(buildMessage(sites, more), sampleTrace)).rejects.toMatchObject({ code })
  expect(await sites.alpha.transport.send(buildMessage(sites), sampleTrace)).toMatchObject({ seq: 1 })
})
