// Compares the body of a dissent with a worked case, and checks the properties of every one.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildDissent } from '../../../../test/support/consensus/build-dissent.ts'
import { buildOpinions, combinationMethods, shuffledLists } from '../../../../test/support/consensus/opinions.ts'
import { runToEnd } from '../../../kernel/role/run-to-end.ts'
import { type QuorumPolicy, quorumPolicy } from '../../../shared/quorum-policy/quorum-policy.ts'
import { combine } from './combine.ts'
import { decide } from './decide.ts'
import { analyseConflict, describeConflict, dissentBody } from './dissent.ts'
import { findDissentFaults } from './dissent-faults.ts'
import { compareCanonicallyThenById, type Opinion } from './opinion.ts'
import { searchSmallestSet } from './smallest-set.ts'

function dissentOf(policy: QuorumPolicy, opinions: readonly Opinion[]) {
  const decision = decide(policy, opinions)
  const reason = decision.state === 'IN_CONFLICT' ? decision.reason : 'inconclusive'
  return buildDissent(policy, opinions, { reason, combination: decision.combination })
}

test('a contributor with the name of a peer’s tenant is named apart, and the record follows from itself', async () => {
  const policy = quorumPolicy.parse({ m: 2, n: 4, conflict_threshold: 0.4 })
  const [first, peer, other] = buildOpinions([0.1], [1], [0.9])
  if (!first || !peer || !other) throw new Error('three opinions')
  const opinions: Opinion[] = [
    { ...first, contributor_id: 'tenant-b' },
    { ...peer, contributor_id: 'tenant-b', source: 'peer' },
    { ...other, contributor_id: 'tenant-b (local)' },
  ]
  const body = dissentOf(policy, opinions)
  expect(body.positions.map(({ contributor_id, pair_score }) => [contributor_id, pair_score])).toEqual([
    ['tenant-b (local) (local)', 0.1],
    ['tenant-b (local)', 0.9],
    ['tenant-b', 1],
  ])
  expect(body.camps.non_match.contributor_ids).toEqual(['tenant-b (local) (local)'])
  const analyse = async (...conflict: Parameters<typeof analyseConflict>) => runToEnd(analyseConflict(...conflict))
  expect(await findDissentFaults(policy, body, analyse)).toEqual([])
})

test('two for, one against, one undecided', () => {
  const policy = quorumPolicy.parse({ m: 2, n: 4, conflict_threshold: 0.4 })
  const body = dissentOf(policy, buildOpinions([0.9, 1], [1, 0.5], [0, 1], [0.5, 0.5]))
  expect(body).toMatchObject({ reason: 'conflict', method: 'weighted_average', total_weight: 3 })
  expect(body.score).toBeCloseTo(1.65 / 3, 12)
  expect(body.thresholds).toEqual({ ratify_threshold: 0.8, conflict_threshold: 0.4 })
  expect(body.quorum).toEqual({ m: 2, n: 4, contributors: 4 })
  expect(body.positions.map(({ contributor_id, leaning }) => [contributor_id, leaning])).toEqual([
    ['c3', 'non_match'],
    ['c4', 'neutral'],
    ['c1', 'match'],
    ['c2', 'match'],
  ])
  expect(body.positions[0]?.deviation).toBeCloseTo(-0.55, 12)
  expect(body.camps.match.contributor_ids).toEqual(['c1', 'c2'])
  expect(body.camps.match.total_weight).toBe(1.5)
  expect(body.camps.match.mean_score).toBeCloseTo(1.4 / 1.5, 12)
  expect(body.camps.non_match).toEqual({ contributor_ids: ['c3'], total_weight: 1, mean_score: 0 })
  expect(body.most_divergent_pair).toMatchObject({
    low: { contributor_id: 'c3' },
    high: { contributor_id: 'c2' },
    difference: 1,
  })
  expect(body.influence[0]).toMatchObject({ contributor_id: 'c3', score_without: 0.825 })
  expect(body.smallest_set).toEqual({ contributor_ids: ['c3'], decision: 'match', exact: true })
})

