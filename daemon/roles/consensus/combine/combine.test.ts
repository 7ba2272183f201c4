// Compares both combiners with exact arithmetic, and checks the properties of every combination.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  buildOpinions,
  combinationMethods,
  opinionLists,
  shuffledLists,
} from '../../../../test/support/consensus/opinions.ts'
import { combination } from './combination.ts'
import { combine } from './combine.ts'
import type { Opinion } from './opinion.ts'

test('the order of arrival changes no bit', () => {
  fc.assert(
    fc.property(combinationMethods, shuffledLists(), (method, [list, shuffled]) => {
      expect(combine(method, shuffled)).toStrictEqual(combine(method, list))
    }),
  )
})

test('every value stays in its range, and none is NaN', () => {
  fc.assert(
    fc.property(combinationMethods, opinionLists(60), (method, list) => {
      const result = combine(method, list)
      combination.parse(result)
      expect(result.score === null).toBe(result.reason !== undefined)
      expect(result.K === 1).toBe(result.reason === 'total_conflict')
    }),
  )
})

test('belief <= score <= plausibility', () => {
  fc.assert(
    fc.property(opinionLists(60), (list) => {
      const { belief, score, plausibility } = combine('dempster_shafer', list)
      if (score === null) return
      expect(belief).toBeLessThanOrEqual(score)
      expect(score).toBeLessThanOrEqual(plausibility ?? Number.NaN)
    }),
  )
})

test('an opinion without weight changes no bit', () => {
  const weightless = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean()).map(([score, side]) => ({
    contributor_id: 'silent',
    pair_score: score,
    accuracy: side ? 0 : score,
    credibility: side ? score : 0,
  }))
  fc.assert(
    fc.property(
      combinationMethods,
      opinionLists(),
      fc.array(weightless, { maxLength: 3 }),
      (method, list, weightlessOpinions) => {
        expect(combine(method, [...weightlessOpinions, ...list])).toStrictEqual(combine(method, list))
      },
    ),
  )
})

test('a negative zero is a zero', () => {
  for (const method of ['weighted_average', 'dempster_shafer'] as const) {
    expect(combine(method, buildOpinions([-0, 0.5]))).toStrictEqual(combine(method, buildOpinions([0, 0.5])))
  }
})

describe('weighted_average', () => {
  test('is the mean of the scores, weighted by accuracy times credibility', () => {
    const { score, total_weight } = combine('weighted_average', buildOpinions([0.9, 1, 0.5], [0.3, 0.5, 0.2]))
    expect(score).toBeCloseTo((0.5 * 0.9 + 0.1 * 0.3) / 0.6, 12)
    expect(total_weight).toBeCloseTo(0.6, 12)
  })

  test.for([5e-324, 1e-320, 1e-300])('weights of %d count like any other', (tiny) => {
    const { score, conflict } = combine('weighted_average', buildOpinions([0.7, tiny], [0.3, tiny]))
    expect(score).toBeCloseTo(0.5, 12)
    expect(conflict).toBeCloseTo(0.4, 12)
  })
})

describe('dempster_shafer', () => {
  test.for([
    [2, 0.42],
    [5, 0.8295],
  ] as const)('K of %d identical (.7, .3) opinions is %d', ([count, K]) => {
    const result = combine('dempster_shafer', buildOpinions(...Array.from({ length: count }, () => [0.7] as const)))
    expect(result.K).toBeCloseTo(K, 12)
    expect(result.conflict).toBe(0)
  })

  test('two certain contrary opinions give null and K = 1, never NaN', () => {
    expect(combine('dempster_shafer', buildOpinions([1], [0]))).toStrictEqual({
      method: 'dempster_shafer',
      score: null,
      conflict: 1,
      total_weight: 2,
      belief: null,
      plausibility: null,
      K: 1,
      reason: 'total_conflict',
    })
  })

  test('one opinion is reported as it was discounted', () => {
    const result = combine('dempster_shafer', buildOpinions([0.75, 0.5]))
    expect(result).toMatchObject({ score: 0.625, belief: 0.375, plausibility: 0.875, K: 0, conflict: 0 })
  })

  test('tiny weights leave the score undecided in the middle', () => {
    const result = combine('dempster_shafer', buildOpinions([1, 5e-324], [0.2, 1e-310]))
    expect(result).toMatchObject({ score: 0.5, plausibility: 1, K: 0 })
  })
})

