// Decisions hold in any order, and nothing else changes.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clusterByAverageLink } from './average-link.ts'
import { applyConstraints, type PairConstraint } from './constraints.ts'
import type { WeightedPairs } from './disjoint-sets.ts'

const rows = 8
const allPairs = Array.from({ length: rows }, (_, a) =>
  Array.from({ length: rows - a - 1 }, (_, at) => [a, a + at + 1] as const),
).flat()

function createPairs(scored: readonly (readonly [a: number, b: number, above: number])[]): WeightedPairs {
  return {
    lefts: Int32Array.from(scored, ([a]) => a),
    rights: Int32Array.from(scored, ([, b]) => b),
    above: Float64Array.from(scored, ([, , above]) => above),
  }
}

const mustLink = (a: number, b: number): PairConstraint => ({ a, b, is: 'same' })
const cannotLink = (a: number, b: number): PairConstraint => ({ a, b, is: 'different' })

const scoredPairs = fc
  .shuffledSubarray(allPairs)
  .chain((rowPairs) =>
    fc
      .array(fc.integer({ min: -2, max: 8 }), { minLength: rowPairs.length, maxLength: rowPairs.length })
      .map((above) => createPairs(rowPairs.map(([a, b], at) => [a, b, above[at] ?? 0]))),
  )
const decisions = fc.array(
  fc.record({ pair: fc.constantFrom(...allPairs), is: fc.constantFrom('same' as const, 'different' as const) }),
  { maxLength: 12 },
)
const scenarios = fc.record({ pairs: scoredPairs, decisions }).map(({ pairs, decisions: pairDecisions }) => ({
  pairs,
  clusters: clusterByAverageLink(rows, pairs, 2),
  constraints: pairDecisions.map(({ pair: [a, b], is }) => ({ a, b, is })),
}))

describe('for all decisions', () => {
  test('no rejected pair is together, and every confirmed pair is, unless a rejection forbids it', () => {
    fc.assert(
      fc.property(scenarios, ({ pairs, clusters, constraints }) => {
        const { clusters: constrained, overruled } = applyConstraints(clusters, pairs, constraints)
        for (const { a, b, is } of constraints) {
          if (is === 'different') expect(constrained[a]).not.toBe(constrained[b])
          else if (constrained[a] !== constrained[b]) {
            expect(overruled).toContainEqual(mustLink(a, b))
            const isForbidden = constraints.some(
              (other) =>
                other.is === 'different' &&
                ((constrained[other.a] === constrained[a] && constrained[other.b] === constrained[b]) ||
                  (constrained[other.a] === constrained[b] && constrained[other.b] === constrained[a])),
            )
            expect(isForbidden).toBe(true)
          }
        }
        for (const cluster of constrained) expect(constrained[cluster]).toBe(cluster)
      }),
      { numRuns: 500 },
    )
  })

  test('neither the order of decisions, nor the order of the rows of a pair, nor a repetition changes anything', () => {
    const shuffledScenarios = scenarios.chain((scenario) =>
      fc.record({
        scenario: fc.constant(scenario),
        order: fc.shuffledSubarray(scenario.constraints, { minLength: scenario.constraints.length }),
        isReversed: fc.boolean(),
      }),
    )
    fc.assert(
      fc.property(shuffledScenarios, ({ scenario: { pairs, clusters, constraints }, order, isReversed }) => {
        const repeated = order.map(({ a, b, is }) => (isReversed ? { a: b, b: a, is } : { a, b, is }))
        expect(applyConstraints(clusters, pairs, [...repeated, ...order])).toEqual(
          applyConstraints(clusters, pairs, constraints),
        )
      }),
      { numRuns: 300 },
    )
  })

  test('without decisions nothing changes, and clusters without a decision stay', () => {
    fc.assert(
      fc.property(scenarios, ({ pairs, clusters, constraints }) => {
        expect(applyConstraints(clusters, pairs, []).clusters).toEqual(clusters)
        const { clusters: constrained } = applyConstraints(clusters, pairs, constraints)
        const touched = new Set(constraints.flatMap(({ a, b }) => [clusters[a], clusters[b]]))
        for (const [row, cluster] of clusters.entries())
          if (!touched.has(cluster)) expect(constrained[row]).toBe(cluster)
      }),
    )
  })
})

describe('a cluster of five', () => {
  const star = createPairs([
    [0, 1, 8],
    [0, 2, 8],
    [1, 2, 8],
    [2, 3, 5],
    [3, 4, 8],
    [1, 3, 4],
    [0, 3, 4],
    [2, 4, 4],
  ])
  const single = Int32Array.of(0, 0, 0, 0, 0)

  test('is split by a rejection, and each other row goes to the nearer side', () => {
    expect([...applyConstraints(single, star, [cannotLink(0, 4)]).clusters]).toEqual([0, 0, 0, 3, 3])
    expect([...applyConstraints(single, star, [cannotLink(2, 3)]).clusters]).toEqual([0, 0, 0, 3, 3])
  })

  test('is split in three by rejections among three rows', () => {
    const { clusters } = applyConstraints(single, star, [cannotLink(0, 3), cannotLink(3, 4), cannotLink(0, 4)])
    expect([...clusters]).toEqual([0, 0, 0, 3, 4])
  })

  test('keeps a confirmed pair together through a split', () => {
    expect([...applyConstraints(single, star, [cannotLink(0, 4), mustLink(0, 3)]).clusters]).toEqual([0, 0, 0, 0, 4])
  })
})

describe('two clusters', () => {
  const pairs = createPairs([
    [0, 1, 8],
    [2, 3, 8],
  ])
  const two = Int32Array.of(0, 0, 2, 2, 4)

  test('are joined with all their rows by a confirmed pair', () => {
    expect([...applyConstraints(two, pairs, [mustLink(1, 2)]).clusters]).toEqual([0, 0, 0, 0, 4])
  })

  test('stay unchanged with a rejection between them', () => {
    expect([...applyConstraints(two, pairs, [cannotLink(0, 3)]).clusters]).toEqual([0, 0, 2, 2, 4])
  })

  test('stay apart if a rejection contradicts confirmations, which are reported as overruled', () => {
    const { clusters, overruled } = applyConstraints(two, pairs, [mustLink(0, 1), mustLink(1, 2), cannotLink(0, 2)])
    expect(clusters[0]).not.toBe(clusters[2])
    expect([...clusters]).toEqual([0, 0, 2, 2, 4])
    expect(overruled).toEqual([mustLink(1, 2)])
  })

  test('stay apart if one pair is both rejected and confirmed', () => {
    const { clusters, overruled } = applyConstraints(two, pairs, [mustLink(1, 2), cannotLink(1, 2)])
    expect(overruled).toEqual([mustLink(1, 2)])
    expect([...clusters]).toEqual([0, 0, 2, 2, 4])
  })
})

test('a decision about a record and itself is refused', () => {
  expect(() => applyConstraints(Int32Array.of(0), createPairs([]), [mustLink(0, 0)])).toThrow(RangeError)
})

test('a cluster of two thousand rows is split without rescanning all pairs for every join', () => {
  const count = 2_000
  const links = Array.from({ length: count * 20 }, (_, at) => {
    const a = at % count
    return [a, (a + 1 + (at % 37)) % count, 1 + (at % 7)] as const
  })
  const pairs = createPairs(links.map(([a, b, above]) => [Math.min(a, b), Math.max(a, b), above]))
  const { clusters } = applyConstraints(new Int32Array(count), pairs, [cannotLink(3, 1_000)])
  expect(clusters[3]).not.toBe(clusters[1_000])
})
