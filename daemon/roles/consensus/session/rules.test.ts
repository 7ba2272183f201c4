// The session's decisions as pure rules: what is accepted, what follows, and what the session then owes to others.
import { describe, expect, test } from 'vitest'
import {
  buildLocalContribution,
  buildPeerContribution,
  buildStoredSession,
  labelPolicy,
  recorded_at,
  unclassifiedLabel,
} from '../../../../test/support/consensus/session-records.ts'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { addToIndex, type ContributionIndex, emptyContributionIndex } from './contribution/contribution-index.ts'
import type { Contribution } from './contribution/model.ts'
import type { SessionOutboxEntry, StoredSession } from './model.ts'
import {
  acceptContribution,
  applyDeadline,
  decideSession,
  detectRepeat,
  ratifySession,
  withdrawSession,
} from './rules.ts'
import { addToOutbox, emissionEntry, replaceInOutbox } from './transition/rules.ts'

const limits = { max_contributions: 1_000, labels: labelPolicy }

/** The session after these, each accepted in turn. */
function acceptAll(
  session: StoredSession,
  ...given: readonly Contribution[]
): { session: StoredSession; standing: ContributionIndex } {
  const standing = emptyContributionIndex(session.chain)
  let current = session
  for (const each of given) {
    const accepted = acceptContribution(current, standing, each, each.digest, limits)
    if (isRefusal(accepted)) throw accepted
    current = accepted.next
    addToIndex(standing, accepted.contribution, current.chain)
  }
  return { session: current, standing }
}

function codeOf(
  session: StoredSession,
  standing: ContributionIndex,
  given: Contribution,
  more = {},
): string | undefined {
  const accepted = acceptContribution(session, standing, given, given.digest, { ...limits, ...more })
  return isRefusal(accepted) ? accepted.code : undefined
}

const outboxTypes = ({ pending }: StoredSession) => pending.map(({ type }) => type)

