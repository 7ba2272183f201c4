// A peer that hosts a session lies in its dissent: the copy does not follow, and follows the true one.
import { expect, test } from 'vitest'
import { decide } from '../../../daemon/roles/consensus/combine/decide.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { noon } from '../../support/clock/simulated-clock.ts'
import { buildDissent } from '../../support/consensus/build-dissent.ts'
import {
  deliverOutcome,
  expectAlarm,
  type Lie,
  type LyingSession,
  setUpLyingOrigin,
  startLyingSession,
} from './lying-origin.ts'

const sites = await setUpLyingOrigin()

/** A dissent over these scores, with the contribution of this site among them. */
function buildBravoDissent(session: LyingSession, scores: Readonly<Record<string, number>>) {
  const opinions = Object.entries(scores).map(([contributor_id, pair_score]) => {
    return { contributor_id, pair_score, accuracy: 1, credibility: 1 }
  })
  const decision = decide(session.policy, opinions)
  const cause = decision.state === 'IN_CONFLICT' ? decision : { reason: 'inconclusive' as const, ...decision }
  const body = buildDissent(session.policy, opinions, cause)
  const created_at = new Date(noon).toISOString()
  const { session_id } = session
  const id = `dis_${session_id.slice(4)}`
  return { dissent: { id, session_id, lens_id: 'lens-b', created_at, status: 'open' as const, body } }
}

const contested = { 'tenant-a': 0.9, 'tenant-c': 0, b1: 0 }
const changing =
  (change: (dissent: ReturnType<typeof buildBravoDissent>['dissent']) => object): Lie =>
  (session) => {
    const { dissent } = buildBravoDissent(session, contested)
    return { dissent: { ...dissent, ...change(dissent) } }
  }

const lies: Readonly<Record<string, readonly [fault: RegExp, lie: Lie]>> = {
  'a score that does not follow': [
    /score does not follow/,
    changing(({ body }) => ({ body: { ...body, score: 0.5 } })),
  ],
  'an influence that does not follow': [
    /influence does not follow/,
    changing(({ body }) => ({ body: { ...body, influence: body.influence.toReversed() } })),
  ],
  'a smallest set that names another': [
    /smallest_set does not follow/,
    changing(({ body }) => ({ body: { ...body, smallest_set: { ...body.smallest_set, contributor_ids: ['b1'] } } })),
  ],
  'another reason': [
    /do not lead to this conflict/,
    changing(({ body }) => ({ body: { ...body, reason: 'inconclusive' } })),
  ],
  'a conflict where the contributors agree': [
    /do not lead to this conflict/,
    (session) => buildBravoDissent(session, { 'tenant-a': 0.9, 'tenant-c': 0.9, b1: 0.9 }),
  ],
  'the position of this site changed': [
    /tenant-a: the record of this site holds no contribution/,
    (session) => buildBravoDissent(session, { ...contested, 'tenant-a': 1 }),
  ],
  'more contributors than invited': [
    /positions are not those of the contributors/,
    (session) => buildBravoDissent(session, { ...contested, b2: 0 }),
  ],
  'another lens in a dissent': [/another session or lens/, changing(() => ({ lens_id: 'other' }))],
  'an id of no form': [/the dissent is not of its form: .*id/, changing(() => ({ id: '../dissent' }))],
}

test.each(Object.entries(lies))('a dissent with %s is refused, and the true one followed', async (_, [fault, lie]) => {
  const session = await startLyingSession(sites(), { conflict_threshold: 0.4 })
  expect(await deliverOutcome(sites(), session.session_id, await lie(session, sites()))).toBe('result_invalid')
  await expectAlarm(sites(), session, fault)
  expect(await deliverOutcome(sites(), session.session_id, buildBravoDissent(session, contested))).toBe(200)
  const copy = await session.person.ok(get, { id: session.session_id })
  expect(copy).toMatchObject({ state: 'IN_CONFLICT', reason: 'conflict', open_dissent_id: expect.any(String) })
})

test('a session without a decision at its deadline is inconclusive by its dissent', async () => {
  const session = await startLyingSession(sites(), { deadline: new Date(noon + 1_000).toISOString() })
  expect(await deliverOutcome(sites(), session.session_id, buildBravoDissent(session, { 'tenant-a': 0.9 }))).toBe(200)
  expect(await session.person.ok(get, { id: session.session_id })).toMatchObject({ reason: 'inconclusive' })
})