test('leave-one-out equals the result of the others to the bit; the body fits its schema; order does not matter', () => {
  fc.assert(
    fc.property(combinationMethods, shuffledLists(7), (combination_method, [list, shuffled]) => {
      const policy = quorumPolicy.parse({ m: 2, n: 24, combination_method, conflict_threshold: 0.2 })
      const body = dissentOf(policy, list)
      expect(dissentBody.parse(body)).toEqual(body)
      expect(dissentOf(policy, shuffled)).toStrictEqual(body)
      for (const { contributor_id, score_without, conflict_without } of body.influence) {
        const others = list.filter((opinion) => opinion.contributor_id !== contributor_id)
        expect(combine(combination_method, others)).toMatchObject({ score: score_without, conflict: conflict_without })
      }
    }),
  )
})

test('total conflict has no score and no deviation, and names its cause', () => {
  const policy = quorumPolicy.parse({ m: 2, n: 3, combination_method: 'dempster_shafer' })
  const body = dissentOf(policy, buildOpinions([1], [0], [0.9]))
  expect(body).toMatchObject({ reason: 'total_conflict', score: null, belief: null, plausibility: null, K: 1 })
  expect(body.positions.every(({ deviation }) => deviation === null)).toBe(true)
  expect(body.influence.map(({ score_change }) => score_change)).toEqual([null, null, null])
  expect(body.smallest_set).toEqual({ contributor_ids: ['c2'], decision: 'match', exact: true })
})

test('a deadline without contributions gives a dissent without positions', () => {
  const body = dissentOf(quorumPolicy.parse({ m: 2, n: 3 }), [])
  expect(dissentBody.parse(body)).toMatchObject({
    reason: 'inconclusive',
    score: null,
    positions: [],
    most_divergent_pair: null,
    smallest_set: { contributor_ids: null, decision: null, exact: true },
  })
})

test('the heaviest opinion represents its end; opinions without weight represent none', () => {
  const policy = quorumPolicy.parse({ m: 2, n: 5 })
  const body = dissentOf(policy, buildOpinions([0, 0], [0.2, 0.3], [0.2, 0.6], [0.7, 0.4], [1, 0]))
  expect(body.most_divergent_pair).toMatchObject({ low: { contributor_id: 'c3' }, high: { contributor_id: 'c4' } })
})

test.for(['weighted_average', 'dempster_shafer'] as const)('%s: a thousand contributors are analysed', (method) => {
  const policy = quorumPolicy.parse({ m: 2, n: 1000, combination_method: method, ratify_threshold: 1 })
  const list = buildOpinions(...Array.from({ length: 1000 }, (_, at) => [((at * 7919) % 1000) / 1000, 0.5] as const))
  const body = dissentOf(policy, list)
  expect(dissentBody.parse(body).influence).toHaveLength(1000)
  expect(body.smallest_set.exact).toBe(false)
})

test.for(['weighted_average', 'dempster_shafer'] as const)(
  '%s: other work can continue after each result without a contributor',
  (combination_method) => {
    const policy = quorumPolicy.parse({ m: 2, n: 200, combination_method, ratify_threshold: 1 })
    const list = buildOpinions(...Array.from({ length: 200 }, (_, at) => [at / 200, 0.5] as const))
    const sorted = list.toSorted(compareCanonicallyThenById)
    const cause = { reason: 'inconclusive', combination: decide(policy, list).combination } as const
    const steps = [...analyseConflict(policy, describeConflict(policy, sorted, cause))]
    expect(steps.length).toBeGreaterThan(200)
  },
)

test('the search through all sets of 16 lets other work continue', () => {
  const policy = quorumPolicy.parse({ m: 1, n: 16 })
  const list = buildOpinions(...Array.from({ length: 16 }, () => [0.5] as const))
  expect([...searchSmallestSet(policy, list)].length).toBeGreaterThan(50)
})
