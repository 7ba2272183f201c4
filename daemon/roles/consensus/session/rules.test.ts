// The state machine of a session as pure rules: accepted changes, resulting states, and outbox entries.
import { describe, expect, test } from 'vitest'
import {
  acceptAll,
  buildLocalContribution,
  buildStoredSession,
  recorded_at,
} from '../../../../test/support/consensus/session-records.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { emptyContributionIndex } from './contribution/contribution-index.ts'
import type { SessionOutboxEntry, StoredSession } from './model.ts'
import { applyDeadline, decideSession, ratifySession, resolveSession, withdrawSession } from './rules.ts'
import { addToOutbox, emissionEntry, replaceInOutbox } from './transition/rules.ts'

const outboxTypes = ({ pending }: StoredSession) => pending.map(({ type }) => type)

describe('resolve', () => {
  test('without contributions leaves the session PROPOSED', () => {
    expect(decideSession(buildStoredSession(), [], 'resolve', 'ann', recorded_at).next).toMatchObject({
      state: 'PROPOSED',
      history: [{}],
    })
  })

  test('of a conflict renews the dissent record each time, and closes the previous one', () => {
    const { session, standing: index } = acceptAll(
      buildStoredSession(),
      buildLocalContribution('a', 0),
      buildLocalContribution('b', 1),
    )
    const again = decideSession(session, index.sorted, 'resolve', 'ann', recorded_at).next
    const third = decideSession(again, index.sorted, 'resolve', 'ann', recorded_at).next
    expect(outboxTypes(third)).toEqual(['dissent', 'dissent_closed', 'dissent', 'dissent_closed', 'dissent'])
    const ids = third.pending.filter(({ type }) => type === 'dissent').map(({ id }) => id)
    expect([new Set(ids).size, third.open_dissent_id]).toEqual([3, ids[2]])
    expect(third.history).toHaveLength(3)
  })
})

test('a resolve while the record of an earlier one is analysed changes nothing; the next one renews it', () => {
  const { session, standing: index } = acceptAll(
    buildStoredSession(),
    buildLocalContribution('a', 0),
    buildLocalContribution('b', 1),
  )
  const { open_dissent_id } = session
  expect(open_dissent_id).toBeDefined()
  expect(resolveSession(session, index.sorted, 'ann', recorded_at)).toBe(session)
  const analysed = replaceInOutbox(session, open_dissent_id ?? '')
  expect(resolveSession(analysed, index.sorted, 'ann', recorded_at)).toMatchObject({
    pending: [{ type: 'dissent_closed', dissent_id: open_dissent_id }, { type: 'dissent' }],
  })
})

describe('a deadline', () => {
  test('puts an undecided session in conflict, with any number of contributions', () => {
    const pending = acceptAll(buildStoredSession({ deadline_ts: 1 }), buildLocalContribution('a', 1))
    for (const { session, standing: index } of [
      { session: buildStoredSession({ deadline_ts: 1 }), standing: emptyContributionIndex('') },
      pending,
    ]) {
      const next = applyDeadline(session, index.sorted, 'role:consensus', recorded_at)
      expect(next).toMatchObject({ state: 'IN_CONFLICT', reason: 'inconclusive' })
      expect([outboxTypes(next), 'deadline_ts' in next]).toEqual([['dissent'], false])
    }
  })

  test('does not change a session that is decided or in conflict', () => {
    for (const state of ['RATIFIED', 'IN_CONFLICT', 'WITHDRAWN'] as const) {
      const session = buildStoredSession({ state })
      expect(applyDeadline(session, [], 'role:consensus', recorded_at)).toBe(session)
    }
  })
})

describe('cancel', () => {
  test('of a ratified session sends a retraction to every peer and sink; of any other only to the peers', () => {
    const ratified = ratifySession(
      buildStoredSession({ state: 'IN_CONFLICT', invited: ['bravo'] }),
      'match',
      'attest',
      'ann',
      recorded_at,
    )
    const notifiedPeers = (session: StoredSession) => {
      const next = withdrawSession(session, ['hook'], 'ann', recorded_at)
      if (isRefusal(next)) throw next
      expect([next.state, next.history.at(-1)?.to]).toEqual(['WITHDRAWN', 'WITHDRAWN'])
      return next.pending.map(({ id }) => id)
    }
    expect(notifiedPeers(ratified)).toEqual(['evidence', 'retraction:bravo', 'emission:retracted:hook'])
    expect(notifiedPeers(buildStoredSession({ invited: ['bravo'] }))).toEqual(['retraction:bravo'])
  })

  test('is refused once the session is WITHDRAWN', () => {
    const refusal = withdrawSession(buildStoredSession({ state: 'WITHDRAWN' }), [], 'ann', recorded_at)
    expect(isRefusal(refusal) && refusal.code).toBe('session_closed')
  })

  test('closes an open dissent as withdrawn', () => {
    const next = withdrawSession(
      buildStoredSession({ state: 'IN_CONFLICT', open_dissent_id: 'dis_1' }),
      [],
      'ann',
      recorded_at,
    )
    expect(next).toMatchObject({ pending: [{ type: 'dissent_closed', dissent_id: 'dis_1', resolution: 'withdrawn' }] })
    expect(next).not.toHaveProperty('open_dissent_id')
  })
})

describe('the outbox', () => {
  const entries: SessionOutboxEntry[] = [{ type: 'evidence', id: 'evidence' }, emissionEntry('hook', 'retracted')]

  test('delivers an entry once, and its follow-ups before all later entries', () => {
    const session = addToOutbox(buildStoredSession(), entries)
    const follows = emissionEntry('hook', 'ratified')
    const next = replaceInOutbox(session, 'evidence', [follows])
    expect(next.pending.map(({ id }) => id)).toEqual(['emission:ratified:hook', 'emission:retracted:hook'])
    expect(replaceInOutbox(next, 'evidence', [follows])).toEqual(next)
  })

  test('marks the session for the relay until it is empty', () => {
    const delivered = replaceInOutbox(addToOutbox(buildStoredSession(), entries), 'evidence')
    expect([delivered.owes, replaceInOutbox(delivered, 'emission:retracted:hook').owes]).toEqual([1, 0])
  })
})
