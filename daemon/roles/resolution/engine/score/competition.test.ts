// Candidates of a record compete: many similar records do not all count as matches.
import { expect, test } from 'vitest'
import { computeCompetingProbabilities } from './competition.ts'

const odds = (...values: number[]) => Float64Array.from(values, Math.log)

test('a pair alone has its own odds', () => {
  const pairs = { lefts: Int32Array.of(0), rights: Int32Array.of(1), length: 1 }
  expect(computeCompetingProbabilities(2, pairs, odds(3))[0]).toBeCloseTo(3 / 4, 12)
})

test('the record with more competition decides, and the pairs of a record never count as more than one match', () => {
  // Record 0 has three candidates of odds 3, 3 and 1; record 1 has one more, of odds 8.
  const pairs = { lefts: Int32Array.of(0, 0, 0, 1), rights: Int32Array.of(1, 2, 3, 4), length: 4 }
  const matches = computeCompetingProbabilities(5, pairs, odds(3, 3, 1, 8))
  expect([...matches].map((match) => Number(match.toFixed(6)))).toEqual(
    [3 / 12, 3 / 8, 1 / 8, 8 / 12].map((match) => Number(match.toFixed(6))),
  )
  expect(matches[0]! + matches[1]! + matches[2]!).toBeLessThan(1)
})

test('scores beyond any odds leave finite probabilities', () => {
  const pairs = { lefts: Int32Array.of(0, 0), rights: Int32Array.of(1, 2), length: 2 }
  const matches = computeCompetingProbabilities(3, pairs, Float64Array.of(900, 900))
  expect(matches[0]).toBeCloseTo(0.5, 6)
  expect(matches[1]).toBeCloseTo(0.5, 6)
})

test('the pairs of a cluster support each other, and compete with those outside', () => {
  // Records 0, 1 and 2 are one cluster of odds 8 each; record 3 competes for record 0 with odds 3.
  const pairs = { lefts: Int32Array.of(0, 0, 1, 0), rights: Int32Array.of(1, 2, 2, 3), length: 4 }
  const matches = computeCompetingProbabilities(4, pairs, odds(8, 8, 8, 3), Int32Array.of(0, 0, 0, 3))
  expect([...matches].map((match) => Number(match.toFixed(6)))).toEqual(
    [8 / 12, 8 / 12, 8 / 9, 3 / 20].map((match) => Number(match.toFixed(6))),
  )
})
