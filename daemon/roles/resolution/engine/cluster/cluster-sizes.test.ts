// Pairs within clusters, of any two rows or of rows of different sources, as counted one by one.
import { expect, test } from 'vitest'
import { countPairsWithin } from './cluster-sizes.ts'

test('pairs within clusters are those that a count one by one finds', () => {
  const clusters = Int32Array.of(0, 0, 0, 3, 4, 4, 0, 4, 8, 8)
  const sources = Int32Array.of(0, 1, 0, 2, 1, 1, 2, 0, 2, 2)
  const countOneByOne = (isCounted: (a: number, b: number) => boolean) => {
    const pairs = new Float64Array(clusters.length)
    for (let b = 0; b < clusters.length; b++)
      for (let a = 0; a < b; a++) if (clusters[a] === clusters[b] && isCounted(a, b)) pairs[clusters[a]!]!++
    return pairs
  }
  // Zero has a sign.
  const withoutSign = (pairs: Float64Array) => pairs.map((count) => count + 0)
  expect(withoutSign(countPairsWithin(clusters))).toEqual(countOneByOne(() => true))
  expect(withoutSign(countPairsWithin(clusters, sources))).toEqual(countOneByOne((a, b) => sources[a] !== sources[b]))
  expect(countPairsWithin(clusters, sources)[8]).toBe(0)
})