test.for(['weighted_average', 'dempster_shafer'] as const)('%s: no weight at all is undecided', (method) => {
  for (const list of [buildOpinions(), buildOpinions([1, 0], [0, 1, 0])]) {
    expect(combine(method, list)).toMatchObject({ score: null, conflict: 0, total_weight: 0, reason: 'no_weight' })
  }
})

/** Scores and weights in tenths, so that the expected values are exact integers. */
const inTenths = fc.record({ s: fc.integer({ min: 0, max: 10 }), w: fc.integer({ min: 1, max: 10 }) })
type Tenths = { readonly s: number; readonly w: number }

/** Dempster's rule by commonalities, which multiply; null for total conflict. All in hundredths, as integers. */
function exactScore(list: readonly Tenths[]): number | null {
  let [match, nonMatch, either] = [1n, 1n, 1n]
  for (const { s, w } of list) {
    match *= BigInt(w * s + 100 - 10 * w)
    nonMatch *= BigInt(w * (10 - s) + 100 - 10 * w)
    either *= BigInt(100 - 10 * w)
  }
  const total = match + nonMatch - either
  if (total === 0n) return null
  const precision = 10n ** 15n
  return Number(((2n * match - either) * precision) / (2n * total)) / Number(precision)
}

function fromTenths(list: readonly Tenths[]): Opinion[] {
  return buildOpinions(...list.map(({ s, w }) => [s / 10, w / 10] as const))
}

describe('a thousand sources', () => {
  test('neither underflow nor overflow: the score is that of exact arithmetic', () => {
    const lists = fc.array(inTenths, { minLength: 1, maxLength: 1000, size: 'max' })
    fc.assert(
      fc.property(lists, (list) => {
        const exact = exactScore(list)
        const { score } = combine('dempster_shafer', fromTenths(list))
        if (exact === null || score === null) expect(score).toBe(exact)
        else expect(Math.abs(score - exact)).toBeLessThan(1e-9)
      }),
    )
  })

  test.for([
    { name: '999 against, one certain of a match', many: { s: 1, w: 10 }, one: { s: 10, w: 10 }, score: 1 },
    { name: '999 for, one certain against', many: { s: 9, w: 10 }, one: { s: 0, w: 10 }, score: 0 },
    { name: '999 for, one against', many: { s: 7, w: 10 }, one: { s: 1, w: 10 }, score: 1 },
  ])('$name', ({ many, one, score }) => {
    const list = [...Array.from({ length: 999 }, () => many), one]
    const result = combine('dempster_shafer', fromTenths(list))
    expect(exactScore(list)).toBeCloseTo(score, 12)
    expect(result.score).toBeCloseTo(score, 12)
    expect(result.K).toBeLessThan(1)
  })

  test('opposing scores that cancel out far below the range of a double keep their weight', () => {
    const list = [
      ...Array.from({ length: 500 }, () => ({ s: 1, w: 10 })),
      ...Array.from({ length: 500 }, () => ({ s: 9, w: 10 })),
    ]
    expect(combine('dempster_shafer', fromTenths(list)).score).toBeCloseTo(0.5, 9)
  })

  test.for([1, 1e-160, 5e-324])('with weights of %d each, average and conflict hold', (accuracy) => {
    const scores = Array.from({ length: 1000 }, (_, at) => [at % 2, accuracy] as const)
    const { score, conflict } = combine('weighted_average', buildOpinions(...scores))
    expect(score).toBeCloseTo(0.5, 12)
    expect(conflict).toBeCloseTo(1, 12)
  })
})
