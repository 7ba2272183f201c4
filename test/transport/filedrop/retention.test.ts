// Files of sent and applied messages stay as long as the channel's record allows, by the journal's times; digests for ever.
import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Journal } from '../../../daemon/kernel/messaging/journal.ts'
import {
  carryFiles,
  type FiledropSites,
  listChannelFolders,
  restartSite,
  sendFromAlpha,
} from '../../support/filedrop/filedrop-sites.ts'
import { filedropTest } from '../../support/filedrop/filedrop-test.ts'

const day_ms = 86_400_000
const out_channel = 'filedrop/alpha/bravo'
const neverAborted = new AbortController().signal

const test = filedropTest.extend({
  options: { receiving: ['alpha', 'bravo'], peer: { keep_days: 30, inventory_interval_s: 400 * 86_400 } },
})

const listSent = (sites: FiledropSites) => fs.readdirSync(listChannelFolders(sites.alpha, 'bravo').sent)
const listDone = (sites: FiledropSites) => fs.readdirSync(listChannelFolders(sites.bravo, 'alpha').done)
const dropOldFiles = (sites: FiledropSites, site = sites.alpha) => site.transport.oneWay.dropOld(neverAborted)

async function exchangeMessages(sites: FiledropSites, count: number): Promise<void> {
  await sendFromAlpha(sites, count)
  carryFiles(sites.alpha, sites.bravo, { keep: true })
  await sites.bravo.transport.rescan()
  carryFiles(sites.alpha, sites.bravo)
  await sites.alpha.transport.rescan()
}

test('after thirty days both ends drop the files, and still know every number and digest', async ({ sites }) => {
  await exchangeMessages(sites, 3)
  sites.clock.ms += 30 * day_ms
  expect([await dropOldFiles(sites), await dropOldFiles(sites, sites.bravo)]).toEqual([[], []])
  sites.clock.ms += 1
  expect(await dropOldFiles(sites)).toEqual([{ channel: out_channel, messages: 3, more: false }])
  expect(await dropOldFiles(sites, sites.bravo)).toEqual([{ channel: out_channel, messages: 3, more: false }])
  expect([listSent(sites), listDone(sites)]).toEqual([[], []])
  expect(await dropOldFiles(sites)).toEqual([])
  const known = await sites.alpha.journal.sentRun(out_channel, 1, 1, 9, 9)
  expect(known).toHaveLength(3)
  for (const { seq, digest } of known) {
    expect(await sites.bravo.journal.entry(out_channel, 1, seq)).toMatchObject({ state: 'applied', digest })
  }
  expect(await sites.alpha.transport.oneWay.resend({ peer: 'bravo', first: 1, last: 3 })).toMatchObject({
    ...{ resent: 0, not_resent: [{ first: 1, last: 3, why: 'not_kept' }] },
  })
})

test('drops a later duplicate, and does not store it anew', async ({ sites }) => {
  await sendFromAlpha(sites, 1)
  carryFiles(sites.alpha, sites.bravo, { keep: true })
  await sites.bravo.transport.rescan()
  sites.clock.ms += 31 * day_ms
  await dropOldFiles(sites, sites.bravo)
  carryFiles(sites.alpha, sites.bravo)
  await sites.bravo.transport.rescan()
  expect([listDone(sites), fs.readdirSync(listChannelFolders(sites.bravo, 'alpha').work)]).toEqual([[], []])
  expect((await sites.bravo.transport.status())[1]).toMatchObject({ received: 1, duplicates: 1 })
})

test('time counts from when the carrier took the message, and what it has not taken stays', async ({ sites }) => {
  await sendFromAlpha(sites, 2)
  sites.clock.ms += 40 * day_ms
  carryFiles(sites.alpha, sites.bravo, { only: (name) => name.includes('1.') })
  await sites.alpha.transport.rescan()
  await dropOldFiles(sites)
  expect(listSent(sites)).toHaveLength(2)
  sites.clock.ms += 31 * day_ms
  expect(await dropOldFiles(sites)).toMatchObject([{ messages: 1 }])
  expect(fs.readdirSync(listChannelFolders(sites.alpha, 'bravo').ready)).toHaveLength(2)
})

test('times of files say nothing, in either direction', async ({ sites }) => {
  await exchangeMessages(sites, 2)
  const old = new Date('1999-01-01T00:00:00Z')
  for (const name of listSent(sites)) fs.utimesSync(join(listChannelFolders(sites.alpha, 'bravo').sent, name), old, old)
  expect(await dropOldFiles(sites)).toEqual([])
  sites.clock.ms += 31 * day_ms
  const late = new Date('2199-01-01T00:00:00Z')
  for (const name of listSent(sites))
    fs.utimesSync(join(listChannelFolders(sites.alpha, 'bravo').sent, name), late, late)
  expect(await dropOldFiles(sites)).toMatchObject([{ messages: 2 }])
})

test('each channel by its own record', async ({ sites }) => {
  await exchangeMessages(sites, 1)
  const bravo = sites.alpha.pinned.get('bravo')
  if (bravo) sites.alpha.pinned.set('bravo', { ...bravo, keep_days: 90 })
  sites.clock.ms += 31 * day_ms
  expect(await dropOldFiles(sites)).toEqual([])
  sites.clock.ms += 60 * day_ms
  expect(await dropOldFiles(sites)).toMatchObject([{ messages: 1 }])
})

test('makes up for a death between files and journal, and a file that is gone already is not a failure', async ({
  sites,
}) => {
  await exchangeMessages(sites, 3)
  sites.clock.ms += 31 * day_ms
  let dies = true
  const journal = new Proxy(sites.alpha.journal, {
    get(target, name, self) {
      if (name === 'dropRetained' && dies) return () => Promise.reject(new Error('the process died here'))
      return Reflect.get(target, name, self)
    },
  }) as Journal
  await restartSite(sites.alpha, undefined, {}, { journal })
  await expect(dropOldFiles(sites)).rejects.toThrow('died')
  dies = false
  expect(await dropOldFiles(sites)).toEqual([{ channel: out_channel, messages: 3, more: false }])
  expect(listSent(sites)).toEqual([])
})

test('foreign files stay, and a channel whose folders are gone is left alone', async ({ sites }) => {
  await exchangeMessages(sites, 1)
  const { sent: folder, home } = listChannelFolders(sites.alpha, 'bravo')
  fs.writeFileSync(join(folder, 'notes.txt'), 'a note')
  sites.clock.ms += 31 * day_ms
  fs.renameSync(join(home, 'CHANNEL.json'), join(sites.dir, 'CHANNEL.json'))
  expect(await dropOldFiles(sites)).toEqual([])
  fs.renameSync(join(sites.dir, 'CHANNEL.json'), join(home, 'CHANNEL.json'))
  await dropOldFiles(sites)
  expect(listSent(sites)).toEqual(['notes.txt'])
})

test('a cancelled run ends', async ({ sites }) => {
  await exchangeMessages(sites, 1)
  sites.clock.ms += 31 * day_ms
  expect(await sites.alpha.transport.oneWay.dropOld(AbortSignal.abort())).toEqual([])
  expect(listSent(sites)).toHaveLength(2)
})
