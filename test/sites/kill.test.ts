// Kills either site with SIGKILL in the middle of a stream, wherever it happens to be: in the end all has happened once.

import { setInterval } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { list as recordOf } from '../../daemon/roles/consensus/contribution/list.ts'
import { carryParcels } from '../support/site/courier.ts'
import { createPackagedPairTest } from '../support/site/packaged-pair-test.ts'
import { findChannel, type PackagedSitePair, waitForState } from '../support/site/packaged-site-pair.ts'
import { runSessionsWhileKilling } from '../support/site/run-sessions-while-killing.ts'
import { waitUntil } from '../support/site/test-site.ts'

const test = createPackagedPairTest()

const seed = Number(process.env.KILL_SEED ?? 20)
const kill_count = 8
const session_count = 30

let ids: string[] = []
let killCount = 0

test.beforeAll(async ({ pair }) => {
  const streams = new AbortController()
  const carrier = carryUntilAborted(pair, streams.signal)
  try {
    const done = await runSessionsWhileKilling({
      pair,
      sessionCount: session_count,
      killCount: kill_count,
      seed,
    })
    ids = done.ids
    killCount = done.killed
  } finally {
    streams.abort()
    await carrier
  }
})

/** A courier who makes trips both ways until the signal. */
async function carryUntilAborted(pair: PackagedSitePair, signal: AbortSignal): Promise<void> {
  for await (const _ of setInterval(10)) {
    if (signal.aborted) return
    carryParcels(pair.toBravo)
    carryParcels(pair.toAlpha)
  }
}

test('the daemons were killed as planned, while every session was opened', () => {
  expect([killCount, new Set(ids).size]).toEqual([kill_count, session_count])
})

test('every session has each contribution once, and ends alike at both sites', async ({ pair }) => {
  const { atAlpha, atBravo } = pair
  for (const id of ids) {
    const [home, copy] = [await waitForState(atAlpha, id, 'RATIFIED'), await waitForState(atBravo, id, 'RATIFIED')]
    expect([home.contributions, copy.contributions, home.undelivered, copy.undelivered]).toEqual([2, 1, 0, 0])
    expect(copy.evidence_block_id).toBe(home.evidence_block_id)
    expect(copy.result).toEqual(home.result)
    const speakers = async (person: typeof atAlpha) =>
      (await person.ok(recordOf, { id })).items.map(({ contributor_id }) => contributor_id)
    expect([await speakers(atAlpha), await speakers(atBravo)]).toEqual([['alice', 'bravo'], ['bravo']])
  }
})

test('each message has one number, and arrived under it once', async ({ pair }) => {
  const { atAlpha, atBravo } = pair
  const roads = [
    { sender: atAlpha, receiver: atBravo, from: 'alpha', to: 'bravo', messages: 2 * session_count },
    { sender: atBravo, receiver: atAlpha, from: 'bravo', to: 'alpha', messages: session_count },
  ]
  for (const { sender, receiver, from, to, messages } of roads) {
    const out = await findChannel(sender, to, 'out')
    expect(out).toMatchObject({ sent: messages, highest_seq: messages, state: 'open' })
    const arrived = await waitUntil(async () => {
      const channel = await findChannel(receiver, from, 'in')
      return channel.backlog === 0 && channel
    })
    expect(arrived).toMatchObject({ received: messages, highest_seq: messages, gaps: 0, quarantined: 0, state: 'open' })
  }
})

describe.each(['alpha', 'bravo'] as const)('%s', (name) => {
  test('has a whole record and sound databases', async ({ pair }) => {
    expect(await pair[name].runJson(['audit', 'verify'])).toMatchObject({ whole: true })
    expect(await pair[name].runJson(['store', 'check'])).toMatchObject({ sound: true })
  })

  test('has sent each statement once', async ({ pair }) => {
    const { stdout } = await pair[name].run(['audit', 'export'])
    const statements = new Map<string, string[]>()
    for (const line of stdout.trimEnd().split('\n')) {
      const { event } = JSON.parse(line) as { event?: { action: string; target: string } }
      if (!event) continue
      const { action, target } = event
      statements.set(action, [...(statements.get(action) ?? []), target])
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
      const targets = statements.get(action) ?? []
      expect({ action, times: targets.length }).toEqual({ action, times: times * session_count })
      const each = action.startsWith('consensus.session.contribute') ? times : 1
      expect(new Set(targets).size, action).toBe(targets.length / each)
    }
  })
})
