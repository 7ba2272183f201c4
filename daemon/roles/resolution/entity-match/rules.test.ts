// Decisions of people override consensus, and consensus overrides the engine; no assessment is ever lost.
import { describe, expect, test } from 'vitest'
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { MatchRuling, StoredMatch } from './model.ts'
import { addAssessment, applyRuling, deriveConstraint, deriveDecision } from './rules.ts'

const timeAt = (minute: number) => `2026-03-02T12:${String(minute).padStart(2, '0')}:00.000Z`

const proposedMatch: StoredMatch = {
  tenant_id: 'tenant-a',
  label: { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'tenant-a' },
  ...{ lens: 'people', lens_id: 'lens_1', lens_version: '1.0.0', entity_type: 'person', run_id: 'run_1' },
  left: { node_id: 'n', record_id: 'a' },
  right: { node_id: 'n', record_id: 'b' },
  ...{ score: { bits: 1 }, linked: true, levels: [], state: 'proposed', decided_by: 'engine' },
  ...{ reviews: [], attestations: [], rulings: [], created_at: timeAt(0), updated_at: timeAt(0) },
  ...{ rank: 1, above: 1, left_uid: 'rec_a', right_uid: 'rec_b', worth: 1, owes: 0, asks: 0 },
}

type ReviewDecision = 'confirm' | 'reject' | 'defer'
let last_review = 0
function addReview(current: StoredMatch, decision: ReviewDecision, id = `rev_${++last_review}`): StoredMatch {
  const next = addAssessment(current, {
    list: 'reviews',
    assessment: { id, by: 'ann', at: timeAt(last_review % 60), decision },
  })
  if (isRefusal(next)) throw next
  return next
}
const buildRuling = (more: Partial<MatchRuling>): MatchRuling => ({
  ...{ session_id: 'ses_1', seq: 5, status: 'ratified', decision: 'match', at: timeAt(5) },
  ...more,
})
const formatDecision = ({ state, decided_by }: StoredMatch) => `${state} by ${decided_by}`

describe('the decision', () => {
  test('of a person overrides consensus, which overrides the engine; a withdrawal restores the one before', () => {
    expect(formatDecision(proposedMatch)).toBe('proposed by engine')
    const ratified = applyRuling(proposedMatch, buildRuling({}))
    expect(formatDecision(ratified)).toBe('confirmed by consensus')
    const rejected = addReview(ratified, 'reject')
    expect(formatDecision(rejected)).toBe('rejected by human')
    expect(formatDecision(applyRuling(rejected, buildRuling({ session_id: 'ses_2', at: timeAt(9) })))).toBe(
      'rejected by human',
    )
    expect(formatDecision(addReview(rejected, 'defer'))).toBe('confirmed by consensus')
    const retracted = applyRuling(
      addReview(rejected, 'defer'),
      buildRuling({ seq: 7, status: 'retracted', at: timeAt(8) }),
    )
    expect(formatDecision(retracted)).toBe('deferred by human')
    expect(formatDecision(applyRuling(ratified, buildRuling({ seq: 7, status: 'retracted' })))).toBe(
      'proposed by engine',
    )
  })

  test('of several sessions is the latest ruling, or the one before after a retraction', () => {
    const both = applyRuling(
      applyRuling(proposedMatch, buildRuling({})),
      buildRuling({ session_id: 'ses_2', decision: 'non_match', at: timeAt(9) }),
    )
    expect(formatDecision(both)).toBe('rejected by consensus')
    const retracted = applyRuling(
      both,
      buildRuling({ session_id: 'ses_2', seq: 8, status: 'retracted', at: timeAt(10) }),
    )
    expect(formatDecision(retracted)).toBe('confirmed by consensus')
  })

  test('of two sessions that ruled at the same time does not depend on the order of arrival', () => {
    const [first, second] = [buildRuling({ session_id: 'a' }), buildRuling({ session_id: 'b', decision: 'non_match' })]
    expect(formatDecision(applyRuling(applyRuling(proposedMatch, first), second))).toBe(
      formatDecision(applyRuling(applyRuling(proposedMatch, second), first)),
    )
  })
})

describe('an older ruling of a session', () => {
  test('changes nothing: a retraction stays', () => {
    const retracted = applyRuling(proposedMatch, buildRuling({ seq: 7, status: 'retracted' }))
    expect(applyRuling(retracted, buildRuling({ seq: 5 }))).toBe(retracted)
    expect(applyRuling(retracted, buildRuling({ seq: 7, status: 'ratified' }))).toBe(retracted)
  })
})

describe('clusters must change', () => {
  test('only when a decision changes their constraint', () => {
    expect(addReview(proposedMatch, 'confirm').owes).toBe(1)
    expect(addReview(proposedMatch, 'defer').owes).toBe(0)
    const ratified = { ...applyRuling(proposedMatch, buildRuling({})), owes: 0 as const }
    expect(addReview(ratified, 'confirm').owes).toBe(0)
    expect(addReview(ratified, 'reject').owes).toBe(1)
    expect([deriveConstraint(ratified), deriveConstraint(proposedMatch)]).toEqual(['same', undefined])
  })
})

describe('reviews', () => {
  test('are stored in order, and a repeat of the last one changes nothing', () => {
    const twice = addReview(addReview(proposedMatch, 'confirm', 'rev_a'), 'reject', 'rev_b')
    expect(twice.reviews.map(({ seq, decision }) => [seq, decision])).toEqual([
      [1, 'confirm'],
      [2, 'reject'],
    ])
    expect(addReview(twice, 'confirm', 'rev_a')).toBe(twice)
    const conflicting = addAssessment(twice, {
      list: 'reviews',
      assessment: { id: 'rev_a', by: 'ann', at: timeAt(1), decision: 'defer' },
    })
    expect(isRefusal(conflicting) && conflicting.code).toBe('idempotency_mismatch')
  })

  test('have a limit', () => {
    let full = proposedMatch
    for (let count = 0; count < 1_000; count++) full = addReview(full, count % 2 ? 'confirm' : 'reject')
    const refused = addAssessment(full, {
      list: 'reviews',
      assessment: { id: 'x', by: 'ann', at: timeAt(1), decision: 'confirm' },
    })
    expect(isRefusal(refused) && refused.code).toBe('wrong_state')
    expect(deriveDecision(full)).toEqual({ state: 'confirmed', decided_by: 'human' })
  })
})
