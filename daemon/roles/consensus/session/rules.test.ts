// The session's decisions as pure rules: what is accepted, what follows, and what the session then owes to others.
import { describe, expect, test } from 'vitest'
import {
  at,
  contributionOf,
  labels,
  sentOf,
  sessionOf,
  unclassified,
} from '../../../../test/support/session-records.ts'
import { isRefused } from '../../../kernel/errors.ts'
import type { Contribution } from '../contribution/model.ts'
import type { Pending, StoredSession } from './model.ts'
import { accept, cancel, decided, pastDeadline, ratify, repeatOf } from './rules.ts'
import { emptyStanding, type Standing, stand } from './standing.ts'
import { emission, owing, paid } from './transition/rules.ts'

const limits = { max_contributions: 1_000, labels }

/** The session after these, each accepted in turn. */
function taking(
  session: StoredSession,
  ...given: readonly Contribution[]
): { session: StoredSession; standing: Standing } {
  const standing = emptyStanding(session.chain)
  let current = session
  for (const each of given) {
    const accepted = accept(current, standing, each, each.digest, limits)
    if (isRefused(accepted)) throw accepted
    current = accepted.next
    stand(standing, accepted.contribution, current.chain)
  }
  return { session: current, standing }
}

function codeOf(session: StoredSession, standing: Standing, given: Contribution, more = {}): string | undefined {
  const accepted = accept(session, standing, given, given.digest, { ...limits, ...more })
  return isRefused(accepted) ? accepted.code : undefined
}

const kinds = ({ pending }: StoredSession) => pending.map(({ type }) => type)

describe('a contribution', () => {
  test('given a session of 2 of 3, when two agree, it is RATIFIED and owes its evidence', () => {
    const { session } = taking(sessionOf(), contributionOf('a', 0.9), contributionOf('b', 0.8))
    expect(session).toMatchObject({ state: 'RATIFIED', decision: 'match', contributions: 2, contributors: 2, owes: 1 })
    expect(session.history.map(({ seq, to }) => [seq, to])).toEqual([
      [1, 'PROPOSED'],
      [3, 'PENDING_QUORUM'],
      [5, 'RATIFIED'],
    ])
    expect(kinds(session)).toEqual(['evidence'])
  })

  test('given two opposite ones, it is IN_CONFLICT with one dissent record, and no second one for the third', () => {
    const policy = { ...sessionOf().policy, conflict_threshold: 0.3 }
    const torn = taking(sessionOf({ policy }), contributionOf('a', 0), contributionOf('b', 1))
    expect(torn.session).toMatchObject({ state: 'IN_CONFLICT', reason: 'conflict' })
    const third = accept(torn.session, torn.standing, contributionOf('c', 0.5), 'd', limits)
    if (isRefused(third)) throw third
    expect([third.next.state, kinds(third.next)]).toEqual(['IN_CONFLICT', ['dissent']])
  })

  test('names the session it leads to by a chain that depends on every one before', () => {
    const [a, b] = [contributionOf('a', 0.4), contributionOf('b', 0.6)]
    expect(taking(sessionOf(), a, b).session.chain).not.toBe(taking(sessionOf(), b, a).session.chain)
    expect(taking(sessionOf(), a, b).session.chain).toBe(taking(sessionOf(), a, b).session.chain)
  })

  test('is refused by a closed session, by a policy that does not name it, and beyond n', () => {
    const none = emptyStanding('start')
    expect(codeOf(sessionOf({ state: 'RATIFIED' }), none, contributionOf('a', 1))).toBe('session_closed')
    expect(codeOf(sessionOf({ state: 'WITHDRAWN' }), none, contributionOf('a', 1))).toBe('session_closed')
    const named = sessionOf({ policy: { ...sessionOf().policy, m: 1, n: 1, contributors: ['b'] } })
    expect(codeOf(named, none, contributionOf('a', 1))).toBe('not_contributor')
    const policy = { ...sessionOf().policy, m: 1, n: 1, ratify_threshold: 1, conflict_threshold: 1 }
    const full = taking(sessionOf({ policy }), contributionOf('a', 0.5))
    expect(codeOf(full.session, full.standing, contributionOf('b', 1))).toBe('quorum_full')
    expect(codeOf(full.session, full.standing, contributionOf('a', 1, 2))).toBeUndefined()
    expect(codeOf(full.session, full.standing, contributionOf('a', 1, 2), { max_contributions: 1 })).toBe('quorum_full')
  })

  test('narrows the session’s releasability to what both have, and changes nothing else of its label', () => {
    const label = { ...unclassified, level: 'SECRET', categories: ['NUC'], releasable_to: ['tenant-a', 'FR', 'DE'] }
    const classification = { ...unclassified, releasable_to: ['FR', 'tenant-a', 'IT'] }
    const { session } = taking(sessionOf({ label }), { ...contributionOf('a', 0.5), classification })
    expect(session.label).toEqual({ ...label, releasable_to: ['FR', 'tenant-a'] })
  })

  test.each([
    ['a higher level', { level: 'RESTRICTED' }],
    ['a category that the session does not have', { categories: ['NUC'] }],
    ['another policy', { policy: 'NATO' }],
    ['an unknown level', { level: 'COSMIC' }],
  ])('with %s exceeds the session’s label, and is refused', (_, more) => {
    const given = { ...contributionOf('a', 0.5), classification: { ...unclassified, ...more } }
    expect(codeOf(sessionOf(), emptyStanding('start'), given)).toBe('label_denied')
  })

  test('to a session that lives at a peer is sent there and decides nothing; an older one is not sent', () => {
    const copy = sessionOf({
      origin: { peer: 'bravo', tenant_id: 'tenant-b' },
      policy: { ...sessionOf().policy, m: 1 },
    })
    const { session, standing } = taking(copy, contributionOf('tenant-a', 1))
    expect([session.state, session.result, kinds(session)]).toEqual(['PENDING_QUORUM', undefined, ['message']])
    expect(session.pending[0]).toMatchObject({ peer: 'bravo', kind: 'contribution', body: { pair_score: 1 } })
    const again = taking(session, { ...contributionOf('tenant-a', 0, 2) })
    expect([standing.by_contributor.size, kinds(again.session)]).toEqual([1, ['message', 'message']])
  })
})

