// Chains of nearest neighbours find what joining the best two again and again finds.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clusterByAverageLink } from './average-link.ts'
import type { WeightedPairs } from './disjoint-sets.ts'

/** The definition: all means of all clusters, the highest is joined, until none is high enough. */
function clusterByDefinition(rows: number, { lefts, rights, above }: WeightedPairs, need: number): number[] {
  const scores = new Map<string, number>()
  for (const [pair, left] of lefts.entries()) scores.set(`${left} ${rights[pair]}`, Math.max(0, above[pair] ?? 0))
  const scoreOf = (a: number, b: number) => scores.get(`${Math.min(a, b)} ${Math.max(a, b)}`) ?? 0
  const clusters = Array.from({ length: rows }, (_, row) => [row])
  for (;;) {
    let best = { mean: need, one: -1, other: -1 }
    for (const [one, mine] of clusters.entries()) {
      for (const [other, theirs] of clusters.entries()) {
        if (other <= one) continue
        const sum = mine.flatMap((a) => theirs.map((b) => scoreOf(a, b))).reduce((all, each) => all + each, 0)
        const mean = sum / (mine.length * theirs.length)
        if (mean > best.mean) best = { mean, one, other }
      }
    }
    if (best.one < 0) break
    clusters[best.one]?.push(...(clusters[best.other] ?? []))
    clusters.splice(best.other, 1)
  }
  const found = new Array<number>(rows).fill(0)
  for (const members of clusters) for (const row of members) found[row] = Math.min(...members)
  return found
}

const rows = 9
const allPairs = Array.from({ length: rows }, (_, a) =>
  Array.from({ length: rows - a - 1 }, (_, at) => [a, a + at + 1] as const),
).flat()

function createPairs(given: readonly (readonly [number, number])[], above: readonly number[]): WeightedPairs {
  return {
    lefts: Int32Array.from(given, ([left]) => left),
    rights: Int32Array.from(given, ([, right]) => right),
    above: Float64Array.from(above),
  }
}

test('finds what its definition finds, where no two means are equal', () => {
  const scored = fc
    .shuffledSubarray(allPairs)
    .chain((given) =>
      fc
        .array(fc.double({ min: -1, max: 8, noNaN: true }), { minLength: given.length, maxLength: given.length })
        .map((above) => ({ given, above })),
    )
  fc.assert(
    fc.property(scored, fc.double({ min: 0.1, max: 4, noNaN: true }), ({ given, above }, need) => {
      fc.pre(new Set(above.filter((each) => each > 0)).size === above.filter((each) => each > 0).length)
      const pairs = createPairs(given, above)
      expect([...clusterByAverageLink(rows, pairs, need)]).toEqual(clusterByDefinition(rows, pairs, need))
    }),
    { numRuns: 300 },
  )
})

test('a chain of good pairs is no cluster where its ends have nothing in common', () => {
  const chain = createPairs(
    [
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
    ],
    [8, 7, 8, 7],
  )
  expect([...clusterByAverageLink(5, chain, 4)]).toEqual([0, 0, 2, 2, 4])
})

test('of equal means the lower rows are joined', () => {
  expect([
    ...clusterByAverageLink(
      3,
      createPairs(
        [
          [0, 1],
          [1, 2],
        ],
        [8, 8],
      ),
      5,
    ),
  ]).toEqual([0, 0, 2])
})

test('a list that outgrows its room is moved, and nothing of it is lost', () => {
  const star = allPairs.filter(([a]) => a < 4)
  const pairs = createPairs(
    star,
    star.map(() => 8),
  )
  expect([...clusterByAverageLink(rows, pairs, 2)]).toEqual(clusterByDefinition(rows, pairs, 2))
})
