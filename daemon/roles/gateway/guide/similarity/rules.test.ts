// Cosines, and groups in which every two members are similar: with the same answers as without shortcuts.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededRandom } from '../../../../../test/support/random/seeded-random.ts'
import { runToEnd } from '../../../../kernel/role/run-to-end.ts'
import { clusterVectors, cosine, isSimilar, toUnit } from './rules.ts'

test('the cosine of vectors, and none of those that cannot be compared', () => {
  expect(cosine([1, 0], [2, 0])).toBe(1)
  expect(cosine([1, 0], [0, 3])).toBe(0)
  expect(cosine([3, 4], [4, 3])).toBeCloseTo(0.96)
  for (const [x, y] of [
    [[1], [1, 2]],
    [[], []],
    [
      [0, 0],
      [1, 0],
    ],
  ] as const)
    expect(cosine(x, y)).toBeUndefined()
})

test('two vectors are similar exactly where their cosine reaches the threshold', () => {
  const { below } = seededRandom(1)
  const vector = (length: number) => Array.from({ length }, () => below(2_001) / 1_000 - 1)
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 130 }), fc.double({ min: 0, max: 1, noNaN: true }), (length, share) => {
      const [x, other] = [vector(length), vector(length)]
      const y = x.map((value, at) => value * share + (other[at] ?? 0) * (1 - share))
      const [left, right] = [toUnit(x), toUnit(y)]
      if (!left || !right) return
      const exact = cosine(x, y) ?? 0
      if (Math.abs(exact - 0.85) > 1e-6) expect(isSimilar(left, right, 0.85)).toBe(exact >= 0.85)
    }),
    { seed: 7, numRuns: 2_000 },
  )
})

test('other work can go on after 128 comparisons', () => {
  let read = 0
  const members = Array.from({ length: 400 }, (_, at) => {
    const unit = toUnit([Math.cos(at), Math.sin(at), at % 7])
    return {
      get unit() {
        read += 1
        if (!unit) throw new Error('no length')
        return unit
      },
    }
  })
  const steps = clusterVectors(members, { threshold: 0.999_999, max_size: 256 })
  let yields = 0
  for (let step = steps.next(); !step.done; step = steps.next()) {
    // Two vectors for each comparison.
    expect(read).toBeLessThanOrEqual(256)
    read = 0
    yields += 1
  }
  expect(yields).toBeGreaterThan(100)
})

test('vectors of zeros or without end have no length', () => {
  expect([toUnit([0, 0]), toUnit([Number.POSITIVE_INFINITY, 1])]).toEqual([undefined, undefined])
})

test('a chain of neighbours is not one group, since its ends are not similar', () => {
  const at = (degrees: number) => {
    const unit = toUnit([Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)])
    if (!unit) throw new Error('no length')
    return { degrees, unit }
  }
  const groups = runToEnd(clusterVectors([0, 20, 40, 60, 200].map(at), { threshold: 0.9, max_size: 9 }))
  expect(groups.map((group) => group.map(({ degrees }) => degrees))).toEqual([
    [0, 20],
    [40, 60],
  ])
  const bounded = runToEnd(clusterVectors([0, 1, 2, 3].map(at), { threshold: 0.9, max_size: 3 }))
  expect(bounded.map((group) => group.length)).toEqual([3])
})
