// Pairs within a source decide whether it is clean; records of clean sources are linked across, each once.
import { expect, test } from 'vitest'
import type { ComparedPairs } from '../compare/patterns.ts'
import { areSourcesClean, assignAcrossSources, linkAcrossSources, listSides } from './clean-sources.ts'

/** Rows 0 to 10 are of one source, 11 to 21 of another. */
const sources = Int32Array.from({ length: 22 }, (_, row) => (row < 11 ? 0 : 1))

function createComparedPairs(pairs: readonly (readonly [number, number])[]): ComparedPairs {
  return {
    length: pairs.length,
    lefts: Int32Array.from(pairs, ([left]) => left),
    rights: Int32Array.from(pairs, ([, right]) => right),
    patternOf: new Int32Array(pairs.length),
    ruleOf: new Uint16Array(pairs.length),
    fields: 0,
    patterns: new Uint8Array(),
    counts: Float64Array.of(pairs.length),
  }
}

test('sources are clean if neither has duplicates: one source with duplicates is enough', () => {
  const within = createComparedPairs([
    [0, 1],
    [11, 12],
  ])
  expect(areSourcesClean(sources, within, Float64Array.of(1.9, 1.9))).toBe(true)
  expect(areSourcesClean(sources, within, Float64Array.of(9, 1.9))).toBe(false)
  expect(areSourcesClean(sources, within, Float64Array.of(1.9, 9))).toBe(false)
})

test('pairs across sources are not duplicates', () => {
  expect(areSourcesClean(sources, createComparedPairs([[0, 11]]), Float64Array.of(9))).toBe(true)
})

test('the best pairs across sources are linked, each record once, above the threshold', () => {
  const compared = createComparedPairs([
    [0, 11],
    [0, 12],
    [1, 12],
    [2, 3],
    [4, 13],
  ])
  const clusters = linkAcrossSources(sources, compared, Float64Array.of(3, 5, 4, 9, -2), -2)
  const linked = Array.from(clusters.entries()).filter(([row, cluster]) => row !== cluster)
  expect(linked).toEqual([[12, 0]])
})

test('a pair within one of two sources keeps no record from its pair across them; in a single source, any two are assigned', () => {
  const compared = createComparedPairs([
    [0, 1],
    [0, 11],
  ])
  const scores = Float64Array.of(9, 3)
  expect(assignAcrossSources(listSides(sources), compared, scores)).toEqual(Int32Array.of(1))
  expect(assignAcrossSources(listSides(new Int32Array(22)), compared, scores)).toEqual(Int32Array.of(0))
})
