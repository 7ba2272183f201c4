// A folder that somebody fills with all that is no message, while a daemon watches it: it stays up, small, and takes what is.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import type { Daemon } from '../support/packaged-sites.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/site-world.ts'
import { bring, folderOf, quarantined } from './courier.ts'
import { channelOf, inState, spoken, type Two, twoSites } from './question.ts'

/** Files that may become a message yet, and are looked at by every scan. */
const incomplete = 100_000
/** Pairs of the largest files that are read. */
const large = 30
const max_mb = 300

let two: Two
let daemon: Daemon
beforeAll(async () => {
  two = await twoSites()
  daemon = await two.alpha.start()
  await two.bravo.start()
})
afterAll(() => two?.world.end())

const stemOf = (seq: number) => `00000001-${String(seq).padStart(16, '0')}`
const fresh = (...names: string[]) => path.join(folderOf(two.alpha, two.bravo, 'in', 'new'), ...names)

/** The most that it ever had in memory, as the kernel counts it. */
function peak_mb(): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(fs.readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))?.[1]) / 1_024
}

/** Files of one message whose number nobody has reached; the envelope is put there last, and whole. */
function pair(seq: number, env: string | Buffer, body: string | Buffer = '{}'): void {
  bring(two.back, [{ stem: stemOf(seq), env: Buffer.from(env), body: Buffer.from(body) }])
}

requires('mkfifo')('it ends each as it should, goes on taking messages, and stays below 300 MB', async () => {
  const { atAlpha, back } = two
  const first = await spoken(two)
  for (let at = 0; at < incomplete; at += 4) {
    fs.writeFileSync(fresh(`${stemOf(100_000 + at)}.body.json`), '{}')
    fs.writeFileSync(fresh(`.part-${at}`), '')
    fs.writeFileSync(fresh(`${stemOf(100_002 + at)}.body.json`), '{}')
    fs.writeFileSync(fresh(`${stemOf(100_002 + at)}.env.json`), '{"payload":"')
  }
  for (let at = 0; at < large; at++) pair(1_000 + at, 'x'.repeat(65_536), Buffer.alloc(4_194_304, 'x'))
  pair(2_000, '['.repeat(65_000))
  pair(2_001, `${'['.repeat(30_000)}${']'.repeat(30_000)}`)
  pair(2_002, '{"payload":"a","payload":"b","signatures":[]}')
  pair(2_003, first.parcel.env, first.parcel.body)
  fs.truncateSync(fresh(`${stemOf(100_000)}.body.json`), 5_000_000_000)
  fs.writeFileSync(fresh(`${stemOf(2_004)}.body.json`), '')
  fs.truncateSync(fresh(`${stemOf(2_004)}.body.json`), 5_000_000_000)
  fs.writeFileSync(fresh(`${stemOf(2_004)}.env.json`), first.parcel.env)
  execFileSync('mkfifo', [fresh(`${stemOf(2_005)}.env.json`)])
  fs.symlinkSync('/dev/zero', fresh(`${stemOf(2_006)}.env.json`))
  fs.linkSync(path.join(two.alpha.dir, 'profile.yaml'), fresh(`${stemOf(2_007)}.env.json`))
  fs.writeFileSync(Buffer.concat([Buffer.from(`${fresh()}/`), Buffer.from([0xff, 0xfe])]), '')
  fs.writeFileSync(fresh('%2e%2e%2fescape'), '')

  bring(back, [first.parcel])
  await inState(atAlpha, first.id, 'RATIFIED')
  const expected = [
    ...Array.from({ length: large + 2 }, () => 'BAD_JSON'),
    ...['DUP_KEY', 'HARDLINK', 'NAME', 'NAME', 'NAME', 'NOT_REGULAR', 'NOT_REGULAR', 'TOO_LARGE'],
  ]
  const reasons = () => quarantined(back).map(({ reason }) => reason)
  // What it never came to is told by what it did come to.
  await until(() => reasons().length >= expected.length).catch(() => undefined)
  expect(reasons().toSorted()).toEqual(expected.toSorted())

  const second = await spoken(two)
  bring(back, [second.parcel])
  await inState(atAlpha, second.id, 'RATIFIED')
  const channel = await channelOf(atAlpha, 'bravo', 'in')
  expect(channel).toMatchObject({ state: 'open', received: 2, gaps: 0 })
  expect(channel.backlog).toBeGreaterThanOrEqual(incomplete / 2)
  expect(daemon.isGone()).toBe(false)
  expect(peak_mb()).toBeLessThan(max_mb)
  expect(await two.alpha.answered(['audit', 'verify'])).toMatchObject({ whole: true })
})
