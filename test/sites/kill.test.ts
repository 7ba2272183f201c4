// Kills either site with SIGKILL in the middle of a stream, wherever it happens to be: in the end all has happened once.

import { setInterval } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { list as recordOf } from '../../daemon/roles/consensus/contribution/list.ts'
import type { Daemon, PackagedSite } from '../support/packaged-sites.ts'
import { until } from '../support/site-world.ts'
import { carry } from './courier.ts'
import { askedWhileKilled } from './killing.ts'
import { channelOf, inState, type Two, twoSites } from './question.ts'

const seed = Number(process.env.KILL_SEED ?? 20)
const kills = 8
const questions = 30

let two: Two
let ids: string[] = []
let killed = 0

beforeAll(async () => {
  two = await twoSites()
  const daemons = new Map<PackagedSite, Daemon>()
  for (const site of [two.alpha, two.bravo]) daemons.set(site, await site.start())
  const streams = new AbortController()
  const carrier = carrying(streams.signal)
  try {
    const done = await askedWhileKilled({ two, daemons, questions, kills, seed })
    ids = done.ids
    killed = done.killed
  } finally {
    streams.abort()
    await carrier
  }
})
afterAll(() => two?.world.end())

/** A courier who makes trips both ways until told to stop. */
async function carrying(signal: AbortSignal): Promise<void> {
  for await (const _ of setInterval(10)) {
    if (signal.aborted) return
    carry(two.there)
    carry(two.back)
  }
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
