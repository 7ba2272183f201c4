// Contributions that a session accepts, the resulting session, and repeats.
import { describe, expect, test } from 'vitest'
import {
  acceptAll,
  buildLocalContribution,
  buildPeerContribution,
  buildStoredSession,
  contributionLimits,
  unclassifiedLabel,
} from '../../../../../test/support/consensus/session-records.ts'
import { isRefusal } from '../../../../kernel/error/errors.ts'
import type { StoredSession } from '../model.ts'
import { type ContributionView, emptyContributionIndex } from './contribution-index.ts'
import type { Contribution } from './model.ts'
import { acceptContribution, detectRepeat } from './rules.ts'

function codeOf(
  session: StoredSession,
  view: ContributionView,
  contribution: Contribution,
  more = {},
): string | undefined {
  const accepted = acceptContribution(session, view, contribution, contribution.digest, {
    ...contributionLimits,
    ...more,
  })
  return isRefusal(accepted) ? accepted.code : undefined
}

const outboxTypes = ({ pending }: StoredSession) => pending.map(({ type }) => type)

describe('a contribution to a session of a peer', () => {
  const session = buildStoredSession({ origin: { peer: 'bravo', tenant_id: 'tenant-bravo' } })
  const based = { ...buildLocalContribution('tenant-a', 0.9), parent_block_ids: ['ab'.repeat(32)] }

  test('names in its message the blocks that it rests on', () => {
    const { session: next } = acceptAll(session, based)
    expect(next.pending).toMatchObject([{ type: 'message', peer: 'bravo', parent_block_ids: based.parent_block_ids }])
    expect(acceptAll(session, buildLocalContribution('tenant-a', 0.9)).session.pending[0]).not.toHaveProperty(
      'parent_block_ids',
    )
  })

  test('with other blocks is another contribution, which must reach the peer', () => {
    const { standing } = acceptAll(session, based)
    const other = { ...based, parent_block_ids: ['cd'.repeat(32)] }
    const repeatOf = (contribution: Contribution) => detectRepeat(standing, contribution, based.digest, undefined)
    expect(repeatOf(based)).toBe('known')
    expect(repeatOf({ ...based, id: 'con_new' })).toBe('unchanged')
    expect(repeatOf({ ...other, id: 'con_new' })).toBeUndefined()
    expect(repeatOf(other)).toMatchObject({ code: 'idempotency_mismatch' })
  })
})

describe('a contributor of the site with the name of a peer’s tenant', () => {
  const [local, peer] = [buildLocalContribution('tenant-bravo', 0.1), buildPeerContribution('bravo', 1, 1, 0.9)]

  test('does not vote where the peer is invited, and the peer does', () => {
    const session = buildStoredSession({ invited: ['bravo'], peer_tenants: ['tenant-bravo'] })
    const empty = emptyContributionIndex(session.chain)
    expect([codeOf(session, empty, local), codeOf(session, empty, peer)]).toEqual(['not_contributor', undefined])
  })

  test('has a vote of its own in a session of an earlier version, and both count', () => {
    const session = buildStoredSession({ policy: { ...buildStoredSession().policy, m: 3 } })
    for (const arrivals of [[local, peer] as const, [peer, local] as const]) {
      const both = acceptAll(session, ...arrivals)
      expect([both.session.contributors, both.session.result?.score]).toEqual([2, 0.5])
    }
  })

  test('takes the one place that the policy has for the name, and leaves none to the other', () => {
    const policy = { ...buildStoredSession().policy, n: 2, contributors: ['tenant-bravo', 'c'] }
    for (const [first, second] of [
      [local, peer],
      [peer, local],
    ] as const) {
      const { session, standing } = acceptAll(buildStoredSession({ policy }), first)
      expect(codeOf(session, standing, second)).toBe('not_contributor')
    }
  })
})

