// A list that is kept sorted by insertions and removals equals the same list sorted at once.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { combinationMethods, shuffledLists } from '../../../../test/support/consensus/opinions.ts'
import { insertSorted, removeSorted, supersedeSorted } from './canonical-list.ts'
import { combine, combineSorted } from './combine.ts'
import type { Opinion } from './opinion.ts'

test('one by one, superseding included, gives the bits of all at once', () => {
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

test('a contributor who never spoke leaves the list as it is', () => {
  const sorted = [{ contributor_id: 'a', pair_score: 1, accuracy: 1, credibility: 1 }]
  expect(removeSorted(sorted, 'b')).toBe(sorted)
  expect(removeSorted(sorted, 'a')).toEqual([])
})
