// The first questions are those that change a result most, and no question is asked twice.
import { describe, expect, test } from 'vitest'
import { type DecidedRows, type RankedResult, rankDecisions } from './rank-decisions.ts'

/** Pairs as `[left, right, score]`; the number of the cluster of each row. */
function buildResult(clusters: number[], pairs: [number, number, number][]): RankedResult {
  return {
    clusters: Int32Array.from(clusters),
    pairs: {
      length: pairs.length,
      lefts: Int32Array.from(pairs, ([left]) => left),
      rights: Int32Array.from(pairs, ([, right]) => right),
      scores: Float64Array.from(pairs, ([, , score]) => score),
    },
    cut: 0,
    floor: -10,
    scale: 'log_odds',
    comparedShare: () => 1,
  }
}

const rank = (result: RankedResult, decided: DecidedRows[] = []) =>
  rankDecisions(result, decided, 100).map(({ pair }) => pair)

describe('pairs are ranked', () => {
  test('by contradiction: alike and apart, unlike and together, before pairs at the cut', () => {
    const result = buildResult(
      [1, 2, 3, 3, 4, 5, 6, 6],
      [
        [0, 1, 6],
        [2, 3, -6],
        [4, 5, 0],
        [6, 7, 9],
      ],
    )
    expect(rank(result)).toEqual([0, 1, 2, 3])
  })

  test('at equal contradiction by the records that move', () => {
    const result = buildResult(
      [1, 2, 3, 3, 4],
      [
        [0, 1, 2],
        [2, 4, 2],
        [3, 4, 2],
        [2, 3, 20],
      ],
    )
    const [first] = rankDecisions(result, [], 1)
    expect(first).toMatchObject({ pair: 1, changes: 2 })
  })

  test('with the evidence of all records of two clusters, not of the best pair alone', () => {
    const inside: [number, number, number][] = [0, 3].flatMap((from): [number, number, number][] => [
      [from, from + 1, 12],
      [from + 1, from + 2, 12],
      [from, from + 2, 12],
    ])
    const result = buildResult([1, 1, 1, 2, 2, 2, 3, 4], [[0, 3, 2], [6, 7, 2], ...inside])
    // Eight of the nine pairs of the two clusters of three have no evidence.
    expect(rank(result)[0]).toBe(1)
  })
})

test('a pair that shows little comes behind one that shows what a usual record has', () => {
  const result = buildResult(
    [1, 2, 3, 4, 5, 6],
    [
      [0, 1, 4],
      [4, 5, 5],
      [2, 3, 1],
    ],
  )
  expect(rank(result)).toEqual([1, 0, 2])
  const comparedShare = (left: number) => (left === 2 ? 1 : 0.2)
  expect(rank({ ...result, comparedShare })).toEqual([2, 1, 0])
})

describe('a question is not asked', () => {
  const result = buildResult(
    [1, 1, 2, 3, 3, 3],
    [
      [0, 2, 3],
      [1, 2, 2],
      [3, 4, 5],
      [4, 5, 5],
      [3, 5, -1],
    ],
  )

  test('twice of two clusters: the strongest pair speaks for them', () => {
    expect(rank(result)).toEqual([0, 4])
  })

  test('of clusters with a decided pair, though that pair was never compared', () => {
    expect(rank(result, [{ a: 1, b: 2, isMatch: false }])).toEqual([4])
  })

  test('of records that confirmed pairs join; another pair of the cluster is next after a rejected one', () => {
    const confirmed = [
      { a: 3, b: 4, isMatch: true },
      { a: 4, b: 5, isMatch: true },
    ]
    expect(rank(result, confirmed)).toEqual([0])
    expect(rank(result, [{ a: 3, b: 5, isMatch: false }])).toEqual([0, 2])
  })
})
