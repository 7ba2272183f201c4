// Kills either site with SIGKILL in the middle of a stream, wherever it happens to be: in the end all has happened once.

import * as fs from 'node:fs'
import path from 'node:path'
import { setInterval } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { list as recordOf } from '../../daemon/roles/consensus/contribution/list.ts'
import { contribute } from '../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../daemon/roles/consensus/session/create.ts'
import type { Daemon, PackagedSite } from '../support/packaged-sites.ts'
import { until } from '../support/site-world.ts'
import { carry, folderOf } from './courier.ts'
import { channelOf, delivered, inState, seen, shared, type Two, twoSites } from './question.ts'

const seed = Number(process.env.KILL_SEED ?? 20)
const kills = 8
const questions = 30
const lanes = 3

/** After how many changes on its disk a daemon is killed: in the middle of a write as well as between two. */
const moments = fc.sample(fc.noBias(fc.integer({ min: 1, max: 120 })), { seed, numRuns: kills })

let two: Two
const daemons = new Map<PackagedSite, Daemon>()
const ids: string[] = []
let killed = 0

beforeAll(async () => {
  two = await twoSites()
  for (const site of [two.alpha, two.bravo]) daemons.set(site, await site.start())
  const streams = new AbortController()
  const carrier = carrying(streams.signal)
  const asked = new AbortController()
  const killer = killing(asked.signal)
  try {
    await Promise.all([...Array(lanes).keys()].map(asking))
    asked.abort()
    await killer
    for (const id of ids) await ratifiedAtBoth(id)
  } finally {
    streams.abort()
    await carrier
  }
})
afterAll(() => two?.world.end())

/** Both sites speak in every session; whoever finds nobody at home asks again, in the same words. */
async function asking(lane: number): Promise<void> {
  const { atAlpha, atBravo } = two
  const policy = { m: 2, n: 2 }
  const asked = { lens_id: 'l', lens_version: '1', policy, classification: shared, invite: ['bravo'] }
  const opinion = { accuracy: 0.95, credibility: 0.9, classification: shared }
  for (let each = lane; each < questions; each += lanes) {
    const key = { 'idempotency-key': `question-${each}-of-this-test` }
    const { id } = await stubbornly(() => atAlpha.ok(create, asked, key))
    ids.push(id)
    const alice = { id, contributor_id: 'alice', signer_key_id: 'alice-1', pair_score: 0.94, ...opinion }
    await stubbornly(() => atAlpha.ok(contribute, alice, key))
    await until(() => seen(atBravo, id).catch(() => undefined))
    const bob = { id, contributor_id: 'bob', signer_key_id: 'bob-1', pair_score: 0.92, ...opinion }
    await stubbornly(() => atBravo.ok(contribute, bob, key))
  }
}

function stubbornly<T>(act: () => Promise<T>): Promise<T> {
  return until(() => act().catch(whenNobodyAnswered))
}

/** A refusal is an answer; no connection, or one that broke off, is none. */
function whenNobodyAnswered(error: unknown): undefined {
  if (!(error instanceof TypeError)) throw error
}

/** A courier who makes trips both ways until told to stop. */
async function carrying(signal: AbortSignal): Promise<void> {
  for await (const _ of setInterval(10)) {
    if (signal.aborted) return
    carry(two.there)
    carry(two.back)
  }
}

/** Each site in turn, while questions are asked. */
async function killing(signal: AbortSignal): Promise<void> {
  for (const [at, changes] of moments.entries()) {
    const site = at % 2 === 0 ? two.bravo : two.alpha
    await changesOnDisk(site, changes, signal)
    if (signal.aborted) return
    await daemons.get(site)?.kill()
    killed++
    daemons.set(site, await site.start())
  }
}

