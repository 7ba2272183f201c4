// A single decision and a whole run give the same clusters, in any order.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clusterWithDecisions, type DecisionInput } from './cluster-with-decisions.ts'

const keys = ['a', 'b', 'c', 'd', 'e', 'f']
const arbitraryKey = fc.constantFrom(...keys)
const arbitraryInputs: fc.Arbitrary<DecisionInput> = fc.record({
  bases: fc
    .array(fc.integer({ min: 0, max: 2 }), { minLength: keys.length, maxLength: keys.length })
    .map((numbers) => new Map(keys.map((key, at) => [key, `base ${numbers[at]}`]))),
  links: fc.array(
    fc.record({ left: arbitraryKey, right: arbitraryKey, above: fc.double({ min: 0, max: 8, noNaN: true }) }),
  ),
  decisions: fc.array(
    fc.record({ left: arbitraryKey, right: arbitraryKey, is: fc.constantFrom('same' as const, 'different' as const) }),
    { maxLength: 6 },
  ),
})

test('without decisions the clusters equal those of the engine', () => {
  fc.assert(
    fc.property(arbitraryInputs, ({ bases, links }) => {
      const { clusters } = clusterWithDecisions({ bases, links, decisions: [] })
      expect(clusters.flat().sort()).toEqual(keys)
      for (const members of clusters) expect(new Set(members.map((key) => bases.get(key))).size).toBe(1)
      expect(clusters).toHaveLength(new Set(bases.values()).size)
    }),
  )
})

test('the order of records, links and decisions changes nothing', () => {
  fc.assert(
    fc.property(arbitraryInputs, ({ bases, links, decisions }) => {
      const reversed = {
        bases: new Map([...bases].reverse()),
        links: links.toReversed().map(({ left, right, above }) => ({ left: right, right: left, above })),
        decisions: decisions.toReversed(),
      }
      fc.pre(new Set(links.map(({ left, right }) => [left, right].sort().join())).size === links.length)
      expect(clusterWithDecisions(reversed)).toEqual(clusterWithDecisions({ bases, links, decisions }))
    }),
  )
})

test('records out of reach of decisions can be left out without changing the result', () => {
  fc.assert(
    fc.property(arbitraryInputs, ({ bases, links, decisions }) => {
      const whole = clusterWithDecisions({ bases, links, decisions })
      for (const members of whole.clusters) {
        const reached = new Set(members.map((key) => bases.get(key)))
        // All records that share a cluster of the engine, or a decision, with one of these.
        let part = new Set(keys.filter((key) => reached.has(bases.get(key))))
        for (;;) {
          const extended = new Set(part)
          for (const { left, right } of decisions) {
            if (extended.has(left)) extended.add(right)
            if (extended.has(right)) extended.add(left)
          }
          for (const key of keys)
            if ([...extended].some((other) => bases.get(other) === bases.get(key))) extended.add(key)
          if (extended.size === part.size) break
          part = extended
        }
        const partial = clusterWithDecisions({
          bases: new Map([...bases].filter(([key]) => part.has(key))),
          links,
          decisions,
        })
        expect(partial.clusters).toContainEqual(members)
      }
    }),
  )
})

test('a confirmed pair that a rejected pair keeps apart is reported', () => {
  const bases = new Map([
    ['a', '1'],
    ['b', '1'],
    ['c', '2'],
  ])
  const decisions = [
    { left: 'c', right: 'b', is: 'same' as const },
    { left: 'a', right: 'b', is: 'same' as const },
    { left: 'c', right: 'a', is: 'different' as const },
  ]
  expect(clusterWithDecisions({ bases, links: [], decisions })).toEqual({
    clusters: [['a', 'b'], ['c']],
    overruled: [{ left: 'b', right: 'c', is: 'same' }],
  })
})
