// Compares the search for the smallest set with brute force where feasible, and checks its guarantees elsewhere.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildOpinions, combinationMethods, opinionLists } from '../../../../test/support/consensus/opinions.ts'
import { runToEnd } from '../../../kernel/role/run-to-end.ts'
import { quorumPolicy } from '../../../shared/quorum-policy/quorum-policy.ts'
import { type DecisionPolicy, decide } from './decide.ts'
import { compareCanonicallyThenById, type Opinion } from './opinion.ts'
import { searchSmallestSet } from './smallest-set.ts'

const policies = fc
  .record({
    combination_method: combinationMethods,
    m: fc.integer({ min: 1, max: 4 }),
    conflict_threshold: fc.constantFrom(0.1, 0.5),
  })
  .map((fields) => quorumPolicy.parse({ ...fields, n: 1000 }))

const findSmallestSet = (policy: DecisionPolicy, opinions: readonly Opinion[]) =>
  runToEnd(searchSmallestSet(policy, opinions))

/** The size of the smallest set by trying every one; null where none will do. */
function bruteForceSize(policy: DecisionPolicy, opinions: readonly Opinion[]): number | null {
  let best: number | null = null
  for (let mask = 1; mask < 2 ** opinions.length; mask++) {
    const remaining = opinions.filter((_, at) => (mask & (2 ** at)) === 0)
    if (decide(policy, remaining).state !== 'RATIFIED') continue
    best = Math.min(best ?? opinions.length, opinions.length - remaining.length)
  }
  return best
}

function withoutContributors(opinions: readonly Opinion[], ids: readonly string[]): Opinion[] {
  return opinions.filter((opinion) => !ids.includes(opinion.contributor_id))
}

describe('up to 16 contributors', () => {
  test('no smaller set is sufficient', () => {
    fc.assert(
      fc.property(policies, opinionLists(8), (policy, list) => {
        const smallest = findSmallestSet(policy, list.toSorted(compareCanonicallyThenById))
        expect(smallest.exact).toBe(true)
        expect(smallest.contributor_ids?.length ?? null).toBe(bruteForceSize(policy, list))
        if (smallest.contributor_ids === null) return
        const remaining = withoutContributors(list, smallest.contributor_ids)
        expect(remaining.length).toBeGreaterThanOrEqual(policy.m)
        expect(decide(policy, remaining)).toMatchObject({ state: 'RATIFIED', decision: smallest.decision })
      }),
    )
  })

  test('of two sets of equal size the lighter one is found', () => {
    const policy = quorumPolicy.parse({ m: 1, n: 2 })
    const smallest = findSmallestSet(policy, buildOpinions([0.1, 0.9], [0.9, 0.8]))
    expect(smallest).toEqual({ contributor_ids: ['c2'], decision: 'non_match', exact: true })
  })

  test('16 contributors are searched exhaustively, 17 are not', () => {
    const policy = quorumPolicy.parse({ m: 10, n: 20 })
    const list = buildOpinions(...Array.from({ length: 17 }, (_, at) => [at < 5 ? 0.1 : 0.95] as const))
    expect(findSmallestSet(policy, list.slice(0, 16)).exact).toBe(true)
    expect(findSmallestSet(policy, list).exact).toBe(false)
  })
})

describe('beyond', () => {
  const many = fc
    .array(fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 100 })), {
      minLength: 17,
      maxLength: 40,
    })
    .map((list) =>
      buildOpinions(...list.map(([s, a]) => [s / 100, a / 100] as const)).toSorted(compareCanonicallyThenById),
    )

  test('the set leads to a ratification, leaves m contributors, and has no unnecessary member', () => {
    fc.assert(
      fc.property(policies, many, (policy, list) => {
        const { contributor_ids, decision, exact } = findSmallestSet(policy, list)
        expect(exact).toBe(false)
        if (contributor_ids === null) return
        const remaining = withoutContributors(list, contributor_ids)
        expect(remaining.length).toBeGreaterThanOrEqual(policy.m)
        expect(decide(policy, remaining)).toMatchObject({ state: 'RATIFIED', decision })
        if (contributor_ids.length === 1) return
        for (const id of contributor_ids) {
          const withMember = withoutContributors(
            list,
            contributor_ids.filter((other) => other !== id),
          )
          expect(decide(policy, withMember).state).not.toBe('RATIFIED')
        }
      }),
    )
  })

  test('a member that another put back makes unnecessary is put back, too', () => {
    const policy = quorumPolicy.parse({ m: 1, n: 1_000, ratify_threshold: 0.8, conflict_threshold: 0.1 })
    const weighted = [
      ...[0.01, 0.07, 0.16].map((accuracy) => [0, accuracy] as const),
      ...([
        [0.1, 0.01],
        [0.11, 0.15],
        [0.14, 0.02],
      ] as const),
    ]
    const list = buildOpinions(...Array.from({ length: 11 }, () => [0, 0] as const), ...weighted)
    const { contributor_ids } = findSmallestSet(policy, list.toSorted(compareCanonicallyThenById))
    expect(contributor_ids).not.toBeNull()
    for (const id of contributor_ids ?? []) {
      const others = contributor_ids?.filter((other) => other !== id) ?? []
      if (others.length > 0) expect(decide(policy, withoutContributors(list, others)).state).not.toBe('RATIFIED')
    }
  })

  test('the whole minority of 40 is found', () => {
    const policy = quorumPolicy.parse({ m: 20, n: 40, conflict_threshold: 0.05 })
    const list = buildOpinions(...Array.from({ length: 40 }, (_, at) => [at < 7 ? 0.1 : 0.9] as const))
    expect(findSmallestSet(policy, list).contributor_ids).toEqual(['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7'])
  })
})
