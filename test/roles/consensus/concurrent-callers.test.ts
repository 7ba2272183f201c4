// Many concurrent callers: for any interleaving, the session equals the result of one sequential order.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import type { QuorumPolicy } from '../../../daemon/shared/quorum-policy/quorum-policy.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import {
  buildOpinionInput,
  buildSessionInput,
  createOperator,
  openSession,
  setUpConsensusSite,
  waitUntilDelivered,
} from './consensus-site.ts'
import { everybody, expectSessionAgrees, policies } from './session-commands.ts'
import { type ModelOpinion, SessionModel } from './session-model.ts'

const numRuns = Number(process.env.FAST_CHECK_RUNS ?? 25)
const world = setUpConsensusSite(() => ({ contributors: everybody }))

/** Credibilities differ, so that none is a repeat and every acknowledged one must be in the record. */
const crowds: fc.Arbitrary<ModelOpinion[]> = fc
  .array(fc.record({ who: fc.constantFrom(...everybody), score: fc.constantFrom(0, 0.2, 0.9, 1) }), {
    minLength: 2,
    maxLength: 14,
  })
  .map((list) => list.map((opinion, at) => ({ ...opinion, accuracy: 1, credibility: 1 - at / 100 })))

test('parallel contributions and a cancel lead to the state that the record, replayed in order, leads to', async () => {
  await fc.assert(
    fc.asyncProperty(policies, crowds, fc.nat(20), async ({ hasDeadline: _none, ...policy }, crowd, place) => {
      const person = await createOperator(world())
      const { id } = await openSession(person, policy)
      const outcomes = new Map<string | number, number>()
      const calls = crowd.map(({ who, score, accuracy, credibility }) => async () => {
        const code = await person.refusal(contribute, { id, ...buildOpinionInput(who, score, [accuracy, credibility]) })
        outcomes.set(code, (outcomes.get(code) ?? 0) + 1)
      })
      const cancelled = place < crowd.length
      if (cancelled) calls.splice(place, 0, async () => expect(await person.refusal(cancel, { id })).toBe(200))
      await Promise.all(calls.map((call) => call()))
      const model = await replayRecord(person, id, policy, cancelled)
      expectSessionAgrees(await waitUntilDelivered(person, id), model)
      expect(outcomes.get(200) ?? 0).toBe(model.contributions)
      if (outcomes.has('quorum_full')) expect(model.standing.size).toBe(policy.n)
      if (outcomes.has('session_closed')) expect(model.isClosed).toBe(true)
      for (const code of outcomes.keys()) {
        expect([200, 'quorum_full', 'session_closed', 'not_contributor']).toContain(code)
      }
    }),
    { numRuns, seed: 7, endOnFailure: true },
  )
})

/** The model after the record of the real session, in its order: a later refusal would break the agreement. */
async function replayRecord(
  person: CheckedClient,
  id: string,
  policy: QuorumPolicy,
  cancelled: boolean,
): Promise<SessionModel> {
  const model = new SessionModel(policy)
  const { items } = await person.ok(recordOf, { id, limit: 500 })
  expect(items.map(({ ordinal }) => ordinal)).toEqual(items.map((_, at) => at + 1))
  for (const { contributor_id: who, pair_score: score, accuracy, credibility } of items) {
    expect(model.contribute({ who, score, accuracy, credibility })).toBeUndefined()
  }
  if (cancelled) expect(model.cancel()).toBeUndefined()
  const standing = items.filter((item) => item.standing).map((item) => item.contributor_id)
  expect(standing.toSorted()).toEqual([...model.standing.keys()].sort())
  return model
}

test('one contribution sent twenty times at once under one key is one contribution', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 3, n: 4 })
  const body = { id, ...buildOpinionInput('c1', 0.9) }
  const codes = await Promise.all(
    Array.from({ length: 20 }, () => person.refusal(contribute, body, { 'idempotency-key': 'k' })),
  )
  expect(new Set(codes)).toEqual(new Set([200]))
  expect(await person.ok(get, { id })).toMatchObject({ contributions: 1, contributors: 1, version: 2 })
})

test('of different contributions sent at once under one key, one alone is acknowledged', async () => {
  const person = await createOperator(world())
  for (const turn of [1, 2, 3, 4, 5]) {
    const { id } = await openSession(person, { m: 3, n: 4 })
    await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9) })
    // Some repeat the standing contribution, which enters no record.
    const scores = Array.from({ length: 20 }, (_, at) => (at % 2 === turn % 2 ? 0.9 : at / 100))
    const codes = await Promise.all(
      scores.map((score) =>
        person.refusal(contribute, { id, ...buildOpinionInput('c1', score) }, { 'idempotency-key': `many-${turn}` }),
      ),
    )
    const taken = new Set(scores.filter((_, at) => codes[at] === 200))
    expect(taken.size).toBe(1)
    expect(new Set(codes)).toEqual(new Set([200, 'idempotency_mismatch']))
  }
})

test('one create sent twenty times at once under one key makes one session', async () => {
  const person = await createOperator(world())
  const made = await Promise.all(
    Array.from({ length: 20 }, () =>
      person.ok(create, buildSessionInput({ m: 1, n: 2 }), { 'idempotency-key': 'one' }),
    ),
  )
  expect(new Set(made.map(({ id }) => id)).size).toBe(1)
})

test('of ten callers who hold the same ETag one changes the session, the others get 412', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 6, n: 6 })
  const codes = await Promise.all(
    Array.from({ length: 10 }, (_, at) =>
      person.refusal(contribute, { id, ...buildOpinionInput('c1', at / 10) }, { 'if-match': '"1"' }),
    ),
  )
  expect(codes.toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 'precondition_failed')])
})

test('of two people who attest the opposite at once, one decides', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 2, n: 2 })
  for (const [who, score] of [
    ['c1', 0],
    ['c2', 1],
  ] as const)
    await person.ok(contribute, { id, ...buildOpinionInput(who, score) })
  const decisions = ['match', 'non_match'] as const
  const codes = await Promise.all(
    decisions.map((decision) => person.refusal(attest, { id, decision, rationale: 'looked at both' })),
  )
  expect(codes.toSorted()).toEqual([200, 'session_closed'])
  const session = await waitUntilDelivered(person, id)
  expect(session.decision).toBe(decisions[codes.indexOf(200)])
  expect(session.attestation?.decision).toBe(session.decision)
})
