// A folder that somebody fills with all that is no message, while a daemon watches it: it stays up, small, and takes what is.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { requires } from '../support/runner/requires.ts'
import type { RunningDaemon } from '../support/site/packaged-federation.ts'
import { waitUntil } from '../support/site/test-site.ts'
import { deliverParcels, formatChannelFolder, listQuarantined } from './courier.ts'
import {
  answerInvitation,
  createPackagedSitePair,
  findChannel,
  type PackagedSitePair,
  waitForState,
} from './packaged-site-pair.ts'

/** Files that may become a message yet, and are looked at by every scan. */
const incomplete_count = 100_000
/** Pairs of the largest files that are read. */
const large_count = 30
const max_mb = 300

let two: PackagedSitePair
let daemon: RunningDaemon
beforeAll(async () => {
  two = await createPackagedSitePair()
  daemon = await two.alpha.start()
  await two.bravo.start()
})
afterAll(() => two?.world.end())

const formatStem = (seq: number) => `00000001-${String(seq).padStart(16, '0')}`
const formatFreshPath = (...names: string[]) =>
  path.join(formatChannelFolder(two.alpha, two.bravo, 'in', 'new'), ...names)

/** The most that it ever had in memory, as the kernel counts it. */
function readPeak_mb(): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(fs.readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))?.[1]) / 1_024
}

/** Files of one message whose number nobody has reached; the envelope is put there last, and whole. */
function writePair(seq: number, env: string | Buffer, body: string | Buffer = '{}'): void {
  deliverParcels(two.toAlpha, [{ stem: formatStem(seq), env: Buffer.from(env), body: Buffer.from(body) }])
}

requires('mkfifo')('it ends each as it should, goes on taking messages, and stays below 300 MB', async () => {
  const { atAlpha, toAlpha } = two
  const first = await answerInvitation(two)
  for (let at = 0; at < incomplete_count; at += 4) {
    fs.writeFileSync(formatFreshPath(`${formatStem(100_000 + at)}.body.json`), '{}')
    fs.writeFileSync(formatFreshPath(`.part-${at}`), '')
    fs.writeFileSync(formatFreshPath(`${formatStem(100_002 + at)}.body.json`), '{}')
    fs.writeFileSync(formatFreshPath(`${formatStem(100_002 + at)}.env.json`), '{"payload":"')
  }
  for (let at = 0; at < large_count; at++) writePair(1_000 + at, 'x'.repeat(65_536), Buffer.alloc(4_194_304, 'x'))
  writePair(2_000, '['.repeat(65_000))
  writePair(2_001, `${'['.repeat(30_000)}${']'.repeat(30_000)}`)
  writePair(2_002, '{"payload":"a","payload":"b","signatures":[]}')
  writePair(2_003, first.parcel.env, first.parcel.body)
  fs.truncateSync(formatFreshPath(`${formatStem(100_000)}.body.json`), 5_000_000_000)
  fs.writeFileSync(formatFreshPath(`${formatStem(2_004)}.body.json`), '')
  fs.truncateSync(formatFreshPath(`${formatStem(2_004)}.body.json`), 5_000_000_000)
  fs.writeFileSync(formatFreshPath(`${formatStem(2_004)}.env.json`), first.parcel.env)
  execFileSync('mkfifo', [formatFreshPath(`${formatStem(2_005)}.env.json`)])
  fs.symlinkSync('/dev/zero', formatFreshPath(`${formatStem(2_006)}.env.json`))
  fs.linkSync(path.join(two.alpha.dir, 'profile.yaml'), formatFreshPath(`${formatStem(2_007)}.env.json`))
  fs.writeFileSync(Buffer.concat([Buffer.from(`${formatFreshPath()}/`), Buffer.from([0xff, 0xfe])]), '')
  fs.writeFileSync(formatFreshPath('%2e%2e%2fescape'), '')

  deliverParcels(toAlpha, [first.parcel])
  await waitForState(atAlpha, first.id, 'RATIFIED')
  const expected = [
    ...Array.from({ length: large_count + 2 }, () => 'BAD_JSON'),
    ...['DUP_KEY', 'HARDLINK', 'NAME', 'NAME', 'NAME', 'NOT_REGULAR', 'NOT_REGULAR', 'TOO_LARGE'],
  ]
  const reasons = () => listQuarantined(toAlpha).map(({ reason }) => reason)
  // What it never came to is told by what it did come to.
  await waitUntil(() => reasons().length >= expected.length).catch(() => undefined)
  expect(reasons().toSorted()).toEqual(expected.toSorted())

  const second = await answerInvitation(two)
  deliverParcels(toAlpha, [second.parcel])
  await waitForState(atAlpha, second.id, 'RATIFIED')
  const channel = await findChannel(atAlpha, 'bravo', 'in')
  expect(channel).toMatchObject({ state: 'open', received: 2, gaps: 0 })
  expect(channel.backlog).toBeGreaterThanOrEqual(incomplete_count / 2)
  expect(daemon.hasEnded()).toBe(false)
  expect(readPeak_mb()).toBeLessThan(max_mb)
  expect(await two.alpha.runJson(['audit', 'verify'])).toMatchObject({ whole: true })
})
