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
import { applyDeadline, decideSession, ratifySession, withdrawSession } from './rules.ts'
import { addToOutbox, emissionEntry, replaceInOutbox } from './transition/rules.ts'

const outboxTypes = ({ pending }: StoredSession) => pending.map(({ type }) => type)

describe('resolve', () => {
  test('before anyone has spoken leaves the session PROPOSED', () => {
    expect(decideSession(buildStoredSession(), [], 'resolve', 'ann', recorded_at).next).toMatchObject({
      state: 'PROPOSED',
      history: [{}],
    })
  })

  test('of a conflict renews the dissent record each time, and closes the one before', () => {
    const { session, standing } = acceptAll(
      buildStoredSession(),
      buildLocalContribution('a', 0),
      buildLocalContribution('b', 1),
    )
    const again = decideSession(session, standing.sorted, 'resolve', 'ann', recorded_at).next
    const third = decideSession(again, standing.sorted, 'resolve', 'ann', recorded_at).next
    expect(outboxTypes(third)).toEqual(['dissent', 'dissent_closed', 'dissent', 'dissent_closed', 'dissent'])
    const ids = third.pending.filter(({ type }) => type === 'dissent').map(({ id }) => id)
    expect([new Set(ids).size, third.open_dissent_id]).toEqual([3, ids[2]])
    expect(third.history).toHaveLength(3)
  })
})

describe('a deadline', () => {
  test('puts an undecided session in conflict, however few have spoken', () => {
    const pending = acceptAll(buildStoredSession({ deadline_ts: 1 }), buildLocalContribution('a', 1))
    for (const { session, standing } of [
      { session: buildStoredSession({ deadline_ts: 1 }), standing: emptyContributionIndex('') },
      pending,
    ]) {
      const next = applyDeadline(session, standing.sorted, 'role:consensus', recorded_at)
      expect(next).toMatchObject({ state: 'IN_CONFLICT', reason: 'inconclusive' })
      expect([outboxTypes(next), 'deadline_ts' in next]).toEqual([['dissent'], false])
    }
  })

  test('changes nothing that is decided or in conflict already', () => {
    for (const state of ['RATIFIED', 'IN_CONFLICT', 'WITHDRAWN'] as const) {
      const session = buildStoredSession({ state })
      expect(applyDeadline(session, [], 'role:consensus', recorded_at)).toBe(session)
    }
  })
})

describe('cancel', () => {
  test('of a ratified session retracts at every peer and every sink; of any other only at the peers', () => {
    const ratified = ratifySession(
      buildStoredSession({ state: 'IN_CONFLICT', invited: ['bravo'] }),
      'match',
      'attest',
      'ann',
      recorded_at,
    )
    const told = (session: StoredSession) => {
      const next = withdrawSession(session, ['hook'], 'ann', recorded_at)
      if (isRefusal(next)) throw next
      expect([next.state, next.history.at(-1)?.to]).toEqual(['WITHDRAWN', 'WITHDRAWN'])
      return next.pending.map(({ id }) => id)
    }
    expect(told(ratified)).toEqual(['evidence', 'retraction:bravo', 'emission:retracted:hook'])
    expect(told(buildStoredSession({ invited: ['bravo'] }))).toEqual(['retraction:bravo'])
  })

  test('is refused once the session is WITHDRAWN', () => {
    const refused = withdrawSession(buildStoredSession({ state: 'WITHDRAWN' }), [], 'ann', recorded_at)
    expect(isRefusal(refused) && refused.code).toBe('session_closed')
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

describe('what is owed', () => {
  const debts: SessionOutboxEntry[] = [{ type: 'evidence', id: 'evidence' }, emissionEntry('hook', 'retracted')]

  test('is paid once, and what follows from it comes before everything later', () => {
    const session = addToOutbox(buildStoredSession(), debts)
    const follows = emissionEntry('hook', 'ratified')
    const next = replaceInOutbox(session, 'evidence', [follows])
    expect(next.pending.map(({ id }) => id)).toEqual(['emission:ratified:hook', 'emission:retracted:hook'])
    expect(replaceInOutbox(next, 'evidence', [follows])).toEqual(next)
  })

  test('is marked for the relay as long as anything is left', () => {
    const one = replaceInOutbox(addToOutbox(buildStoredSession(), debts), 'evidence')
    expect([one.owes, replaceInOutbox(one, 'emission:retracted:hook').owes]).toEqual([1, 0])
  })
})
