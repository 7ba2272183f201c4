// The algebra of labels: the join of labels never admits more viewers than any of its parts.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  completeLabel,
  dominates,
  isReleasableTo,
  isWithinCeiling,
  joinLabels,
  type Label,
  label,
  labelKey,
  parseLabelKey,
  type Viewer,
} from './label.ts'

const policy = { policy: 'SITE', levels: ['UNCLASSIFIED', 'RESTRICTED', 'SECRET'] }
const names = fc.constantFrom('alpha', 'bravo', 'FRA', 'NOR')
const categories = fc.uniqueArray(fc.constantFrom('crypto', 'nuclear', 'medical'))
const level = fc.constantFrom(...policy.levels)

const labels: fc.Arbitrary<Label> = fc
  .record({ level, categories, originator: names, releasable_to: fc.option(fc.uniqueArray(names), { nil: undefined }) })
  .map(({ releasable_to, ...rest }) => ({ policy: 'SITE', ...rest, ...(releasable_to ? { releasable_to } : {}) }))

const viewers: fc.Arbitrary<Viewer> = fc.record({
  tenant_id: names,
  clearance: fc.option(
    fc.record({ level, categories, nationality: names }, { requiredKeys: ['level', 'categories'] }),
    { nil: undefined },
  ),
})

const keyOf = (label: Label | undefined) => label && labelKey(label)
const joinInPolicy = (a: Label, b: Label) => joinLabels(a, b, policy) as Label

describe('the join', () => {
  test('is commutative, associative and idempotent', () => {
    fc.assert(
      fc.property(labels, labels, labels, (a, b, c) => {
        expect(keyOf(joinLabels(a, b, policy))).toBe(keyOf(joinLabels(b, a, policy)))
        expect(keyOf(joinInPolicy(joinInPolicy(a, b), c))).toBe(keyOf(joinInPolicy(a, joinInPolicy(b, c))))
        expect(keyOf(joinInPolicy(a, a))).toBe(keyOf(a))
      }),
    )
  })

  test('is visible only to viewers of both parts', () => {
    fc.assert(
      fc.property(viewers, labels, labels, (viewer, a, b) => {
        if (!dominates(viewer, joinInPolicy(a, b), policy)) return
        expect(dominates(viewer, a, policy) && dominates(viewer, b, policy)).toBe(true)
      }),
    )
  })

  test('never lowers a level, drops a category, or adds a name to an audience', () => {
    const audience = (label: Label) => label.releasable_to ?? [label.originator]
    fc.assert(
      fc.property(labels, labels, (a, b) => {
        const joined = joinInPolicy(a, b)
        for (const part of [a, b]) {
          expect(policy.levels.indexOf(joined.level)).toBeGreaterThanOrEqual(policy.levels.indexOf(part.level))
          expect(joined.categories).toEqual(expect.arrayContaining(part.categories))
          expect(audience(part)).toEqual(expect.arrayContaining([...audience(joined)]))
        }
      }),
    )
  })

  test('requires nothing beyond the requirements of both parts', () => {
    fc.assert(
      fc.property(labels, labels, (a, b) => {
        const joined = joinInPolicy(a, b)
        expect([a.level, b.level]).toContain(joined.level)
        expect([...a.categories, ...b.categories]).toEqual(expect.arrayContaining(joined.categories))
      }),
    )
  })

  test('stays under a ceiling exactly when both parts do', () => {
    fc.assert(
      fc.property(labels, labels, labels, (ceiling, a, b) => {
        const both = isWithinCeiling(ceiling, a, policy) && isWithinCeiling(ceiling, b, policy)
        expect(isWithinCeiling(ceiling, joinInPolicy(a, b), policy)).toBe(both)
      }),
    )
  })

  test('keeps the originator of the first label, and is valid', () => {
    fc.assert(
      fc.property(labels, labels, (a, b) => {
        expect(joinInPolicy(a, b).originator).toBe(a.originator)
        expect(label.safeParse(joinInPolicy(a, b)).success).toBe(true)
      }),
    )
  })

  test('of labels without a common audience has an empty audience', () => {
    const ours: Label = { policy: 'SITE', level: 'SECRET', categories: [], originator: 'alpha' }
    const foreign: Label = { ...ours, originator: 'bravo' }
    expect(joinInPolicy(ours, foreign).releasable_to).toEqual([])
    expect(
      dominates(
        { tenant_id: 'alpha', clearance: { level: 'SECRET', categories: [] } },
        joinInPolicy(ours, foreign),
        policy,
      ),
    ).toBe(false)
  })

  test.each([
    ['policies differ', { policy: 'OTHER' }],
    ['a level is unknown', { level: 'COSMIC' }],
  ])('is undefined when %s', (_what, change) => {
    const ours: Label = { policy: 'SITE', level: 'SECRET', categories: [], originator: 'alpha' }
    expect(joinLabels(ours, { ...ours, ...change }, policy)).toBeUndefined()
    expect(joinLabels({ ...ours, ...change }, ours, policy)).toBeUndefined()
  })
})