describe('a repeat', () => {
  const { standing } = taking(sessionOf(), contributionOf('a', 0.5))

  test('is known by its id, and by what stands', () => {
    const first = contributionOf('a', 0.5)
    expect(repeatOf(standing, first, first.digest, undefined)).toBe('known')
    expect(repeatOf(standing, contributionOf('a', 0.5, 2), first.digest, undefined)).toBe('stands')
    expect(repeatOf(standing, contributionOf('a', 0.6, 2), 'other', undefined)).toBeUndefined()
    expect(repeatOf(standing, contributionOf('b', 0.5), 'other', undefined)).toBeUndefined()
  })

  test('is known by an id that was claimed outside the record, even when it no longer stands', () => {
    expect(repeatOf(standing, contributionOf('a', 0.6, 2), 'claimed', 'claimed')).toBe('known')
    const refused = repeatOf(standing, contributionOf('a', 0.6, 2), 'other', 'claimed')
    expect(isRefused(refused) && refused.code).toBe('idempotency_mismatch')
  })

  test('with the id of another contribution is refused', () => {
    const refused = repeatOf(standing, contributionOf('a', 0.6), 'other', undefined)
    expect(isRefused(refused) && refused.code).toBe('idempotency_mismatch')
  })

  test('of a peer under a later number is no repeat, since it must outlast what was sent between', () => {
    const sent = taking(sessionOf(), sentOf('bravo', 1, 2)).standing
    const { digest } = sentOf('bravo', 1, 2)
    expect(repeatOf(sent, sentOf('bravo', 1, 3), digest, undefined)).toBeUndefined()
    expect(repeatOf(sent, sentOf('bravo', 1, 1), digest, undefined)).toBe('stands')
  })
})