describe('a contribution', () => {
  test('given a session of 2 of 3, when two agree, it is RATIFIED and its evidence is pending', () => {
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

  test('given two contrary contributions, it is IN_CONFLICT with one dissent record; a third adds no record', () => {
    const policy = { ...buildStoredSession().policy, conflict_threshold: 0.3 }
    const torn = acceptAll(
      buildStoredSession({ policy }),
      buildLocalContribution('a', 0),
      buildLocalContribution('b', 1),
    )
    expect(torn.session).toMatchObject({ state: 'IN_CONFLICT', reason: 'conflict' })
    const third = acceptContribution(
      torn.session,
      torn.standing,
      buildLocalContribution('c', 0.5),
      'd',
      contributionLimits,
    )
    if (isRefusal(third)) throw third
    expect([third.next.state, outboxTypes(third.next)]).toEqual(['IN_CONFLICT', ['dissent']])
  })

  test('updates a chain that depends on every earlier contribution', () => {
    const [a, b] = [buildLocalContribution('a', 0.4), buildLocalContribution('b', 0.6)]
    expect(acceptAll(buildStoredSession(), a, b).session.chain).not.toBe(
      acceptAll(buildStoredSession(), b, a).session.chain,
    )
    expect(acceptAll(buildStoredSession(), a, b).session.chain).toBe(
      acceptAll(buildStoredSession(), a, b).session.chain,
    )
  })

  test('is refused by a closed session, by a policy that does not name its contributor, and beyond n', () => {
    const emptyIndex = emptyContributionIndex('start')
    expect(codeOf(buildStoredSession({ state: 'RATIFIED' }), emptyIndex, buildLocalContribution('a', 1))).toBe(
      'session_closed',
    )
    expect(codeOf(buildStoredSession({ state: 'WITHDRAWN' }), emptyIndex, buildLocalContribution('a', 1))).toBe(
      'session_closed',
    )
    const restricted = buildStoredSession({
      policy: { ...buildStoredSession().policy, m: 1, n: 1, contributors: ['b'] },
    })
    expect(codeOf(restricted, emptyIndex, buildLocalContribution('a', 1))).toBe('not_contributor')
    const policy = { ...buildStoredSession().policy, m: 1, n: 1, ratify_threshold: 1, conflict_threshold: 1 }
    const full = acceptAll(buildStoredSession({ policy }), buildLocalContribution('a', 0.5))
    expect(codeOf(full.session, full.standing, buildLocalContribution('b', 1))).toBe('quorum_full')
    expect(codeOf(full.session, full.standing, buildLocalContribution('a', 1, 2))).toBeUndefined()
    expect(codeOf(full.session, full.standing, buildLocalContribution('a', 1, 2), { max_contributions: 1 })).toBe(
      'quorum_full',
    )
  })

  test('narrows the session’s releasability to the common audience, and changes nothing else of its label', () => {
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
    const contribution = { ...buildLocalContribution('a', 0.5), classification: { ...unclassifiedLabel, ...more } }
    expect(codeOf(buildStoredSession(), emptyContributionIndex('start'), contribution)).toBe('label_denied')
  })

  test('to a session of a peer is forwarded and decides nothing; an older one is not forwarded', () => {
    const copy = buildStoredSession({
      origin: { peer: 'bravo', tenant_id: 'tenant-b' },
      policy: { ...buildStoredSession().policy, m: 1 },
    })
    const { session, standing: index } = acceptAll(copy, buildLocalContribution('tenant-a', 1))
    expect([session.state, session.result, outboxTypes(session)]).toEqual(['PENDING_QUORUM', undefined, ['message']])
    expect(session.pending[0]).toMatchObject({ peer: 'bravo', kind: 'contribution', body: { pair_score: 1 } })
    const again = acceptAll(session, { ...buildLocalContribution('tenant-a', 0, 2) })
    expect([index.by_voter.size, outboxTypes(again.session)]).toEqual([1, ['message', 'message']])
  })
})

describe('a repeat', () => {
  const { standing: index } = acceptAll(buildStoredSession(), buildLocalContribution('a', 0.5))

  test('is recognised by its id, and by the standing contribution', () => {
    const first = buildLocalContribution('a', 0.5)
    expect(detectRepeat(index, first, first.digest, undefined)).toBe('known')
    expect(detectRepeat(index, buildLocalContribution('a', 0.5, 2), first.digest, undefined)).toBe('unchanged')
    expect(detectRepeat(index, buildLocalContribution('a', 0.6, 2), 'other', undefined)).toBeUndefined()
    expect(detectRepeat(index, buildLocalContribution('b', 0.5), 'other', undefined)).toBeUndefined()
  })

  test('is recognised by an id claimed outside the record, even when superseded', () => {
    expect(detectRepeat(index, buildLocalContribution('a', 0.6, 2), 'claimed', 'claimed')).toBe('known')
    const refusal = detectRepeat(index, buildLocalContribution('a', 0.6, 2), 'other', 'claimed')
    expect(isRefusal(refusal) && refusal.code).toBe('idempotency_mismatch')
  })

  test('with the id of another contribution is refused', () => {
    const refusal = detectRepeat(index, buildLocalContribution('a', 0.6), 'other', undefined)
    expect(isRefusal(refusal) && refusal.code).toBe('idempotency_mismatch')
  })

  test('from a peer under a later number is not a repeat, since it must supersede messages sent in between', () => {
    const sent = acceptAll(buildStoredSession(), buildPeerContribution('bravo', 1, 2)).standing
    const { digest } = buildPeerContribution('bravo', 1, 2)
    expect(detectRepeat(sent, buildPeerContribution('bravo', 1, 3), digest, undefined)).toBeUndefined()
    expect(detectRepeat(sent, buildPeerContribution('bravo', 1, 1), digest, undefined)).toBe('unchanged')
  })
})
