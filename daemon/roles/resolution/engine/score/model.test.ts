// Weights are ln(m / u) and never rise as similarity falls; estimation recovers the shares in the data.
import { expect, test } from 'vitest'
import { computeProbabilities, computeWeights, estimateModel, scorePatterns } from './model.ts'

const twoFields = { fields: [], outcomes: [4, 3] }

test('weights never rise as similarity falls: such levels are pooled', () => {
  const m = [[0, 0.6, 0.1, 0.3]]
  const u = [[0, 0.1, 0.3, 0.6]]
  const [weights] = computeWeights({ m, u, lambda: 0.5 }, {})
  expect(weights?.[0]).toBe(0)
  expect(weights?.[1]).toBeCloseTo(Math.log(6), 12)
  expect(weights?.[2]).toBeCloseTo(Math.log(0.4 / 0.9), 12)
  expect(weights?.[3]).toBe(weights?.[2])
})

test('missing evidence has no weight, and the prior is the odds of lambda', () => {
  const model = { m: [[0, 0.9, 0.1]], u: [[0, 0.1, 0.9]], lambda: 0.2 }
  const histogram = { fields: 1, patterns: Uint8Array.of(0, 1, 2), counts: Float64Array.of(1, 1, 1) }
  const [none, same, other] = scorePatterns(model, { fields: [], outcomes: [3] } as never, histogram)
  expect(none).toBeCloseTo(Math.log(0.25), 12)
  expect(same).toBeCloseTo(Math.log(0.25 * 9), 12)
  expect(other).toBeCloseTo(Math.log(0.25 / 9), 12)
})

test('the estimate is the share of each level, smoothed by half a count', () => {
  const histogram = { fields: 2, patterns: Uint8Array.of(1, 1, 3, 2), counts: Float64Array.of(10, 30) }
  const { m, u, lambda } = estimateModel(twoFields as never, histogram, Float64Array.of(1, 0))
  expect(lambda).toBe(0.25)
  expect(m[0]).toEqual([0, (10 + 0.5 / 3) / 10.5, 0.5 / 3 / 10.5, 0.5 / 3 / 10.5])
  expect(u[1]).toEqual([0, 0.25 / 30.5, 30.25 / 30.5])
})

test('a score of 0 is an even chance', () => {
  const [even, likely] = computeProbabilities(Float64Array.of(0, Math.log(3)))
  expect(even).toBe(0.5)
  expect(likely).toBeCloseTo(0.75, 12)
})

test('an estimate without pairs is finite', () => {
  const emptyHistogram = { fields: 2, patterns: new Uint8Array(), counts: new Float64Array() }
  const { m, u, lambda } = estimateModel(twoFields as never, emptyHistogram, new Float64Array())
  expect(lambda).toBe(1e-9)
  expect([...m, ...u].flat().every(Number.isFinite)).toBe(true)
})
