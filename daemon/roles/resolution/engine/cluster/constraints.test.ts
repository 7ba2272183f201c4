// What people decided holds, in whatever order they said it, and nothing else changes.
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
  .chain((given) =>
    fc
      .array(fc.integer({ min: -2, max: 8 }), { minLength: given.length, maxLength: given.length })
      .map((above) => createPairs(given.map(([a, b], at) => [a, b, above[at] ?? 0]))),
  )
const decisions = fc.array(
  fc.record({ pair: fc.constantFrom(...allPairs), is: fc.constantFrom('same' as const, 'different' as const) }),
  { maxLength: 12 },
)
const worlds = fc.record({ pairs: scoredPairs, decisions }).map(({ pairs, decisions: made }) => ({
  pairs,
  clusters: clusterByAverageLink(rows, pairs, 2),
  constraints: made.map(({ pair: [a, b], is }) => ({ a, b, is })),
}))

describe('whatever is decided', () => {
  test('no rejected pair is together, and every confirmed one is unless a reject forbids it', () => {
    fc.assert(
      fc.property(worlds, ({ pairs, clusters, constraints }) => {
        const { clusters: found, overruled } = applyConstraints(clusters, pairs, constraints)
        for (const { a, b, is } of constraints) {
          if (is === 'different') expect(found[a]).not.toBe(found[b])
          else if (found[a] !== found[b]) {
            expect(overruled).toContainEqual(mustLink(a, b))
            const isForbidden = constraints.some(
              (each) =>
                each.is === 'different' &&
                ((found[each.a] === found[a] && found[each.b] === found[b]) ||
                  (found[each.a] === found[b] && found[each.b] === found[a])),
            )
            expect(isForbidden).toBe(true)
          }
        }
        for (const cluster of found) expect(found[cluster]).toBe(cluster)
      }),
      { numRuns: 500 },
    )
  })

  test('the order in which it is said changes nothing, nor which row of a pair comes first, nor saying it twice', () => {
    const mixed = worlds.chain((world) =>
      fc.record({
        world: fc.constant(world),
        order: fc.shuffledSubarray(world.constraints, { minLength: world.constraints.length }),
        turned: fc.boolean(),
      }),
    )
    fc.assert(
      fc.property(mixed, ({ world: { pairs, clusters, constraints }, order, turned }) => {
        const again = order.map(({ a, b, is }) => (turned ? { a: b, b: a, is } : { a, b, is }))
        expect(applyConstraints(clusters, pairs, [...again, ...order])).toEqual(
          applyConstraints(clusters, pairs, constraints),
        )
      }),
      { numRuns: 300 },
    )
  })

  test('nothing decided changes nothing, and clusters without a decision stay', () => {
    fc.assert(
      fc.property(worlds, ({ pairs, clusters, constraints }) => {
        expect(applyConstraints(clusters, pairs, []).clusters).toEqual(clusters)
        const { clusters: found } = applyConstraints(clusters, pairs, constraints)
        const touched = new Set(constraints.flatMap(({ a, b }) => [clusters[a], clusters[b]]))
        for (const [row, cluster] of clusters.entries()) if (!touched.has(cluster)) expect(found[row]).toBe(cluster)
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
  const one = Int32Array.of(0, 0, 0, 0, 0)

  test('is split by a reject, and each other row goes where it is nearer', () => {
    expect([...applyConstraints(one, star, [cannotLink(0, 4)]).clusters]).toEqual([0, 0, 0, 3, 3])
    expect([...applyConstraints(one, star, [cannotLink(2, 3)]).clusters]).toEqual([0, 0, 0, 3, 3])
  })

  test('is split in three by rejects among three', () => {
    const { clusters } = applyConstraints(one, star, [cannotLink(0, 3), cannotLink(3, 4), cannotLink(0, 4)])
    expect([...clusters]).toEqual([0, 0, 0, 3, 4])
  })

  test('keeps a confirmed pair together through a split', () => {
    expect([...applyConstraints(one, star, [cannotLink(0, 4), mustLink(0, 3)]).clusters]).toEqual([0, 0, 0, 0, 4])
  })
})

describe('two clusters', () => {
  const pairs = createPairs([
    [0, 1, 8],
    [2, 3, 8],
  ])
  const two = Int32Array.of(0, 0, 2, 2, 4)

  test('become one by a confirmed pair, with all their rows', () => {
    expect([...applyConstraints(two, pairs, [mustLink(1, 2)]).clusters]).toEqual([0, 0, 0, 0, 4])
  })

  test('stay as they are by a reject between them', () => {
    expect([...applyConstraints(two, pairs, [cannotLink(0, 3)]).clusters]).toEqual([0, 0, 2, 2, 4])
  })

  test('are joined by what is confirmed and kept apart by what is rejected: the reject wins, and it is told', () => {
    const { clusters, overruled } = applyConstraints(two, pairs, [mustLink(0, 1), mustLink(1, 2), cannotLink(0, 2)])
    expect(clusters[0]).not.toBe(clusters[2])
    expect([...clusters]).toEqual([0, 0, 2, 2, 4])
    expect(overruled).toEqual([mustLink(1, 2)])
  })

  test('of which a rejected pair is confirmed too stay apart', () => {
    const { clusters, overruled } = applyConstraints(two, pairs, [mustLink(1, 2), cannotLink(1, 2)])
    expect(overruled).toEqual([mustLink(1, 2)])
    expect([...clusters]).toEqual([0, 0, 2, 2, 4])
  })
})

test('a decision about a record and itself is no decision', () => {
  expect(() => applyConstraints(Int32Array.of(0), createPairs([]), [mustLink(0, 0)])).toThrow(RangeError)
})

test('a cluster of two thousand rows is split without looking at all pairs again for every join', () => {
  const count = 2_000
  const links = Array.from({ length: count * 20 }, (_, at) => {
    const a = at % count
    return [a, (a + 1 + (at % 37)) % count, 1 + (at % 7)] as const
  })
  const pairs = createPairs(links.map(([a, b, above]) => [Math.min(a, b), Math.max(a, b), above]))
  const { clusters } = applyConstraints(new Int32Array(count), pairs, [cannotLink(3, 1_000)])
  expect(clusters[3]).not.toBe(clusters[1_000])
})
