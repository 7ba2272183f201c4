// A list sorted by insertions and removals equals the same list sorted at once.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { combinationMethods, shuffledLists } from '../../../../test/support/consensus/opinions.ts'
import { insertSorted, removeSorted, supersedeSorted } from './canonical-list.ts'
import { combine, combineSorted } from './combine.ts'
import type { Opinion } from './opinion.ts'

test('insertion one by one, superseding included, equals sorting all at once', () => {
  fc.assert(
    fc.property(combinationMethods, shuffledLists(), fc.nat({ max: 8 }), (method, [list, arrival], again) => {
      let sorted: readonly Opinion[] = []
      for (const [at, opinion] of arrival.entries()) {
        if (at < again) sorted = insertSorted(sorted, { ...opinion, pair_score: 1 - opinion.pair_score })
        sorted = supersedeSorted(sorted, opinion)
      }
      expect(combineSorted(method, sorted)).toStrictEqual(combine(method, list))
    }),
  )
})

test('removal of an unknown contributor changes nothing', () => {
  const sorted = [{ contributor_id: 'a', pair_score: 1, accuracy: 1, credibility: 1 }]
  expect(removeSorted(sorted, { contributor_id: 'b' })).toBe(sorted)
  expect(removeSorted(sorted, { contributor_id: 'a' })).toEqual([])
})