describe('a contribution', () => {
  test('given a session of 2 of 3, when two agree, it is RATIFIED and owes its evidence', () => {
    const { session } = acceptAll(
      buildStoredSession(),
      buildLocalContribution('a', 0.9),
      buildLocalContribution('b', 0.8),
    )
    expect(session).toMatchObject({ state: 'RATIFIED', decision: 'match', contributions: 2, contributors: 2, owes: 1 })
    expect(session.history.map(({ seq, to }) => [seq, to])).toEqual([
      [1, 'PROPOSED'],
      [3, 'PENDING_QUORUM'],
      [5, 'RATIFIED'],
    ])
    expect(outboxTypes(session)).toEqual(['evidence'])
  })

  test('given two opposite ones, it is IN_CONFLICT with one dissent record, and no second one for the third', () => {
    const policy = { ...buildStoredSession().policy, conflict_threshold: 0.3 }
    const torn = acceptAll(
      buildStoredSession({ policy }),
      buildLocalContribution('a', 0),
      buildLocalContribution('b', 1),
    )
    expect(torn.session).toMatchObject({ state: 'IN_CONFLICT', reason: 'conflict' })
    const third = acceptContribution(torn.session, torn.standing, buildLocalContribution('c', 0.5), 'd', limits)
    if (isRefusal(third)) throw third
    expect([third.next.state, outboxTypes(third.next)]).toEqual(['IN_CONFLICT', ['dissent']])
  })

  test('names the session it leads to by a chain that depends on every one before', () => {
    const [a, b] = [buildLocalContribution('a', 0.4), buildLocalContribution('b', 0.6)]
    expect(acceptAll(buildStoredSession(), a, b).session.chain).not.toBe(
      acceptAll(buildStoredSession(), b, a).session.chain,
    )
    expect(acceptAll(buildStoredSession(), a, b).session.chain).toBe(
      acceptAll(buildStoredSession(), a, b).session.chain,
    )
  })

  test('is refused by a closed session, by a policy that does not name it, and beyond n', () => {
    const none = emptyContributionIndex('start')
    expect(codeOf(buildStoredSession({ state: 'RATIFIED' }), none, buildLocalContribution('a', 1))).toBe(
      'session_closed',
    )
    expect(codeOf(buildStoredSession({ state: 'WITHDRAWN' }), none, buildLocalContribution('a', 1))).toBe(
      'session_closed',
    )
    const named = buildStoredSession({ policy: { ...buildStoredSession().policy, m: 1, n: 1, contributors: ['b'] } })
    expect(codeOf(named, none, buildLocalContribution('a', 1))).toBe('not_contributor')
    const policy = { ...buildStoredSession().policy, m: 1, n: 1, ratify_threshold: 1, conflict_threshold: 1 }
    const full = acceptAll(buildStoredSession({ policy }), buildLocalContribution('a', 0.5))
    expect(codeOf(full.session, full.standing, buildLocalContribution('b', 1))).toBe('quorum_full')
    expect(codeOf(full.session, full.standing, buildLocalContribution('a', 1, 2))).toBeUndefined()
    expect(codeOf(full.session, full.standing, buildLocalContribution('a', 1, 2), { max_contributions: 1 })).toBe(
      'quorum_full',
    )
  })

  test('narrows the session’s releasability to what both have, and changes nothing else of its label', () => {
    const label = {
      ...unclassifiedLabel,
      level: 'SECRET',
      categories: ['NUC'],
      releasable_to: ['tenant-a', 'FR', 'DE'],
    }
    const classification = { ...unclassifiedLabel, releasable_to: ['FR', 'tenant-a', 'IT'] }
    const { session } = acceptAll(buildStoredSession({ label }), {
      ...buildLocalContribution('a', 0.5),
      classification,
    })
    expect(session.label).toEqual({ ...label, releasable_to: ['FR', 'tenant-a'] })
  })

  test.each([
    ['a higher level', { level: 'RESTRICTED' }],
    ['a category that the session does not have', { categories: ['NUC'] }],
    ['another policy', { policy: 'NATO' }],
    ['an unknown level', { level: 'COSMIC' }],
  ])('with %s exceeds the session’s label, and is refused', (_, more) => {
    const given = { ...buildLocalContribution('a', 0.5), classification: { ...unclassifiedLabel, ...more } }
    expect(codeOf(buildStoredSession(), emptyContributionIndex('start'), given)).toBe('label_denied')
  })

  test('to a session that lives at a peer is sent there and decides nothing; an older one is not sent', () => {
    const copy = buildStoredSession({
      origin: { peer: 'bravo', tenant_id: 'tenant-b' },
      policy: { ...buildStoredSession().policy, m: 1 },
    })
    const { session, standing } = acceptAll(copy, buildLocalContribution('tenant-a', 1))
    expect([session.state, session.result, outboxTypes(session)]).toEqual(['PENDING_QUORUM', undefined, ['message']])
    expect(session.pending[0]).toMatchObject({ peer: 'bravo', kind: 'contribution', body: { pair_score: 1 } })
    const again = acceptAll(session, { ...buildLocalContribution('tenant-a', 0, 2) })
    expect([standing.by_contributor.size, outboxTypes(again.session)]).toEqual([1, ['message', 'message']])
  })
})

describe('a repeat', () => {
  const { standing } = acceptAll(buildStoredSession(), buildLocalContribution('a', 0.5))

  test('is known by its id, and by what stands', () => {
    const first = buildLocalContribution('a', 0.5)
    expect(detectRepeat(standing, first, first.digest, undefined)).toBe('known')
    expect(detectRepeat(standing, buildLocalContribution('a', 0.5, 2), first.digest, undefined)).toBe('unchanged')
    expect(detectRepeat(standing, buildLocalContribution('a', 0.6, 2), 'other', undefined)).toBeUndefined()
    expect(detectRepeat(standing, buildLocalContribution('b', 0.5), 'other', undefined)).toBeUndefined()
  })

  test('is known by an id that was claimed outside the record, even when it no longer stands', () => {
    expect(detectRepeat(standing, buildLocalContribution('a', 0.6, 2), 'claimed', 'claimed')).toBe('known')
    const refused = detectRepeat(standing, buildLocalContribution('a', 0.6, 2), 'other', 'claimed')
    expect(isRefusal(refused) && refused.code).toBe('idempotency_mismatch')
  })

  test('with the id of another contribution is refused', () => {
    const refused = detectRepeat(standing, buildLocalContribution('a', 0.6), 'other', undefined)
    expect(isRefusal(refused) && refused.code).toBe('idempotency_mismatch')
  })

  test('of a peer under a later number is no repeat, since it must outlast what was sent between', () => {
    const sent = acceptAll(buildStoredSession(), buildPeerContribution('bravo', 1, 2)).standing
    const { digest } = buildPeerContribution('bravo', 1, 2)
    expect(detectRepeat(sent, buildPeerContribution('bravo', 1, 3), digest, undefined)).toBeUndefined()
    expect(detectRepeat(sent, buildPeerContribution('bravo', 1, 1), digest, undefined)).toBe('unchanged')
  })
})

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