describe('resolve', () => {
  test('before anyone has spoken leaves the session PROPOSED', () => {
    expect(decided(sessionOf(), [], 'resolve', 'ann', at).next).toMatchObject({ state: 'PROPOSED', history: [{}] })
  })

  test('of a conflict renews the dissent record each time, and closes the one before', () => {
    const { session, standing } = taking(sessionOf(), contributionOf('a', 0), contributionOf('b', 1))
    const again = decided(session, standing.sorted, 'resolve', 'ann', at).next
    const third = decided(again, standing.sorted, 'resolve', 'ann', at).next
    expect(kinds(third)).toEqual(['dissent', 'dissent_closed', 'dissent', 'dissent_closed', 'dissent'])
    const ids = third.pending.filter(({ type }) => type === 'dissent').map(({ id }) => id)
    expect([new Set(ids).size, third.open_dissent_id]).toEqual([3, ids[2]])
    expect(third.history).toHaveLength(3)
  })
})

describe('a deadline', () => {
  test('puts an undecided session in conflict, however few have spoken', () => {
    const pending = taking(sessionOf({ deadline_ts: 1 }), contributionOf('a', 1))
    for (const { session, standing } of [
      { session: sessionOf({ deadline_ts: 1 }), standing: emptyStanding('') },
      pending,
    ]) {
      const next = pastDeadline(session, standing.sorted, 'role:consensus', at)
      expect(next).toMatchObject({ state: 'IN_CONFLICT', reason: 'inconclusive' })
      expect([kinds(next), 'deadline_ts' in next]).toEqual([['dissent'], false])
    }
  })

  test('changes nothing that is decided or in conflict already', () => {
    for (const state of ['RATIFIED', 'IN_CONFLICT', 'WITHDRAWN'] as const) {
      const session = sessionOf({ state })
      expect(pastDeadline(session, [], 'role:consensus', at)).toBe(session)
    }
  })
})

describe('cancel', () => {
  test('of a ratified session retracts at every peer and every sink; of any other only at the peers', () => {
    const ratified = ratify(sessionOf({ state: 'IN_CONFLICT', invited: ['bravo'] }), 'match', 'attest', 'ann', at)
    const told = (session: StoredSession) => {
      const next = cancel(session, ['hook'], 'ann', at)
      if (isRefused(next)) throw next
      expect([next.state, next.history.at(-1)?.to]).toEqual(['WITHDRAWN', 'WITHDRAWN'])
      return next.pending.map(({ id }) => id)
    }
    expect(told(ratified)).toEqual(['evidence', 'retraction:bravo', 'emission:retracted:hook'])
    expect(told(sessionOf({ invited: ['bravo'] }))).toEqual(['retraction:bravo'])
  })

  test('is refused once the session is WITHDRAWN', () => {
    const refused = cancel(sessionOf({ state: 'WITHDRAWN' }), [], 'ann', at)
    expect(isRefused(refused) && refused.code).toBe('session_closed')
  })

  test('closes an open dissent as withdrawn', () => {
    const next = cancel(sessionOf({ state: 'IN_CONFLICT', open_dissent_id: 'dis_1' }), [], 'ann', at)
    expect(next).toMatchObject({ pending: [{ type: 'dissent_closed', dissent_id: 'dis_1', resolution: 'withdrawn' }] })
    expect(next).not.toHaveProperty('open_dissent_id')
  })
})

describe('what is owed', () => {
  const debts: Pending[] = [{ type: 'evidence', id: 'evidence' }, emission('hook', 'retracted')]

  test('is paid once, and what follows from it comes before everything later', () => {
    const session = owing(sessionOf(), debts)
    const follows = emission('hook', 'ratified')
    const next = paid(session, 'evidence', [follows])
    expect(next.pending.map(({ id }) => id)).toEqual(['emission:ratified:hook', 'emission:retracted:hook'])
    expect(paid(next, 'evidence', [follows])).toEqual(next)
  })

  test('is marked for the relay as long as anything is left', () => {
    const one = paid(owing(sessionOf(), debts), 'evidence')
    expect([one.owes, paid(one, 'emission:retracted:hook').owes]).toEqual([1, 0])
  })
})
