// Two daemons and a folder that is carried one way at a time: a site knows what was carried to it, and nothing else.
import * as fs from 'node:fs'
import path from 'node:path'
import { describe, expect } from 'vitest'
import { bySession } from '../../daemon/roles/consensus/dissent/by-session.ts'
import { get as getEvidence } from '../../daemon/roles/consensus/evidence/get.ts'
import { attest } from '../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../daemon/roles/consensus/session/cancel.ts'
import { runExecutable } from '../support/command/run-executable.ts'
import type { CheckedClient } from '../support/http/checked-client.ts'
import { carryParcels, formatChannelFolder } from '../support/site/courier.ts'
import { createPackagedPairTest } from '../support/site/packaged-pair-test.ts'
import {
  carryUntil,
  contributeOpinion,
  findChannel,
  findSession,
  openInvitedSession,
  type PackagedSitePair,
  waitForState,
  waitUntilDelivered,
} from '../support/site/packaged-site-pair.ts'
import { waitUntil } from '../support/site/test-site.ts'

const test = createPackagedPairTest()

/** Alice and bob have contributed, and bob's opinion has reached alpha; nothing has gone back yet. */
async function answerBothWays(pair: PackagedSitePair, alice: number, bob: number): Promise<string> {
  const { atAlpha, atBravo, toBravo, toAlpha } = pair
  const id = await openInvitedSession(atAlpha, alice)
  await carryUntil(toBravo, () => findSession(atBravo, id))
  await contributeOpinion(atBravo, id, 'bob', bob)
  await carryUntil(toAlpha, async () => (await findSession(atAlpha, id))?.contributions === 2)
  return id
}

describe('contributed on bravo, ratified on alpha', () => {
  let id: string
  let block_id: string
  test.beforeAll(async ({ pair }) => {
    id = await answerBothWays(pair, 0.94, 0.92)
  })

  test('bravo knows nothing of it before something is carried back', async ({ pair }) => {
    const { atAlpha, atBravo, toBravo } = pair
    const ratified = await waitUntilDelivered(atAlpha, id)
    expect(ratified).toMatchObject({ state: 'RATIFIED', decision: 'match', contributors: 2 })
    block_id = ratified.evidence_block_id ?? ''
    await waitUntil(() => fs.readdirSync(formatChannelFolder(toBravo.from, toBravo.to, 'out', 'ready')).length === 2)
    expect(await waitUntilDelivered(atBravo, id)).toMatchObject({ state: 'PENDING_QUORUM' })
    expect(await atBravo.refusal(getEvidence, { block_id })).toBe('not_found')
  })

  test('the result carried back makes it ratified there, with the same evidence', async ({ pair }) => {
    const { atAlpha, atBravo, toBravo } = pair
    const copy = await carryUntil(toBravo, async () => {
      const session = await findSession(atBravo, id)
      return session?.state === 'RATIFIED' && session
    })
    const home = await waitForState(atAlpha, id, 'RATIFIED')
    expect(copy).toMatchObject({ decision: 'match', evidence_block_id: block_id, result: home.result })
    expect(await atBravo.ok(getEvidence, { block_id })).toEqual(await atAlpha.ok(getEvidence, { block_id }))
  })

  test('nothing has moved by itself, and nothing is left to carry', async ({ pair }) => {
    const { atAlpha, atBravo, toBravo, toAlpha } = pair
    expect([carryParcels(toBravo), carryParcels(toAlpha)]).toEqual([[], []])
    const { sent } = await findChannel(atAlpha, 'bravo', 'out')
    // The session changes first, then the ledger says so.
    const arrived = await waitUntil(async () => {
      const channel = await findChannel(atBravo, 'alpha', 'in')
      return channel.received === sent && channel
    })
    expect(arrived).toMatchObject({ gaps: 0, duplicates: 0, quarantined: 0, backlog: 0, state: 'open' })
  })

  describe('on a third machine, which has the evidence and public keys and nothing else', () => {
    let third: string
    test.beforeAll(async ({ pair }) => {
      third = path.join(pair.world.dir, 'third')
      fs.mkdirSync(third)
      const out = path.join(third, 'evidence.json')
      expect(await pair.bravo.run(['evidence', 'show', id, '--out', out])).toMatchObject({ exit: 0 })
      fs.copyFileSync(pair.alpha.keys, path.join(third, 'alpha.json'))
      fs.copyFileSync(pair.bravo.keys, path.join(third, 'bravo.json'))
    })
    const verify = (file: string, keys: string) =>
      runExecutable(['evidence', 'verify', file, '--keys', keys, '--json'], { cwd: third })

    test('it verifies', async () => {
      const { exit, stdout } = await verify('evidence.json', 'alpha.json')
      expect({ exit, ...JSON.parse(stdout) }).toMatchObject({ exit: 0, valid: true, block_id, session_id: id })
    })

    test('it does not with the keys of another site', async () => {
      const { exit, stdout } = await verify('evidence.json', 'bravo.json')
      expect({ exit, ...JSON.parse(stdout) }).toMatchObject({ exit: 5, valid: false })
    })

    // Inside the strings and numbers of the file, so that each stays JSON.
    test.each(['"decided_at":"2', '"pair_score":0.', '"signature":"', '"session_id":"ses_'])(
      'it does not with one byte flipped after %s',
      async (before) => {
        const bytes = fs.readFileSync(path.join(third, 'evidence.json'))
        const at = bytes.indexOf(before) + before.length
        expect(at).toBeGreaterThan(before.length)
        bytes[at] = (bytes[at] ?? 0) ^ 1
        fs.writeFileSync(path.join(third, 'flipped.json'), bytes)
        expect((await verify('flipped.json', 'alpha.json')).exit).toBe(5)
      },
    )
  })
})