describe('visibility', () => {
  const secret: Label = { policy: 'SITE', level: 'SECRET', categories: ['crypto'], originator: 'alpha' }
  const cleared = { level: 'SECRET', categories: ['crypto', 'medical'], nationality: 'NOR' }

  test('a viewer needs the level, every category, and a place in the audience', () => {
    expect(dominates({ tenant_id: 'alpha', clearance: cleared }, secret, policy)).toBe(true)
    expect(dominates({ tenant_id: 'alpha', clearance: { ...cleared, level: 'RESTRICTED' } }, secret, policy)).toBe(
      false,
    )
    expect(dominates({ tenant_id: 'alpha', clearance: { ...cleared, categories: [] } }, secret, policy)).toBe(false)
    expect(dominates({ tenant_id: 'bravo', clearance: cleared }, secret, policy)).toBe(false)
    expect(dominates({ tenant_id: 'bravo', clearance: cleared }, { ...secret, releasable_to: ['NOR'] }, policy)).toBe(
      true,
    )
    expect(dominates({ tenant_id: 'alpha', clearance: cleared }, { ...secret, releasable_to: ['bravo'] }, policy)).toBe(
      false,
    )
  })

  test('a missing clearance means the lowest level and no category', () => {
    const open: Label = { ...secret, level: 'UNCLASSIFIED', categories: [] }
    expect(dominates({ tenant_id: 'alpha', clearance: undefined }, open, policy)).toBe(true)
    expect(dominates({ tenant_id: 'alpha', clearance: undefined }, { ...open, level: 'RESTRICTED' }, policy)).toBe(
      false,
    )
  })

  test('an unknown policy or level is visible to nobody', () => {
    const viewer = { tenant_id: 'alpha', clearance: cleared }
    expect(dominates(viewer, { ...secret, policy: 'OTHER' }, policy)).toBe(false)
    expect(dominates(viewer, { ...secret, level: 'COSMIC' }, policy)).toBe(false)
    expect(dominates({ ...viewer, clearance: { ...cleared, level: 'COSMIC' } }, secret, policy)).toBe(false)
    expect(isWithinCeiling(secret, { ...secret, level: 'COSMIC' }, policy)).toBe(false)
    expect(isWithinCeiling({ ...secret, level: 'COSMIC' }, secret, policy)).toBe(false)
  })

  test('more clearance never hides an object', () => {
    fc.assert(
      fc.property(viewers, labels, categories, (viewer, label, added) => {
        if (!dominates(viewer, label, policy)) return
        const has = viewer.clearance?.categories ?? []
        const raised = { ...viewer.clearance, level: 'SECRET', categories: [...has, ...added] }
        expect(dominates({ ...viewer, clearance: raised }, label, policy)).toBe(true)
      }),
    )
  })

  test('a label is releasable to its audience, or by default to its originator', () => {
    expect(isReleasableTo(secret, ['alpha', 'x'])).toBe(true)
    expect(isReleasableTo(secret, ['bravo'])).toBe(false)
    expect(isReleasableTo({ ...secret, releasable_to: [] }, ['alpha'])).toBe(false)
  })
})

describe('the key of a label', () => {
  test('parses to a label that is visible to the same viewers', () => {
    fc.assert(
      fc.property(viewers, labels, (viewer, label) => {
        expect(dominates(viewer, parseLabelKey(labelKey(label)), policy)).toBe(dominates(viewer, label, policy))
      }),
    )
  })

  test('is the same for labels that differ only in order', () => {
    fc.assert(
      fc.property(labels, (label) => {
        const turned = { ...label, categories: label.categories.toReversed() }
        expect(labelKey(turned)).toBe(labelKey(label))
      }),
    )
  })
})

describe('a classification', () => {
  test('becomes a label: from a bare level, or from a label without originator', () => {
    expect(completeLabel('SECRET', policy, 'alpha')).toEqual({
      policy: 'SITE',
      level: 'SECRET',
      categories: [],
      originator: 'alpha',
    })
    const input = { level: 'SECRET', categories: ['b', 'a', 'b'], releasable_to: ['NOR', 'FRA', 'NOR'] }
    expect(completeLabel(input, policy, 'alpha')).toMatchObject({
      categories: ['a', 'b'],
      releasable_to: ['FRA', 'NOR'],
    })
  })

  test('with an unknown policy or level is undefined', () => {
    expect(completeLabel('COSMIC', policy, 'alpha')).toBeUndefined()
    expect(completeLabel({ policy: 'OTHER', level: 'SECRET' }, policy, 'alpha')).toBeUndefined()
  })
})
