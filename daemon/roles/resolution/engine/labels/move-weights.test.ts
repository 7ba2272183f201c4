// Labels move weights little when few, and much when many; weights never rise as similarity falls.
import { expect, test } from 'vitest'
import { fitWeightShift, type LabelledEvidence, shiftWeights } from './move-weights.ts'

/** Two fields of two levels each: patterns 0 to 3 are equal-equal, equal-different, different-equal, different-different. */
const comparer = { outcomes: [3, 3] }
const patterns = { fields: 2, patterns: Uint8Array.from([1, 1, 1, 2, 2, 1, 2, 2]) }
const weights = [
  [0, 3, -3],
  [0, 3, -3],
]
const evidence = [6, 0, 0, -6]

/** `count` labels by which the first field alone decides. */
function labelsByFirstField(count: number): LabelledEvidence[] {
  return Array.from({ length: count }, (_, at) => {
    const pattern = at % 4
    return { pattern, evidence: evidence[pattern]!, isMatch: pattern < 2 }
  })
}

const shiftBy = (labels: readonly LabelledEvidence[]) => fitWeightShift(comparer, patterns, weights, labels)

test('without labels nothing moves', () => {
  expect(shiftBy([])).toEqual({
    prior: 0,
    weights: [
      [0, 0, 0],
      [0, 0, 0],
    ],
  })
})

test('a hundred labels move weights further than ten, and in the direction of the labels', () => {
  const shifts = [10, 100].map((count) => shiftBy(labelsByFirstField(count)).weights)
  for (const shift of shifts) {
    expect(shift[0]![1]).toBeGreaterThan(0)
    expect(shift[0]![2]).toBeLessThan(0)
    expect(shift[1]![1]).toBeLessThan(0)
    expect(shift[1]![2]).toBeGreaterThan(0)
  }
  expect(shifts[1]![1]![1]).toBeLessThan(shifts[0]![1]![1]! - 0.3)
})

test('the prior follows labels that all scores contradict', () => {
  const labels = labelsByFirstField(80).map((label) => ({ ...label, isMatch: false }))
  expect(shiftBy(labels).prior).toBeLessThan(-2)
})

test('the fit is at the maximum: no small step raises the penalised likelihood', () => {
  const labels = labelsByFirstField(41)
  const { prior, weights: moved } = shiftBy(labels)
  // At the maximum the residuals sum to the pull of the prior, which is its shift over its variance.
  const residual = labels.reduce((sum, { pattern, evidence: offset, isMatch }) => {
    const [one, other] = [patterns.patterns[2 * pattern]!, patterns.patterns[2 * pattern + 1]!]
    const odds = offset + prior + moved[0]![one]! + moved[1]![other]!
    return sum + (isMatch ? 1 : 0) - 1 / (1 + Math.exp(-odds))
  }, 0)
  expect(residual).toBeCloseTo(prior / Math.log(10) ** 2, 5)
})

test('weights that labels would turn round are pooled, and a text that counts for likeness continues to', () => {
  const shift = { prior: 0, weights: [[0, -4, 4]] }
  expect(shiftWeights([[0, 3, -1]], shift, { gain: 1 })).toEqual([[0, 1, 0]])
  expect(shiftWeights([[0, 3, -1]], { prior: 0, weights: [[0, 1, -1]] }, { gain: 2 })).toEqual([[0, 5, -3]])
})
