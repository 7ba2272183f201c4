// One decision and a whole run come to the same clusters, whatever came first.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clusterWithDecisions, type DecisionInput } from './cluster-with-decisions.ts'

const keys = ['a', 'b', 'c', 'd', 'e', 'f']
const arbitraryKey = fc.constantFrom(...keys)
const arbitraryInputs: fc.Arbitrary<DecisionInput> = fc.record({
  bases: fc
    .array(fc.integer({ min: 0, max: 2 }), { minLength: keys.length, maxLength: keys.length })
    .map((numbers) => new Map(keys.map((each, at) => [each, `base ${numbers[at]}`]))),
  links: fc.array(
    fc.record({ left: arbitraryKey, right: arbitraryKey, above: fc.double({ min: 0, max: 8, noNaN: true }) }),
  ),
  decisions: fc.array(
    fc.record({ left: arbitraryKey, right: arbitraryKey, is: fc.constantFrom('same' as const, 'different' as const) }),
    { maxLength: 6 },
  ),
})

test('without decisions clusters are those of the engine', () => {
  fc.assert(
    fc.property(arbitraryInputs, ({ bases, links }) => {
      const { clusters } = clusterWithDecisions({ bases, links, decisions: [] })
      expect(clusters.flat().sort()).toEqual(keys)
      for (const members of clusters) expect(new Set(members.map((each) => bases.get(each))).size).toBe(1)
      expect(clusters).toHaveLength(new Set(bases.values()).size)
    }),
  )
})

test('the order of everything changes nothing', () => {
  fc.assert(
    fc.property(arbitraryInputs, ({ bases, links, decisions }) => {
      const backwards = {
        bases: new Map([...bases].reverse()),
        links: links.toReversed().map(({ left, right, above }) => ({ left: right, right: left, above })),
        decisions: decisions.toReversed(),
      }
      fc.pre(new Set(links.map(({ left, right }) => [left, right].sort().join())).size === links.length)
      expect(clusterWithDecisions(backwards)).toEqual(clusterWithDecisions({ bases, links, decisions }))
    }),
  )
})

test('records that no decision reaches can be left out: the part is settled as the whole is', () => {
  fc.assert(
    fc.property(arbitraryInputs, ({ bases, links, decisions }) => {
      const whole = clusterWithDecisions({ bases, links, decisions })
      for (const members of whole.clusters) {
        const reached = new Set(members.map((each) => bases.get(each)))
        // Everything that shares a cluster of the engine, or a decision, with one of these.
        let part = new Set(keys.filter((each) => reached.has(bases.get(each))))
        for (;;) {
          const more = new Set(part)
          for (const { left, right } of decisions) {
            if (more.has(left)) more.add(right)
            if (more.has(right)) more.add(left)
          }
          for (const each of keys) if ([...more].some((other) => bases.get(other) === bases.get(each))) more.add(each)
          if (more.size === part.size) break
          part = more
        }
        const own = clusterWithDecisions({
          bases: new Map([...bases].filter(([each]) => part.has(each))),
          links,
          decisions,
        })
        expect(own.clusters).toContainEqual(members)
      }
    }),
  )
})

test('a confirmed pair that a rejected one keeps apart is told', () => {
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
