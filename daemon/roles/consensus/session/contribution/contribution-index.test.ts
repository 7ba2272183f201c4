// A session has one standing contribution for each contributor: the latest, in the order of its source.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  acceptAll,
  buildLocalContribution,
  buildPeerContribution,
  buildStoredSession,
} from '../../../../../test/support/consensus/session-records.ts'
import { sortCanonically } from '../../combine/opinion.ts'
import {
  addToIndex,
  emptyContributionIndex,
  supersedes,
  viewSession,
  voterKey,
  voterOf,
  withOpinion,
} from './contribution-index.ts'

test('a local contribution supersedes any earlier one', () => {
  expect(supersedes(buildLocalContribution('a', 0.1), undefined)).toBe(true)
  expect(supersedes(buildLocalContribution('a', 0.1), buildLocalContribution('a', 0.9))).toBe(true)
  expect(supersedes(buildLocalContribution('a', 0.1), buildPeerContribution('bravo', 9, 9))).toBe(true)
})

test('from one peer only a later epoch, or a later number of the same epoch, supersedes', () => {
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

test('for any contributions in any order, the sorted list is the canonical list of the standing ones', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fraction, fraction), { maxLength: 40 }),
      (opinions) => {
        const index = emptyContributionIndex('start')
        for (const [at, [name, score, accuracy]] of opinions.entries()) {
          addToIndex(index, { ...buildLocalContribution(name, score, at + 1), accuracy }, `chain ${at}`)
        }
        const figures = (list: readonly { pair_score: number; accuracy: number }[]) =>
          list.map(({ pair_score, accuracy }) => [pair_score, accuracy])
        expect(figures(index.sorted)).toEqual(figures(sortCanonically([...index.by_voter.values()])))
        expect(index.digests.size).toBe(opinions.length)
      },
    ),
  )
})

test('for any order of arrival of one peer’s messages, the last message sent is the standing one', () => {
  const messages = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 9 })), {
    minLength: 1,
    selector: ([epoch, seq]) => epoch * 100 + seq,
  })
  fc.assert(
    fc.property(messages, (arrivals) => {
      const index = emptyContributionIndex('start')
      for (const [epoch, seq] of arrivals) addToIndex(index, buildPeerContribution('bravo', epoch, seq), 'chain')
      const [epoch, seq] = arrivals.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]).at(-1) ?? []
      expect(index.by_voter.get('peer:tenant-bravo')?.federation).toMatchObject({ epoch, seq })
      expect(index.sorted).toHaveLength(1)
    }),
  )
})

test('a contributor of the site and a peer whose tenant has its name have a vote each, in any order', () => {
  const [local, peer] = [buildLocalContribution('tenant-bravo', 0.1), buildPeerContribution('bravo', 1, 1, 0.9)]
  const again = { ...buildLocalContribution('tenant-bravo', 0.2, 3) }
  for (const arrivals of [
    [local, peer, again],
    [peer, local, again],
    [local, again, peer],
  ]) {
    const index = emptyContributionIndex('start')
    for (const contribution of arrivals) addToIndex(index, contribution, 'chain')
    expect(index.sorted.map(({ pair_score, source }) => [pair_score, source])).toEqual([
      [0.2, undefined],
      [0.9, 'peer'],
    ])
    expect(index.by_voter.get(voterKey('tenant-bravo'))?.pair_score).toBe(0.2)
    expect(index.by_voter.get(voterKey('tenant-bravo', 'peer'))?.pair_score).toBe(0.9)
  }
})

test('withOpinion does not change the index', () => {
  const index = emptyContributionIndex('start')
  addToIndex(index, buildLocalContribution('a', 0.5), 'chain')
  const before = structuredClone(index.sorted)
  expect(withOpinion(index, buildLocalContribution('b', 0.2))).toHaveLength(2)
  expect(index.sorted).toEqual(before)
})

test('a view of a later state equals the index of that state, and leaves the earlier index unchanged', () => {
  const arrivals = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'tenant-b'), fraction), { minLength: 1, maxLength: 7 })
  fc.assert(
    fc.property(arrivals, fc.nat(7), (all, indexed) => {
      const contributions = all.map(([name, score], at) =>
        name === 'tenant-b' && at % 2 === 0
          ? { ...buildPeerContribution('b', 1, at + 1, score), ordinal: at + 1 }
          : buildLocalContribution(name, score, at + 1),
      )
      const session = buildStoredSession({ policy: { ...buildStoredSession().policy, m: 6, n: 6 } })
      const earlier = acceptAll(session, ...contributions.slice(0, indexed)).standing
      const later = acceptAll(session, ...contributions)
      const size = earlier.digests.size
      const view = viewSession(earlier, later.session)
      expect(view?.sorted).toEqual(later.standing.sorted)
      expect(view?.by_voter.size).toBe(later.standing.by_voter.size)
      for (const contribution of [...contributions, buildLocalContribution('unknown', 0)]) {
        const [id, voter] = [contribution.id, voterOf(contribution)]
        expect(view?.by_voter.has(voter)).toBe(later.standing.by_voter.has(voter))
        expect(view?.by_voter.get(voter)?.id).toBe(later.standing.by_voter.get(voter)?.id)
        expect(view?.digests.get(id) === undefined).toBe(later.standing.digests.get(id) === undefined)
      }
      expect(earlier.digests.size).toBe(size)
    }),
  )
})

test('there is no view of an earlier state, or of one whose contributions the session has dropped', () => {
  const contributions = [1, 2, 3].map((ordinal) => buildLocalContribution('a', ordinal / 10, ordinal))
  const { session, standing: index } = acceptAll(buildStoredSession(), ...contributions)
  expect(viewSession(index, buildStoredSession())).toBeUndefined()
  const trimmed = { ...session, recent: session.recent.slice(1) }
  expect(viewSession(emptyContributionIndex('start'), trimmed)).toBeUndefined()
})
