// The match that a peer's decision is about, and its ruling there.
import { describe, expect, test } from 'vitest'
import type { PeerDecision } from '../../../shared/peer-decision/peer-decision.ts'
import { isSelected } from '../../../shared/peer-decision/peer-decision.ts'
import { matchUid } from '../entity-match/model.ts'
import { PeerDecisionProgress } from './progress.ts'
import { listMatchIds, rulingOfPeer } from './ruling-of-peer.ts'

const decision: PeerDecision = {
  ...{ id: 'ses_1@bravo', tenant_id: 'tenant-a', origin: 'bravo', status: 'standing', seq: 5, lens_id: 'lens-1' },
  classification: { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'tenant-b' },
  ...{ at: '2026-03-02T11:00:00.000Z', updated_at: '2026-03-02T12:00:00.000Z' },
  ...{ decision: 'match', score: 0.9, attested: false },
}
const subject = { kind: 'entity_match', left: 'north/a/1', right: 'south/b', correlation_id: 'match_7' }
const own = matchUid('tenant-a', 'people', { node_id: 'south', record_id: 'b' }, { node_id: 'north', record_id: 'a/1' })

describe('the match', () => {
  test('has the id that the peer names, or that of the two records in the lens of this site', () => {
    expect(listMatchIds({ ...decision, subject }, 'people')).toEqual(['match_7', own])
    const { correlation_id: _unnamed, ...records } = subject
    expect(listMatchIds({ ...decision, subject: records }, 'people')).toEqual([own])
  })

  test.each([
    ['no subject', undefined],
    ['another kind', { ...subject, kind: 'document' }],
    ['names without a node', { kind: 'entity_match', left: 'a', right: '/b' }],
    ['names without a record', { kind: 'entity_match', left: 'a/', right: 'b/c' }],
  ])('is unknown with %s', (_, other) => {
    expect(listMatchIds({ ...decision, ...(other ? { subject: other } : {}) }, 'people')).toEqual([])
  })
})

test('the ruling names peer and session, and is retracted with the decision', () => {
  expect(rulingOfPeer(decision)).toMatchObject({ session_id: 'ses_1@bravo', peer: 'bravo', seq: 5, status: 'ratified' })
  expect(rulingOfPeer({ ...decision, status: 'withdrawn', seq: 7 })).toMatchObject({ seq: 7, status: 'retracted' })
})

test('a rule selects by peer, and by lens if it names one', () => {
  expect(isSelected({ peer: 'bravo' }, decision)).toBe(true)
  expect(isSelected({ peer: 'bravo', lens_id: 'lens-1' }, decision)).toBe(true)
  expect(isSelected({ peer: 'bravo', lens_id: 'lens-2' }, decision)).toBe(false)
  expect(isSelected({ peer: 'charlie' }, decision)).toBe(false)
})

describe('progress', () => {
  const minute = 60_000
  test('reads everything first and every ten minutes, between them what is new with an overlap', () => {
    const progress = new PeerDecisionProgress()
    const start = Date.parse('2026-03-02T12:00:00Z')
    expect(progress.beginWalk(start)).toBe(0)
    progress.endWalk(0, start - minute, start)
    expect(progress.beginWalk(start + minute)).toBe(start - 11 * minute)
    progress.endWalk(start - 11 * minute, start + minute, start + minute)
    expect(progress.beginWalk(start + 2 * minute)).toBe(start - 9 * minute)
    expect(progress.beginWalk(start + 10 * minute)).toBe(0)
  })

  test('begins again where a walk did not end', () => {
    const progress = new PeerDecisionProgress()
    progress.beginWalk(0)
    expect(progress.beginWalk(minute)).toBe(0)
  })
})
