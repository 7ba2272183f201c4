// Arrived records join existing clusters by the mean, by any link, or one to one; the order of the links is irrelevant.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinByAverageLink, joinByBestLink, type UnitLink } from './unit-links.ts'

const unitNames = ['a', 'b', 'c', 'x', 'y']
const alwaysJoin = () => true
const createLink = (from: string, to: string, score: number): UnitLink => ({ from, to, score })

/** Creates means of pairs of units, each of one record. */
function createMeans(means: Readonly<Record<string, number>>) {
  return async (left: string, right: string) => ({ sum: means[[left, right].sort().join('')] ?? 0, pairs: 1 })
}

test('the pair with the best mean is joined first, and pairs then below `need` stay apart', async () => {
  const links = [createLink('x', 'a', 6), createLink('x', 'b', 5)]
  expect(
    await joinByAverageLink({ names: unitNames }, links, createMeans({ ax: 6, bx: 5, ab: 0 }), 2, alwaysJoin),
  ).toEqual([['a', 'x', 'b'], ['c'], ['y']])
  expect(
    await joinByAverageLink({ names: unitNames }, links, createMeans({ ax: 6, bx: 3, ab: 0 }), 2, alwaysJoin),
  ).toEqual([['a', 'x'], ['b'], ['c'], ['y']])
})

test('clusters without a link by an arrived record are not joined, even with a high mean', async () => {
  const links = [createLink('x', 'a', 6)]
  expect(
    await joinByAverageLink({ names: unitNames }, links, createMeans({ ax: 6, bc: 9, ac: 9 }), 2, alwaysJoin),
  ).toEqual([['a', 'x'], ['b'], ['c'], ['y']])
})

test('neither method joins clusters against the join rule', async () => {
  const keepApart = (left: readonly string[], right: readonly string[]) =>
    ![...left, ...right].includes('a') || ![...left, ...right].includes('b')
  const links = [createLink('x', 'a', 6), createLink('x', 'b', 5)]
  expect(
    await joinByAverageLink({ names: unitNames }, links, createMeans({ ax: 6, bx: 5, ab: 5 }), 2, keepApart),
  ).toEqual([['a', 'x'], ['b'], ['c'], ['y']])
  expect(joinByBestLink({ names: unitNames }, links, 0, keepApart)).toEqual([['a', 'x'], ['b'], ['c'], ['y']])
  const joinOnce = (left: readonly string[], right: readonly string[]) => left.length + right.length <= 2
  expect(joinByBestLink({ names: unitNames }, [...links, createLink('y', 'a', 5.5)], 0, joinOnce)).toEqual([
    ['a', 'x'],
    ['b'],
    ['c'],
    ['y'],
  ])
})

test('links at the threshold join nothing; links above it join connected components', () => {
  const links = [createLink('x', 'a', 1), createLink('x', 'b', 0.9), createLink('y', 'c', 0.5)]
  const joined = joinByBestLink({ names: unitNames }, links, 0.5, alwaysJoin)
  expect(joined.map((units) => units.toSorted())).toEqual([['a', 'b', 'x'], ['c'], ['y']])
})

test('the order of the links changes nothing', async () => {
  const arbitraryLinks = fc.uniqueArray(
    fc.tuple(fc.constantFrom('x', 'y'), fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 4 })),
    {
      selector: ([from, to]) => from + to,
    },
  )
  await fc.assert(
    fc.asyncProperty(arbitraryLinks, fc.infiniteStream(fc.nat()), async (drawn, keys) => {
      const links = drawn.map(([from, to, score]) => createLink(from, to, score))
      const shuffled = links
        .map((link) => ({ link, key: keys.next().value as number }))
        .sort((a, b) => a.key - b.key)
        .map(({ link }) => link)
      const means = createMeans(
        Object.fromEntries(links.map(({ from, to, score }) => [[from, to].sort().join(''), score])),
      )
      const joinInOrder = async (order: readonly UnitLink[]) =>
        (await joinByAverageLink({ names: unitNames }, order, means, 1, alwaysJoin)).map((units) => units.toSorted())
      const [byMean, byMeanShuffled] = [await joinInOrder(links), await joinInOrder(shuffled)]
      expect(byMeanShuffled).toEqual(byMean)
      const [byLink, byLinkShuffled] = [links, shuffled].map((order) =>
        joinByBestLink({ names: unitNames }, order, 1, alwaysJoin).map((units) => units.toSorted()),
      )
      expect(byLinkShuffled).toEqual(byLink)
    }),
  )
})
