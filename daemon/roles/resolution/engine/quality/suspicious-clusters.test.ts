// Very large, sparse and chained clusters are named; sound ones are not.
import { expect, test } from 'vitest'
import type { ScoredResult } from './heights.ts'
import { findSuspiciousClusters } from './suspicious-clusters.ts'

type ScoredPair = readonly [left: number, right: number, score: number]

/** A result whose clusters are these lists of rows. */
function buildResult(clusters: readonly (readonly number[])[], pairs: readonly ScoredPair[]): ScoredResult {
  const rows = clusters.flat().length
  const named = new Int32Array(rows)
  for (const cluster of clusters) for (const row of cluster) named[row] = Math.min(...cluster)
  return {
    route: 'clusters',
    reason: 'small_entities',
    scale: 'log_odds',
    clusters: named,
    cut: 0,
    scores: Float64Array.from(pairs, ([, , score]) => score),
    compared: {
      length: pairs.length,
      lefts: Int32Array.from(pairs, ([left]) => left),
      rights: Int32Array.from(pairs, ([, right]) => right),
    },
  }
}

function pairAll(rows: readonly number[], score = 3): ScoredPair[] {
  return rows.flatMap((left, at) => rows.slice(at + 1).map((right) => [left, right, score] as const))
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at)

test('a complete cluster of four, a pair and a single record are sound', () => {
  const [four, two] = [range(0, 4), range(4, 6)]
  expect(findSuspiciousClusters(buildResult([four, two, [6]], [...pairAll(four), ...pairAll(two)]))).toEqual([])
})

test('a cluster of twenty among pairs is large', () => {
  const [large, ...pairs] = [range(0, 20), ...range(10, 14).map((at) => range(2 * at, 2 * at + 2))]
  const result = buildResult(
    [large, ...pairs],
    [large, ...pairs].flatMap((rows) => pairAll(rows)),
  )
  expect(findSuspiciousClusters(result)).toEqual([{ row: 0, size: 20, doubts: ['large'], density: 1 }])
})

test('a cluster whose pairs mostly lie below the cut, or were not compared, is sparse', () => {
  const rows = range(0, 5)
  const ring = rows.map((row) => [Math.min(row, (row + 1) % 5), Math.max(row, (row + 1) % 5), 2] as const)
  expect(findSuspiciousClusters(buildResult([rows], [...ring.slice(0, 4), [0, 2, -1]]))).toMatchObject([
    { size: 5, doubts: ['sparse', 'chained'], density: 0.4 },
  ])
  expect(findSuspiciousClusters(buildResult([rows], ring))).toEqual([])
})

test('two groups that one pair holds together are a chain', () => {
  const [one, other] = [range(0, 4), range(4, 8)]
  const result = buildResult([range(0, 8)], [...pairAll(one), ...pairAll(other), [3, 4, 9]])
  expect(findSuspiciousClusters(result)).toMatchObject([{ row: 0, size: 8, doubts: ['sparse', 'chained'] }])
})

test('pairs that may not be compared say nothing against a cluster', () => {
  const rows = range(0, 6)
  const sources = Int32Array.of(0, 0, 0, 1, 1, 1)
  const across = pairAll(rows).filter(([left, right]) => sources[left] !== sources[right])
  expect(findSuspiciousClusters(buildResult([rows], across.slice(0, 6)), sources)).toEqual([])
  expect(findSuspiciousClusters(buildResult([rows], across.slice(0, 6)))).toMatchObject([{ doubts: ['sparse'] }])
})