const listDissents = async (person: CheckedClient, session_id: string) =>
  (await person.ok(bySession, { session_id })).items

test('both sides report a clash with one and the same dissent', async ({ pair }) => {
  const { atAlpha, atBravo, toBravo } = pair
  const id = await answerBothWays(pair, 0.95, 0.05)
  expect(await waitUntilDelivered(atAlpha, id)).toMatchObject({ state: 'IN_CONFLICT', reason: expect.any(String) })
  const home = await listDissents(atAlpha, id)
  await carryUntil(toBravo, async () => (await findSession(atBravo, id))?.state === 'IN_CONFLICT')
  const copy = await listDissents(atBravo, id)
  expect(copy.map(({ status }) => status)).toEqual(['open'])
  const body = ({ id, reason, score, conflict, status }: (typeof home)[number]) => ({
    id,
    reason,
    score,
    conflict,
    status,
  })
  // Each site keeps what a peer tells under that peer's name.
  expect(copy.map(body)).toEqual(home.map(body).map((dissent) => ({ ...dissent, id: `${dissent.id}@alpha` })))
})

test('a person’s attestation ends the clash, and the evidence that says so reaches the other side', async ({
  pair,
}) => {
  const { atAlpha, atBravo, toBravo } = pair
  const id = await answerBothWays(pair, 0.95, 0.05)
  await waitForState(atAlpha, id, 'IN_CONFLICT')
  const rationale = 'seen alongside in harbour'
  await atAlpha.ok(attest, { id, decision: 'non_match', rationale })
  await carryUntil(toBravo, async () => (await findSession(atBravo, id))?.state === 'RATIFIED')
  const copy = await waitForState(atBravo, id, 'RATIFIED')
  expect(copy).toMatchObject({ decision: 'non_match', evidence_block_id: expect.any(String) })
  const { content } = await atBravo.ok(getEvidence, { block_id: copy.evidence_block_id ?? '' })
  expect(content.attestation).toMatchObject({ by: 'demo', decision: 'non_match', rationale })
  await waitUntilDelivered(atBravo, id)
  expect((await listDissents(atBravo, id)).map(({ status }) => status)).toEqual(['resolved'])
})

test.for([
  ['ratified', 0.94, 0.92],
  ['in conflict', 0.95, 0.05],
] as const)('a session %s that its home withdraws is withdrawn at the other side', async ([, alice, bob], { pair }) => {
  const { atAlpha, atBravo, toBravo } = pair
  const id = await answerBothWays(pair, alice, bob)
  await atAlpha.ok(cancel, { id })
  await waitUntilDelivered(atAlpha, id)
  expect((await findSession(atBravo, id))?.state).toBe('PENDING_QUORUM')
  await carryUntil(toBravo, async () => (await findSession(atBravo, id))?.state === 'WITHDRAWN')
  expect((await waitForState(atBravo, id, 'WITHDRAWN')).history.at(-1)).toMatchObject({
    trigger: 'result',
    by: 'peer:alpha',
  })
})
