// Records that came are joined to clusters that are there: by the mean, by any link, or once; in any order of the
// links.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinByAverageLink, joinByBestLink, type UnitLink } from './unit-links.ts'

const unitNames = ['a', 'b', 'c', 'x', 'y']
const alwaysJoin = () => true
const createLink = (one: string, other: string, score: number): UnitLink => ({ one, other, score })

/** Means of pairs of units, each of one record. */
function createMeans(of: Readonly<Record<string, number>>) {
  return (one: string, other: string) => ({ sum: of[[one, other].sort().join('')] ?? 0, pairs: 1 })
}

test('the best mean is joined first, and what then lies below the need is left', () => {
  const links = [createLink('x', 'a', 6), createLink('x', 'b', 5)]
  expect(joinByAverageLink({ names: unitNames }, links, createMeans({ ax: 6, bx: 5, ab: 0 }), 2, alwaysJoin)).toEqual([
    ['a', 'x', 'b'],
    ['c'],
    ['y'],
  ])
  expect(joinByAverageLink({ names: unitNames }, links, createMeans({ ax: 6, bx: 3, ab: 0 }), 2, alwaysJoin)).toEqual([
    ['a', 'x'],
    ['b'],
    ['c'],
    ['y'],
  ])
})

test('clusters that no record which came links are not joined, however near they are', () => {
  const links = [createLink('x', 'a', 6)]
  expect(joinByAverageLink({ names: unitNames }, links, createMeans({ ax: 6, bc: 9, ac: 9 }), 2, alwaysJoin)).toEqual([
    ['a', 'x'],
    ['b'],
    ['c'],
    ['y'],
  ])
})

test('what may not be one is not, by the mean and by links', () => {
  const apart = (one: readonly string[], other: readonly string[]) =>
    ![...one, ...other].includes('a') || ![...one, ...other].includes('b')
  const links = [createLink('x', 'a', 6), createLink('x', 'b', 5)]
  expect(joinByAverageLink({ names: unitNames }, links, createMeans({ ax: 6, bx: 5, ab: 5 }), 2, apart)).toEqual([
    ['a', 'x'],
    ['b'],
    ['c'],
    ['y'],
  ])
  expect(joinByBestLink({ names: unitNames }, links, 0, apart)).toEqual([['a', 'x'], ['b'], ['c'], ['y']])
  const once = (one: readonly string[], other: readonly string[]) => one.length + other.length <= 2
  expect(joinByBestLink({ names: unitNames }, [...links, createLink('y', 'a', 5.5)], 0, once)).toEqual([
    ['a', 'x'],
    ['b'],
    ['c'],
    ['y'],
  ])
})

test('links at the cut join nothing, and above it all that hang together', () => {
  const links = [createLink('x', 'a', 1), createLink('x', 'b', 0.9), createLink('y', 'c', 0.5)]
  const joined = joinByBestLink({ names: unitNames }, links, 0.5, alwaysJoin)
  expect(joined.map((units) => units.toSorted())).toEqual([['a', 'b', 'x'], ['c'], ['y']])
})

test('the order of the links changes nothing', () => {
  const some = fc.uniqueArray(
    fc.tuple(fc.constantFrom('x', 'y'), fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 4 })),
    {
      selector: ([one, other]) => one + other,
    },
  )
  fc.assert(
    fc.property(some, fc.infiniteStream(fc.nat()), (drawn, keys) => {
      const links = drawn.map(([one, other, score]) => createLink(one, other, score))
      const turned = links.map((each) => ({ each, key: keys.next().value as number })).sort((a, b) => a.key - b.key)
      const of = createMeans(
        Object.fromEntries(links.map(({ one, other, score }) => [[one, other].sort().join(''), score])),
      )
      const both = [links, turned.map(({ each }) => each)]
      const [byMean, byMeanTurned] = both.map((each) =>
        joinByAverageLink({ names: unitNames }, each, of, 1, alwaysJoin).map((units) => units.toSorted()),
      )
      expect(byMeanTurned).toEqual(byMean)
      const [where, whereTurned] = both.map((each) =>
        joinByBestLink({ names: unitNames }, each, 1, alwaysJoin).map((units) => units.toSorted()),
      )
      expect(whereTurned).toEqual(where)
    }),
  )
})
