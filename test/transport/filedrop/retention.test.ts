// Files of sent and applied messages are kept as long as the channel's record says, by the journal's times; digests for ever.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Journal } from '../../../daemon/kernel/messaging/journal.ts'
import {
  carryFiles,
  createFiledropSites,
  type FiledropSites,
  listChannelFolders,
  restartSite,
  sendFromAlpha,
  startReceiving,
} from './filedrop-sites.ts'

const day_ms = 86_400_000
const out_channel = 'filedrop/alpha/bravo'
const neverAborted = new AbortController().signal

let world: FiledropSites
beforeEach(async () => {
  world = await createFiledropSites({ peer: { keep_days: 30, inventory_interval_s: 400 * 86_400 } })
  await startReceiving(world.alpha)
  await startReceiving(world.bravo)
})
afterEach(() => world.dispose())

const listSent = () => fs.readdirSync(listChannelFolders(world.alpha, 'bravo').sent)
const listDone = () => fs.readdirSync(listChannelFolders(world.bravo, 'alpha').done)
const dropOldFiles = (site = world.alpha) => site.transport.oneWay.dropOld(neverAborted)

async function exchangeMessages(count: number): Promise<void> {
  await sendFromAlpha(world, count)
  carryFiles(world.alpha, world.bravo, { keep: true })
  await world.bravo.transport.rescan()
  carryFiles(world.alpha, world.bravo)
  await world.alpha.transport.rescan()
}

test('after thirty days both ends drop the files, and still know every number and digest', async () => {
  await exchangeMessages(3)
  world.clock.ms += 30 * day_ms
  expect([await dropOldFiles(), await dropOldFiles(world.bravo)]).toEqual([[], []])
  world.clock.ms += 1
  expect(await dropOldFiles()).toEqual([{ channel: out_channel, messages: 3, more: false }])
  expect(await dropOldFiles(world.bravo)).toEqual([{ channel: out_channel, messages: 3, more: false }])
  expect([listSent(), listDone()]).toEqual([[], []])
  expect(await dropOldFiles()).toEqual([])
  const known = await world.alpha.journal.sentRun(out_channel, 1, 1, 9, 9)
  expect(known).toHaveLength(3)
  for (const { seq, digest } of known) {
    expect(await world.bravo.journal.entry(out_channel, 1, seq)).toMatchObject({ state: 'applied', digest })
  }
  expect(await world.alpha.transport.oneWay.resend({ peer: 'bravo', first: 1, last: 3 })).toMatchObject({
    ...{ resent: 0, not_resent: [{ first: 1, last: 3, why: 'not_kept' }] },
  })
})

test('a duplicate that comes later is dropped, and not kept anew', async () => {
  await sendFromAlpha(world, 1)
  carryFiles(world.alpha, world.bravo, { keep: true })
  await world.bravo.transport.rescan()
  world.clock.ms += 31 * day_ms
  await dropOldFiles(world.bravo)
  carryFiles(world.alpha, world.bravo)
  await world.bravo.transport.rescan()
  expect([listDone(), fs.readdirSync(listChannelFolders(world.bravo, 'alpha').work)]).toEqual([[], []])
  expect((await world.bravo.transport.status())[1]).toMatchObject({ received: 1, duplicates: 1 })
})

test('time counts from when the carrier took the message, and what it has not taken stays', async () => {
  await sendFromAlpha(world, 2)
  world.clock.ms += 40 * day_ms
  carryFiles(world.alpha, world.bravo, { only: (name) => name.includes('1.') })
  await world.alpha.transport.rescan()
  await dropOldFiles()
  expect(listSent()).toHaveLength(2)
  world.clock.ms += 31 * day_ms
  expect(await dropOldFiles()).toMatchObject([{ messages: 1 }])
  expect(fs.readdirSync(listChannelFolders(world.alpha, 'bravo').ready)).toHaveLength(2)
})

test('times of files say nothing, in either direction', async () => {
  await exchangeMessages(2)
  const old = new Date('1999-01-01T00:00:00Z')
  for (const name of listSent()) fs.utimesSync(join(listChannelFolders(world.alpha, 'bravo').sent, name), old, old)
  expect(await dropOldFiles()).toEqual([])
  world.clock.ms += 31 * day_ms
  const late = new Date('2199-01-01T00:00:00Z')
  for (const name of listSent()) fs.utimesSync(join(listChannelFolders(world.alpha, 'bravo').sent, name), late, late)
  expect(await dropOldFiles()).toMatchObject([{ messages: 2 }])
})

test('each channel by its own record', async () => {
  await exchangeMessages(1)
  const bravo = world.alpha.pinned.get('bravo')
  if (bravo) world.alpha.pinned.set('bravo', { ...bravo, keep_days: 90 })
  world.clock.ms += 31 * day_ms
  expect(await dropOldFiles()).toEqual([])
  world.clock.ms += 60 * day_ms
  expect(await dropOldFiles()).toMatchObject([{ messages: 1 }])
})

test('a death between files and journal is made up for, and a file that is gone already is no failure', async () => {
  await exchangeMessages(3)
  world.clock.ms += 31 * day_ms
  let dies = true
  const journal = new Proxy(world.alpha.journal, {
    get(target, name, self) {
      if (name === 'dropRetained' && dies) return () => Promise.reject(new Error('the process died here'))
      return Reflect.get(target, name, self)
    },
  }) as Journal
  await restartSite(world.alpha, undefined, {}, { journal })
  await expect(dropOldFiles()).rejects.toThrow('died')
  dies = false
  expect(await dropOldFiles()).toEqual([{ channel: out_channel, messages: 3, more: false }])
  expect(listSent()).toEqual([])
})

test('what somebody else put there stays, and a channel whose folders are gone is left alone', async () => {
  await exchangeMessages(1)
  const { sent: folder, home } = listChannelFolders(world.alpha, 'bravo')
  fs.writeFileSync(join(folder, 'notes.txt'), 'a note')
  world.clock.ms += 31 * day_ms
  fs.renameSync(join(home, 'CHANNEL.json'), join(world.dir, 'CHANNEL.json'))
  expect(await dropOldFiles()).toEqual([])
  fs.renameSync(join(world.dir, 'CHANNEL.json'), join(home, 'CHANNEL.json'))
  await dropOldFiles()
  expect(listSent()).toEqual(['notes.txt'])
})

test('a run that is told to end ends', async () => {
  await exchangeMessages(1)
  world.clock.ms += 31 * day_ms
  expect(await world.alpha.transport.oneWay.dropOld(AbortSignal.abort())).toEqual([])
  expect(listSent()).toHaveLength(2)
})
