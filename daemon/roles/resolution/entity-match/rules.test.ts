// People before consensus, consensus before the engine; nothing that was said is ever lost.
import { describe, expect, test } from 'vitest'
import { isRefused } from '../../../kernel/errors.ts'
import type { Ruling, StoredMatch } from './model.ts'
import { constraintOf, ruled, said, standingOf } from './rules.ts'

const at = (minute: number) => `2026-03-02T12:${String(minute).padStart(2, '0')}:00.000Z`

const match: StoredMatch = {
  tenant_id: 'tenant-a',
  label: { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'tenant-a' },
  ...{ lens: 'people', lens_id: 'lens_1', lens_version: '1.0.0', entity_type: 'person', run_id: 'run_1' },
  left: { node_id: 'n', record_id: 'a' },
  right: { node_id: 'n', record_id: 'b' },
  ...{ score: { bits: 1 }, linked: true, levels: [], state: 'proposed', decided_by: 'engine' },
  ...{ reviews: [], attestations: [], rulings: [], created_at: at(0), updated_at: at(0) },
  ...{ rank: 1, above: 1, left_uid: 'rec_a', right_uid: 'rec_b', worth: 1, owes: 0, asks: 0 },
}

type Said = 'confirm' | 'reject' | 'defer'
let last = 0
function reviewed(current: StoredMatch, decision: Said, id = `rev_${++last}`): StoredMatch {
  const next = said(current, { of: 'reviews', word: { id, by: 'ann', at: at(last % 60), decision } })
  if (isRefused(next)) throw next
  return next
}
const ruling = (more: Partial<Ruling>): Ruling => ({
  ...{ session_id: 'ses_1', seq: 5, status: 'ratified', decision: 'match', at: at(5) },
  ...more,
})
const standing = ({ state, decided_by }: StoredMatch) => `${state} by ${decided_by}`

describe('who decides', () => {
  test('is the engine, until consensus rules, until a person speaks; and back again', () => {
    expect(standing(match)).toBe('proposed by engine')
    const agreed = ruled(match, ruling({}))
    expect(standing(agreed)).toBe('confirmed by consensus')
    const rejected = reviewed(agreed, 'reject')
    expect(standing(rejected)).toBe('rejected by human')
    expect(standing(ruled(rejected, ruling({ session_id: 'ses_2', at: at(9) })))).toBe('rejected by human')
    expect(standing(reviewed(rejected, 'defer'))).toBe('confirmed by consensus')
    const retracted = ruled(reviewed(rejected, 'defer'), ruling({ seq: 7, status: 'retracted', at: at(8) }))
    expect(standing(retracted)).toBe('deferred by human')
    expect(standing(ruled(agreed, ruling({ seq: 7, status: 'retracted' })))).toBe('proposed by engine')
  })

  test('of several sessions is the one that ruled last, and the one before when that is retracted', () => {
    const both = ruled(ruled(match, ruling({})), ruling({ session_id: 'ses_2', decision: 'non_match', at: at(9) }))
    expect(standing(both)).toBe('rejected by consensus')
    const back = ruled(both, ruling({ session_id: 'ses_2', seq: 8, status: 'retracted', at: at(10) }))
    expect(standing(back)).toBe('confirmed by consensus')
  })

  test('of two sessions that ruled at one time is the same whichever was heard first', () => {
    const [one, other] = [ruling({ session_id: 'a' }), ruling({ session_id: 'b', decision: 'non_match' })]
    expect(standing(ruled(ruled(match, one), other))).toBe(standing(ruled(ruled(match, other), one)))
  })
})

describe('an older word of a session', () => {
  test('changes nothing: what it took back stays so', () => {
    const retracted = ruled(match, ruling({ seq: 7, status: 'retracted' }))
    expect(ruled(retracted, ruling({ seq: 5 }))).toBe(retracted)
    expect(ruled(retracted, ruling({ seq: 7, status: 'ratified' }))).toBe(retracted)
  })
})

describe('clusters are owed', () => {
  test('when a decision asks something else of them than before, and not by words that change nothing', () => {
    expect(reviewed(match, 'confirm').owes).toBe(1)
    expect(reviewed(match, 'defer').owes).toBe(0)
    const agreed = { ...ruled(match, ruling({})), owes: 0 as const }
    expect(reviewed(agreed, 'confirm').owes).toBe(0)
    expect(reviewed(agreed, 'reject').owes).toBe(1)
    expect([constraintOf(agreed), constraintOf(match)]).toEqual(['same', undefined])
  })
})

describe('words of people', () => {
  test('are kept in their order, and the same one again is the same', () => {
    const twice = reviewed(reviewed(match, 'confirm', 'rev_a'), 'reject', 'rev_b')
    expect(twice.reviews.map(({ seq, decision }) => [seq, decision])).toEqual([
      [1, 'confirm'],
      [2, 'reject'],
    ])
    expect(reviewed(twice, 'confirm', 'rev_a')).toBe(twice)
    const other = said(twice, { of: 'reviews', word: { id: 'rev_a', by: 'ann', at: at(1), decision: 'defer' } })
    expect(isRefused(other) && other.code).toBe('idempotency_mismatch')
  })

  test('have an end', () => {
    let full = match
    for (let word = 0; word < 1_000; word++) full = reviewed(full, word % 2 ? 'confirm' : 'reject')
    const more = said(full, { of: 'reviews', word: { id: 'x', by: 'ann', at: at(1), decision: 'confirm' } })
    expect(isRefused(more) && more.code).toBe('wrong_state')
    expect(standingOf(full)).toEqual({ state: 'confirmed', decided_by: 'human' })
  })
})
