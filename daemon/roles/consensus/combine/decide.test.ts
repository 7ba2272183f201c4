// Checks the decision against the policy: quorum, then conflict, then score, each at the edge of its threshold.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildOpinions, combinationMethods, shuffledLists } from '../../../../test/support/consensus/opinions.ts'
import { quorumPolicy } from '../../../shared/quorum-policy/quorum-policy.ts'
import { decide } from './decide.ts'

const policy = (fields: object) => quorumPolicy.parse({ m: 2, n: 3, ...fields })
const byDempsterShafer = { combination_method: 'dempster_shafer' }

test('fewer than m distinct contributors: PENDING_QUORUM, however clear or contrary', () => {
  expect(decide(policy({}), buildOpinions([1])).state).toBe('PENDING_QUORUM')
  expect(decide(policy({ m: 3, ...byDempsterShafer }), buildOpinions([1], [0])).state).toBe('PENDING_QUORUM')
  const twice = buildOpinions([1], [1]).map((opinion) => ({ ...opinion, contributor_id: 'same' }))
  expect(decide(policy({}), twice).state).toBe('PENDING_QUORUM')
})

test('given a session of 2 of 3, when two agree, it is RATIFIED', () => {
  expect(decide(policy({}), buildOpinions([0.9], [0.95]))).toMatchObject({ state: 'RATIFIED', decision: 'match' })
  expect(decide(policy({}), buildOpinions([0.1], [0.05]))).toMatchObject({ state: 'RATIFIED', decision: 'non_match' })
})

test('when two are undecided, it waits for the third, and is inconclusive with it', () => {
  expect(decide(policy({}), buildOpinions([0.6], [0.7])).state).toBe('PENDING_QUORUM')
  const full = decide(policy({}), buildOpinions([0.6], [0.7], [0.65]))
  expect(full).toMatchObject({ state: 'IN_CONFLICT', reason: 'inconclusive' })
})

test('conflict comes before the score', () => {
  const divided = decide(policy({ conflict_threshold: 0.2 }), buildOpinions([1], [0.8], [0.6]))
  expect(divided).toMatchObject({ state: 'IN_CONFLICT', reason: 'conflict' })
})

test('total conflict comes before the thresholds', () => {
  const torn = decide(policy(byDempsterShafer), buildOpinions([1], [0]))
  expect(torn).toMatchObject({ state: 'IN_CONFLICT', reason: 'total_conflict', combination: { score: null, K: 1 } })
  const tolerant = decide(policy({ ...byDempsterShafer, conflict_threshold: 1 }), buildOpinions([1], [1], [0]))
  expect(tolerant).toMatchObject({ reason: 'total_conflict' })
})

test('with all weights zero the session is undecided, and inconclusive once all have answered', () => {
  expect(decide(policy({}), buildOpinions([1, 0], [1, 0])).state).toBe('PENDING_QUORUM')
  expect(decide(policy({}), buildOpinions([1, 0], [1, 0], [1, 0]))).toMatchObject({ reason: 'inconclusive' })
})

describe('a threshold is met to within 1e-12', () => {
  const stateOf = (fields: object, score: number) =>
    decide(policy({ m: 1, n: 1, ...fields }), buildOpinions([score])).state
  test.for([
    { score: 0.8, state: 'RATIFIED' },
    { score: 0.8 - 5e-13, state: 'RATIFIED' },
    { score: 0.8 - 2e-12, state: 'IN_CONFLICT' },
    { score: 0.2, state: 'RATIFIED' },
    { score: 0.2 + 5e-13, state: 'RATIFIED' },
    { score: 0.2 + 2e-12, state: 'IN_CONFLICT' },
  ])('score $score: $state', ({ score, state }) => expect(stateOf({}, score)).toBe(state))

  test('the conflict of two groups of five at .9 and .1 meets .8, whatever the last bit', () => {
    const opinions = buildOpinions(...Array.from({ length: 10 }, (_, at) => [at < 5 ? 0.1 : 0.9] as const))
    expect(decide(policy({ n: 11, conflict_threshold: 0.8 }), opinions)).toMatchObject({ reason: 'conflict' })
    expect(decide(policy({ n: 11, conflict_threshold: 0.81 }), opinions).state).toBe('PENDING_QUORUM')
  })
})

test('the order of arrival changes neither decision nor bit', () => {
  const thresholds = fc.record({ m: fc.integer({ min: 1, max: 6 }), conflict_threshold: fc.constantFrom(0.1, 0.5, 1) })
  fc.assert(
    fc.property(combinationMethods, thresholds, shuffledLists(), (combination_method, fields, [list, shuffled]) => {
      const rules = quorumPolicy.parse({ ...fields, n: 24, combination_method })
      expect(decide(rules, shuffled)).toStrictEqual(decide(rules, list))
    }),
  )
})
