// What stands in a session: one contribution a contributor, the latest, by the order of its source.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildLocalContribution, buildPeerContribution } from '../../../../../test/support/consensus/session-records.ts'
import { sortCanonically } from '../../combine/opinion.ts'
import { addToIndex, emptyContributionIndex, supersedes, withOpinion } from './contribution-index.ts'

test('a local contribution supersedes whatever stood', () => {
  expect(supersedes(buildLocalContribution('a', 0.1), undefined)).toBe(true)
  expect(supersedes(buildLocalContribution('a', 0.1), buildLocalContribution('a', 0.9))).toBe(true)
  expect(supersedes(buildLocalContribution('a', 0.1), buildPeerContribution('bravo', 9, 9))).toBe(true)
})

test('of one peer only a later epoch, or a later number of the same epoch, supersedes', () => {
  const before = buildPeerContribution('bravo', 2, 5)
  const outcomes = [
    [1, 9],
    [2, 4],
    [2, 5],
    [2, 6],
    [3, 1],
  ].map(([epoch = 0, seq = 0]) => supersedes(buildPeerContribution('bravo', epoch, seq), before))
  expect(outcomes).toEqual([false, false, false, true, true])
  expect(supersedes(buildPeerContribution('charlie', 1, 1), before)).toBe(true)
})

const fraction = fc.double({ min: 0, max: 1, noNaN: true })

test('whatever is said in whatever order, the sorted list is the canonical list of what stands', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fraction, fraction), { maxLength: 40 }),
      (said) => {
        const standing = emptyContributionIndex('start')
        for (const [at, [who, score, accuracy]] of said.entries()) {
          addToIndex(standing, { ...buildLocalContribution(who, score, at + 1), accuracy }, `chain ${at}`)
        }
        const figures = (list: readonly { pair_score: number; accuracy: number }[]) =>
          list.map(({ pair_score, accuracy }) => [pair_score, accuracy])
        expect(figures(standing.sorted)).toEqual(figures(sortCanonically([...standing.by_contributor.values()])))
        expect(standing.digests.size).toBe(said.length)
      },
    ),
  )
})

test('whatever order the messages of one peer arrive in, the one sent last stands', () => {
  const messages = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 9 })), {
    minLength: 1,
    selector: ([epoch, seq]) => epoch * 100 + seq,
  })
  fc.assert(
    fc.property(messages, (arrivals) => {
      const standing = emptyContributionIndex('start')
      for (const [epoch, seq] of arrivals) addToIndex(standing, buildPeerContribution('bravo', epoch, seq), 'chain')
      const [epoch, seq] = arrivals.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]).at(-1) ?? []
      expect(standing.by_contributor.get('tenant-bravo')?.federation).toMatchObject({ epoch, seq })
      expect(standing.sorted).toHaveLength(1)
    }),
  )
})

test('asking what a contribution would change changes nothing', () => {
  const standing = emptyContributionIndex('start')
  addToIndex(standing, buildLocalContribution('a', 0.5), 'chain')
  const before = structuredClone(standing.sorted)
  expect(withOpinion(standing, buildLocalContribution('b', 0.2))).toHaveLength(2)
  expect(standing.sorted).toEqual(before)
})