/** Resolves after so many changes to the site's databases and drop folders, or when told to look no more. */
async function changesOnDisk(site: PackagedSite, wanted: number, signal: AbortSignal): Promise<void> {
  const peer = site === two.alpha ? two.bravo : two.alpha
  const drops = ['in/new', 'in/work', 'in/done', 'out/tmp', 'out/ready'].map((name) => folderOf(site, peer, name))
  let changes = 0
  let enough: () => void = () => undefined
  const reached = new Promise<void>((resolve) => (enough = resolve))
  signal.addEventListener('abort', enough)
  const watchers = [path.join(site.dir, 'data'), ...drops].map((folder) =>
    fs.watch(folder, () => {
      changes++
      if (changes >= wanted) enough()
    }),
  )
  await reached
  for (const watcher of watchers) watcher.close()
}

function ratifiedAtBoth(id: string): Promise<unknown> {
  return Promise.all([delivered(two.atAlpha, id), inState(two.atBravo, id, 'RATIFIED')])
}

test('the daemons were killed as planned, while every question was asked', () => {
  expect([killed, new Set(ids).size]).toEqual([kills, questions])
})

test('every session has each contribution once, and ends alike at both sites', async () => {
  const { atAlpha, atBravo } = two
  for (const id of ids) {
    const [home, copy] = [await inState(atAlpha, id, 'RATIFIED'), await inState(atBravo, id, 'RATIFIED')]
    expect([home.contributions, copy.contributions, home.undelivered, copy.undelivered]).toEqual([2, 1, 0, 0])
    expect(copy.evidence_block_id).toBe(home.evidence_block_id)
    expect(copy.result).toEqual(home.result)
    const speakers = async (person: typeof atAlpha) =>
      (await person.ok(recordOf, { id })).items.map(({ contributor_id }) => contributor_id)
    expect([await speakers(atAlpha), await speakers(atBravo)]).toEqual([['alice', 'bravo'], ['bravo']])
  }
})

test('each message has one number, and arrived under it once', async () => {
  const { atAlpha, atBravo } = two
  const roads = [
    { sender: atAlpha, receiver: atBravo, from: 'alpha', to: 'bravo', messages: 2 * questions },
    { sender: atBravo, receiver: atAlpha, from: 'bravo', to: 'alpha', messages: questions },
  ]
  for (const { sender, receiver, from, to, messages } of roads) {
    const out = await channelOf(sender, to, 'out')
    expect(out).toMatchObject({ sent: messages, highest_seq: messages, state: 'open' })
    const arrived = await until(async () => {
      const channel = await channelOf(receiver, from, 'in')
      return channel.backlog === 0 && channel
    })
    expect(arrived).toMatchObject({ received: messages, highest_seq: messages, gaps: 0, quarantined: 0, state: 'open' })
  }
})

describe.each(['alpha', 'bravo'] as const)('%s', (name) => {
  test('has a whole record and sound databases', async () => {
    expect(await two[name].answered(['audit', 'verify'])).toMatchObject({ whole: true })
    expect(await two[name].answered(['store', 'check'])).toMatchObject({ sound: true })
  })

  test('has told each thing once', async () => {
    const { stdout } = await two[name].platform(['audit', 'export'])
    const told = new Map<string, string[]>()
    for (const line of stdout.trimEnd().split('\n')) {
      const { action, target } = (JSON.parse(line) as { event: { action: string; target: string } }).event
      told.set(action, [...(told.get(action) ?? []), target])
    }
    const expected = {
      alpha: {
        'consensus.session.create': 1,
        'consensus.session.contribute': 2,
        'consensus.evidence.create': 1,
        'filedrop.message.applied': 1,
      },
      bravo: {
        'consensus.federation.invite': 1,
        'consensus.session.contribute': 1,
        'consensus.federation.result': 1,
        'filedrop.message.applied': 2,
      },
    }[name]
    for (const [action, times] of Object.entries(expected)) {
      const targets = told.get(action) ?? []
      expect({ action, times: targets.length }).toEqual({ action, times: times * questions })
      const each = action.startsWith('consensus.session.contribute') ? times : 1
      expect(new Set(targets).size, action).toBe(targets.length / each)
    }
  })
})
