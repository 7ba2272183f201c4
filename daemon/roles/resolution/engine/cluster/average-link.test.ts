// Chains of nearest neighbours give the same clusters as joining the best two repeatedly.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clusterByAverageLink } from './average-link.ts'
import type { WeightedPairs } from './disjoint-sets.ts'

/** The definition: joins the two clusters with the highest mean until no mean is high enough. */
function clusterByDefinition(rows: number, { lefts, rights, above }: WeightedPairs, need: number): number[] {
  const scores = new Map<string, number>()
  for (const [pair, left] of lefts.entries()) scores.set(`${left} ${rights[pair]}`, Math.max(0, above[pair] ?? 0))
  const scoreOf = (a: number, b: number) => scores.get(`${Math.min(a, b)} ${Math.max(a, b)}`) ?? 0
  const clusters = Array.from({ length: rows }, (_, row) => [row])
  for (;;) {
    let best = { mean: need, left: -1, right: -1 }
    for (const [left, leftRows] of clusters.entries()) {
      for (const [right, rightRows] of clusters.entries()) {
        if (right <= left) continue
        const scored = leftRows.flatMap((a) => rightRows.map((b) => scoreOf(a, b)))
        const mean = scored.reduce((sum, score) => sum + score, 0) / scored.length
        if (mean > best.mean) best = { mean, left, right }
      }
    }
    if (best.left < 0) break
    clusters[best.left]?.push(...(clusters[best.right] ?? []))
    clusters.splice(best.right, 1)
  }
  const lowest = new Array<number>(rows).fill(0)
  for (const members of clusters) for (const row of members) lowest[row] = Math.min(...members)
  return lowest
}

const rows = 9
const allPairs = Array.from({ length: rows }, (_, a) =>
  Array.from({ length: rows - a - 1 }, (_, at) => [a, a + at + 1] as const),
).flat()

function createPairs(rowPairs: readonly (readonly [number, number])[], above: readonly number[]): WeightedPairs {
  return {
    lefts: Int32Array.from(rowPairs, ([left]) => left),
    rights: Int32Array.from(rowPairs, ([, right]) => right),
    above: Float64Array.from(above),
  }
}

test('gives the clusters of the definition if no two means are equal', () => {
  const scored = fc
    .shuffledSubarray(allPairs)
    .chain((rowPairs) =>
      fc
        .array(fc.double({ min: -1, max: 8, noNaN: true }), { minLength: rowPairs.length, maxLength: rowPairs.length })
        .map((above) => ({ rowPairs, above })),
    )
  fc.assert(
    fc.property(scored, fc.double({ min: 0.1, max: 4, noNaN: true }), ({ rowPairs, above }, need) => {
      fc.pre(new Set(above.filter((score) => score > 0)).size === above.filter((score) => score > 0).length)
      const pairs = createPairs(rowPairs, above)
      expect([...clusterByAverageLink(rows, pairs, need)]).toEqual(clusterByDefinition(rows, pairs, need))
    }),
    { numRuns: 300 },
  )
})

test('a chain of good pairs is split if its ends have nothing in common', () => {
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

test('among equal means the lower rows are joined', () => {
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

test('a list that outgrows its capacity is moved without loss', () => {
  const star = allPairs.filter(([a]) => a < 4)
  const pairs = createPairs(
    star,
    star.map(() => 8),
  )
  expect([...clusterByAverageLink(rows, pairs, 2)]).toEqual(clusterByDefinition(rows, pairs, 2))
})
