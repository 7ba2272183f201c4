// Checks the marks of a document and the query for them against the dominance rule.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dominates, type Label, type Viewer } from '../../../../daemon/kernel/label/label.ts'
import { deriveMarks, readScopeQueries } from './read-scope.ts'

const policy = { policy: 'site', levels: ['OPEN', 'SECRET', 'TOP'] }
// Names that could be mistaken for another kind of mark.
const name = fc.constantFrom('alpha', 'bravo', '["site","TOP"]', '"x"', 'x')
const level = fc.constantFrom('OPEN', 'SECRET', 'TOP', 'UNHEARD')
const categories = fc.array(fc.constantFrom('x', 'y', '["site","TOP"]'), { maxLength: 4 })
const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined })
const someLabel = fc
  .tuple(fc.constantFrom('site', 'other'), level, categories, name, optional(fc.array(name, { maxLength: 3 })))
  .map(([policy, level, categories, originator, releasable_to]): Label => {
    return { policy, level, categories, originator, ...(releasable_to ? { releasable_to } : {}) }
  })
const someClearance = fc
  .tuple(level, categories, optional(name))
  .map(([level, categories, nationality]) => ({ level, categories, ...(nationality ? { nationality } : {}) }))
const someViewer: fc.Arbitrary<Viewer> = fc.record({ tenant_id: name, clearance: optional(someClearance) })

/** The condition of the cluster query: one of the audience, and all of the needs. */
function isVisible(viewer: Viewer, label: Label | undefined): boolean {
  const { needs, count, audience } = deriveMarks({ tenant_id: 'alpha', label })
  const [{ terms }, { terms_set }] = readScopeQueries({ viewer, policy })
  const met = needs.filter((need) => terms_set['marks.needs'].terms.includes(need))
  return terms['marks.audience'].some((each) => audience.includes(each)) && met.length >= count
}

test('the cluster returns exactly the documents that the viewer dominates', () => {
  let visible = 0
  fc.assert(
    fc.property(someViewer, someLabel, (viewer, label) => {
      visible += Number(isVisible(viewer, label))
      expect(isVisible(viewer, label)).toBe(dominates(viewer, label, policy))
    }),
    { seed: 20260301, numRuns: 3_000 },
  )
  expect(visible).toBeGreaterThan(50)
})

test('a document without a label is visible to every viewer', () => {
  fc.assert(
    fc.property(someViewer, (viewer) => isVisible(viewer, undefined)),
    { seed: 20260301 },
  )
})
