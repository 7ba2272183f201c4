// A folder that somebody fills with invalid files, while a daemon watches it: it stays up, small, and takes the messages.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { findTools, whenPresent } from '../support/runner/requires.ts'
import { deliverParcels, formatChannelFolder, listQuarantined } from '../support/site/courier.ts'
import { createPackagedPairTest, findDaemon } from '../support/site/packaged-pair-test.ts'
import {
  answerInvitation,
  findChannel,
  type PackagedSitePair,
  waitForState,
} from '../support/site/packaged-site-pair.ts'
import { waitUntil } from '../support/site/test-site.ts'

/** Files that may become a message yet, and are looked at by every scan. */
const incomplete_count = 100_000
/** Pairs of the largest files that are read. */
const large_count = 30
const max_mb = 300

const formatStem = (seq: number) => `00000001-${String(seq).padStart(16, '0')}`
const formatFreshPath = (pair: PackagedSitePair, ...names: string[]) =>
  path.join(formatChannelFolder(pair.alpha, pair.bravo, 'in', 'new'), ...names)

/** The most that it ever had in memory, as the kernel counts it. */
function readPeak_mb(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
}

/** Files of one message whose number nobody has reached; the envelope is put there last, and whole. */
function writePair(pair: PackagedSitePair, seq: number, env: string | Buffer, body: string | Buffer = '{}'): void {
  deliverParcels(pair.toAlpha, [{ stem: formatStem(seq), env: Buffer.from(env), body: Buffer.from(body) }])
}

const test = whenPresent(findTools('mkfifo'), createPackagedPairTest())

test('it ends each as it should, goes on taking messages, and stays below 300 MB', async ({ pair }) => {
  const { atAlpha, toAlpha } = pair
  const first = await answerInvitation(pair)
  for (let at = 0; at < incomplete_count; at += 4) {
    fs.writeFileSync(formatFreshPath(pair, `${formatStem(100_000 + at)}.body.json`), '{}')
    fs.writeFileSync(formatFreshPath(pair, `.part-${at}`), '')
    fs.writeFileSync(formatFreshPath(pair, `${formatStem(100_002 + at)}.body.json`), '{}')
    fs.writeFileSync(formatFreshPath(pair, `${formatStem(100_002 + at)}.env.json`), '{"payload":"')
  }
  for (let at = 0; at < large_count; at++) writePair(pair, 1_000 + at, 'x'.repeat(65_536), Buffer.alloc(4_194_304, 'x'))
  writePair(pair, 2_000, '['.repeat(65_000))
  writePair(pair, 2_001, `${'['.repeat(30_000)}${']'.repeat(30_000)}`)
  writePair(pair, 2_002, '{"payload":"a","payload":"b","signatures":[]}')
  writePair(pair, 2_003, first.parcel.env, first.parcel.body)
  fs.truncateSync(formatFreshPath(pair, `${formatStem(100_000)}.body.json`), 5_000_000_000)
  fs.writeFileSync(formatFreshPath(pair, `${formatStem(2_004)}.body.json`), '')
  fs.truncateSync(formatFreshPath(pair, `${formatStem(2_004)}.body.json`), 5_000_000_000)
  fs.writeFileSync(formatFreshPath(pair, `${formatStem(2_004)}.env.json`), first.parcel.env)
  execFileSync('mkfifo', [formatFreshPath(pair, `${formatStem(2_005)}.env.json`)])
  fs.symlinkSync('/dev/zero', formatFreshPath(pair, `${formatStem(2_006)}.env.json`))
  fs.linkSync(path.join(pair.alpha.dir, 'profile.yaml'), formatFreshPath(pair, `${formatStem(2_007)}.env.json`))
  fs.writeFileSync(Buffer.concat([Buffer.from(`${formatFreshPath(pair)}/`), Buffer.from([0xff, 0xfe])]), '')
  fs.writeFileSync(formatFreshPath(pair, '%2e%2e%2fescape'), '')

  deliverParcels(toAlpha, [first.parcel])
  await waitForState(atAlpha, first.id, 'RATIFIED')
  const expected = [
    ...Array.from({ length: large_count + 2 }, () => 'BAD_JSON'),
    ...['DUP_KEY', 'HARDLINK', 'NAME', 'NAME', 'NAME', 'NOT_REGULAR', 'NOT_REGULAR', 'TOO_LARGE'],
  ]
  const reasons = () => listQuarantined(toAlpha).map(({ reason }) => reason)
  // The reasons so far show the files that it never reached.
  await waitUntil(() => reasons().length >= expected.length).catch(() => undefined)
  expect(reasons().toSorted()).toEqual(expected.toSorted())

  const second = await answerInvitation(pair)
  deliverParcels(toAlpha, [second.parcel])
  await waitForState(atAlpha, second.id, 'RATIFIED')
  const channel = await findChannel(atAlpha, 'bravo', 'in')
  expect(channel).toMatchObject({ state: 'open', received: 2, gaps: 0 })
  expect(channel.backlog).toBeGreaterThanOrEqual(incomplete_count / 2)
  const daemon = findDaemon(pair, pair.alpha)
  expect(daemon.hasEnded()).toBe(false)
  expect(readPeak_mb(daemon.pid)).toBeLessThan(max_mb)
  expect(await pair.alpha.runJson(['audit', 'verify'])).toMatchObject({ whole: true })
})
