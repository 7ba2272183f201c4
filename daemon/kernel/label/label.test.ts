// Holds the algebra of labels: what is made of labelled parts is never easier to see than any of them.
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

const keyOf = (held: Label | undefined) => held && labelKey(held)
const joinInPolicy = (a: Label, b: Label) => joinLabels(a, b, policy) as Label

describe('the join', () => {
  test('does not depend on order or grouping, and with itself changes nothing', () => {
    fc.assert(
      fc.property(labels, labels, labels, (a, b, c) => {
        expect(keyOf(joinLabels(a, b, policy))).toBe(keyOf(joinLabels(b, a, policy)))
        expect(keyOf(joinInPolicy(joinInPolicy(a, b), c))).toBe(keyOf(joinInPolicy(a, joinInPolicy(b, c))))
        expect(keyOf(joinInPolicy(a, a))).toBe(keyOf(a))
      }),
    )
  })

  test('is seen only by those who may see both parts', () => {
    fc.assert(
      fc.property(viewers, labels, labels, (viewer, a, b) => {
        if (!dominates(viewer, joinInPolicy(a, b), policy)) return
        expect(dominates(viewer, a, policy) && dominates(viewer, b, policy)).toBe(true)
      }),
    )
  })

  test('never lowers a level, drops a category, or adds a name to an audience', () => {
    const audience = (held: Label) => held.releasable_to ?? [held.originator]
    fc.assert(
      fc.property(labels, labels, (a, b) => {
        const made = joinInPolicy(a, b)
        for (const part of [a, b]) {
          expect(policy.levels.indexOf(made.level)).toBeGreaterThanOrEqual(policy.levels.indexOf(part.level))
          expect(made.categories).toEqual(expect.arrayContaining(part.categories))
          expect(audience(part)).toEqual(expect.arrayContaining([...audience(made)]))
        }
      }),
    )
  })

  test('is no more than both parts ask for', () => {
    fc.assert(
      fc.property(labels, labels, (a, b) => {
        const made = joinInPolicy(a, b)
        expect([a.level, b.level]).toContain(made.level)
        expect([...a.categories, ...b.categories]).toEqual(expect.arrayContaining(made.categories))
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

  test('keeps the originator of the first, and is a label', () => {
    fc.assert(
      fc.property(labels, labels, (a, b) => {
        expect(joinInPolicy(a, b).originator).toBe(a.originator)
        expect(label.safeParse(joinInPolicy(a, b)).success).toBe(true)
      }),
    )
  })

  test('of labels for nobody in common is for nobody', () => {
    const mine: Label = { policy: 'SITE', level: 'SECRET', categories: [], originator: 'alpha' }
    const theirs: Label = { ...mine, originator: 'bravo' }
    expect(joinInPolicy(mine, theirs).releasable_to).toEqual([])
    expect(
      dominates(
        { tenant_id: 'alpha', clearance: { level: 'SECRET', categories: [] } },
        joinInPolicy(mine, theirs),
        policy,
      ),
    ).toBe(false)
  })

  test.each([
    ['policies differ', { policy: 'OTHER' }],
    ['a level is unknown', { level: 'COSMIC' }],
  ])('is undefined when %s', (_what, change) => {
    const mine: Label = { policy: 'SITE', level: 'SECRET', categories: [], originator: 'alpha' }
    expect(joinLabels(mine, { ...mine, ...change }, policy)).toBeUndefined()
    expect(joinLabels({ ...mine, ...change }, mine, policy)).toBeUndefined()
  })
})

describe('who may see', () => {
  const secret: Label = { policy: 'SITE', level: 'SECRET', categories: ['crypto'], originator: 'alpha' }
  const cleared = { level: 'SECRET', categories: ['crypto', 'medical'], nationality: 'NOR' }

  test('a viewer needs the level, every category, and to be named', () => {
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

  test('no clearance is the lowest level and no category', () => {
    const open: Label = { ...secret, level: 'UNCLASSIFIED', categories: [] }
    expect(dominates({ tenant_id: 'alpha', clearance: undefined }, open, policy)).toBe(true)
    expect(dominates({ tenant_id: 'alpha', clearance: undefined }, { ...open, level: 'RESTRICTED' }, policy)).toBe(
      false,
    )
  })

  test('an unknown policy or level is seen by nobody', () => {
    const viewer = { tenant_id: 'alpha', clearance: cleared }
    expect(dominates(viewer, { ...secret, policy: 'OTHER' }, policy)).toBe(false)
    expect(dominates(viewer, { ...secret, level: 'COSMIC' }, policy)).toBe(false)
    expect(dominates({ ...viewer, clearance: { ...cleared, level: 'COSMIC' } }, secret, policy)).toBe(false)
    expect(isWithinCeiling(secret, { ...secret, level: 'COSMIC' }, policy)).toBe(false)
    expect(isWithinCeiling({ ...secret, level: 'COSMIC' }, secret, policy)).toBe(false)
  })

  test('more clearance never sees less', () => {
    fc.assert(
      fc.property(viewers, labels, categories, (viewer, held, more) => {
        if (!dominates(viewer, held, policy)) return
        const has = viewer.clearance?.categories ?? []
        const raised = { ...viewer.clearance, level: 'SECRET', categories: [...has, ...more] }
        expect(dominates({ ...viewer, clearance: raised }, held, policy)).toBe(true)
      }),
    )
  })

  test('a label is releasable to those it names, or else to its originator', () => {
    expect(isReleasableTo(secret, ['alpha', 'x'])).toBe(true)
    expect(isReleasableTo(secret, ['bravo'])).toBe(false)
    expect(isReleasableTo({ ...secret, releasable_to: [] }, ['alpha'])).toBe(false)
  })
})

describe('the key of a label', () => {
  test('stands for it: the label behind the key is seen by the same viewers', () => {
    fc.assert(
      fc.property(viewers, labels, (viewer, held) => {
        expect(dominates(viewer, parseLabelKey(labelKey(held)), policy)).toBe(dominates(viewer, held, policy))
      }),
    )
  })

  test('is one for labels that differ only in order', () => {
    fc.assert(
      fc.property(labels, (held) => {
        const turned = { ...held, categories: held.categories.toReversed() }
        expect(labelKey(turned)).toBe(labelKey(held))
      }),
    )
  })
})

describe('a classification', () => {
  test('is completed by the site: a bare level, or a label without its originator', () => {
    expect(completeLabel('SECRET', policy, 'alpha')).toEqual({
      policy: 'SITE',
      level: 'SECRET',
      categories: [],
      originator: 'alpha',
    })
    const given = { level: 'SECRET', categories: ['b', 'a', 'b'], releasable_to: ['NOR', 'FRA', 'NOR'] }
    expect(completeLabel(given, policy, 'alpha')).toMatchObject({
      categories: ['a', 'b'],
      releasable_to: ['FRA', 'NOR'],
    })
  })

  test('of another policy or level is none', () => {
    expect(completeLabel('COSMIC', policy, 'alpha')).toBeUndefined()
    expect(completeLabel({ policy: 'OTHER', level: 'SECRET' }, policy, 'alpha')).toBeUndefined()
  })
})
