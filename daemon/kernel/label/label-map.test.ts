// A translated label never admits more viewers than the peer's label: a term without an entry is refused.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isRefusal } from '../error/errors.ts'
import type { Label } from './label.ts'
import { type LabelMap, labelMap, translateLabel } from './label-map.ts'

const policy = { policy: 'SITE', levels: ['UNCLASSIFIED', 'RESTRICTED', 'SECRET'] }
const map: LabelMap = {
  THEIRS: {
    levels: { LOW: 'UNCLASSIFIED', MIDDLE: 'RESTRICTED', HIGH: 'SECRET', TOP: 'COSMIC' },
    categories: { ATOMIC: 'NUC', CIPHER: 'CRYPTO', ROENTGEN: 'NUC' },
    releasable_to: { Norge: 'NOR', Suomi: 'FIN', 'tenant-a': 'tenant-a' },
  },
}
const theirs: Label = {
  policy: 'THEIRS',
  level: 'HIGH',
  categories: ['CIPHER', 'ATOMIC'],
  originator: 'tenant-b',
  releasable_to: ['Norge', 'tenant-a'],
  created: '2026-03-01T12:00:00Z',
}

test('every term is translated; originator and time stay', () => {
  expect(translateLabel(theirs, map, policy)).toEqual({
    policy: 'SITE',
    level: 'SECRET',
    categories: ['CRYPTO', 'NUC'],
    originator: 'tenant-b',
    releasable_to: ['NOR', 'tenant-a'],
    created: '2026-03-01T12:00:00Z',
  })
})

test('two categories of the peer may map to one of the site', () => {
  expect(translateLabel({ ...theirs, categories: ['ATOMIC', 'ROENTGEN'] }, map, policy)).toMatchObject({
    categories: ['NUC'],
  })
})

test.each<[string, Partial<Label>, LabelMap | undefined]>([
  ['another policy without a map', {}, undefined],
  ['a policy that the map does not hold', { policy: 'NEITHER' }, map],
  ['a level that is not mapped', { level: 'MEDIUM' }, map],
  ['a level mapped to none of ours', { level: 'TOP' }, map],
  ['our own level under their policy', { level: 'SECRET' }, map],
  ['one category that is not mapped', { categories: ['ATOMIC', 'MEDICAL'] }, map],
  ['our own category under their policy', { categories: ['NUC'] }, map],
  ['a policy called __proto__', { policy: '__proto__' }, map],
  ['a policy called constructor', { policy: 'constructor' }, map],
  ['a level called constructor', { level: 'constructor' }, map],
  ['a category called toString', { categories: ['toString'] }, map],
])('%s is refused, and the refusal quotes nothing of it', (_, change, theirLabel) => {
  const label = { ...theirs, ...change }
  const refusal = translateLabel(label, theirLabel, policy)
  expect(refusal).toMatchObject({ code: 'label_denied' })
  const { message } = refusal as Error
  for (const term of [label.policy, label.level, ...label.categories]) expect(message).not.toContain(term)
})

describe('the audience', () => {
  test('loses names that are not mapped, including this site’s own names', () => {
    const label = { ...theirs, releasable_to: ['Norge', 'NOR', 'Sverige', '__proto__'] }
    expect(translateLabel(label, map, policy)).toMatchObject({ releasable_to: ['NOR'] })
  })

  test('that loses every name stays empty, and never becomes the originator', () => {
    expect(translateLabel({ ...theirs, releasable_to: ['Sverige'] }, map, policy)).toMatchObject({ releasable_to: [] })
  })

  test('of the originator alone stays absent', () => {
    const { releasable_to: _, ...unlabelledAudience } = theirs
    expect(translateLabel(unlabelledAudience, map, policy)).not.toHaveProperty('releasable_to')
  })

  test('is unchanged where the map has no names', () => {
    const same = { THEIRS: { levels: { HIGH: 'SECRET' }, categories: { CIPHER: 'C', ATOMIC: 'A' } } }
    expect(translateLabel(theirs, same, policy)).toMatchObject({ releasable_to: ['Norge', 'tenant-a'] })
  })
})

describe('a label of our own policy', () => {
  const ours: Label = { policy: 'SITE', level: 'SECRET', categories: ['NUC'], originator: 'tenant-b' }
  test('is taken unchanged', () => {
    expect(translateLabel(ours, undefined, policy)).toBe(ours)
    expect(translateLabel(ours, map, policy)).toBe(ours)
  })

  test('is translated where the map holds a policy of the same name', () => {
    const homonym: LabelMap = { SITE: { levels: { SECRET: 'RESTRICTED' }, categories: { NUC: 'MEDICAL' } } }
    expect(translateLabel(ours, homonym, policy)).toMatchObject({ level: 'RESTRICTED', categories: ['MEDICAL'] })
    expect(translateLabel({ ...ours, level: 'RESTRICTED' }, homonym, policy)).toMatchObject({ code: 'label_denied' })
  })
})

test('every part of any label is either translated or refused', () => {
  const some = (...terms: string[]) => fc.uniqueArray(fc.constantFrom(...terms), { maxLength: 4 })
  const labels = fc.record({
    policy: fc.constantFrom('THEIRS', 'SITE', 'NEITHER'),
    level: fc.constantFrom('LOW', 'MIDDLE', 'HIGH', 'TOP', 'SECRET', 'valueOf'),
    categories: some('ATOMIC', 'CIPHER', 'ROENTGEN', 'NUC', 'MEDICAL'),
    originator: fc.constant('tenant-b'),
    releasable_to: some('Norge', 'Suomi', 'tenant-a', 'NOR', 'tenant-c'),
  })
  const { levels, categories, releasable_to = {} } = map.THEIRS as NonNullable<LabelMap['THEIRS']>
  fc.assert(
    fc.property(labels, (label) => {
      const ours = translateLabel(label, map, policy)
      if (label.policy === 'SITE') {
        expect(ours).toBe(label)
        return
      }
      const isKnown =
        label.policy === 'THEIRS' &&
        policy.levels.includes(levels[label.level] ?? '') &&
        label.categories.every((category) => Object.keys(categories).includes(category))
      expect(isRefusal(ours)).toBe(!isKnown)
      if (isRefusal(ours)) return
      expect(ours.level).toBe(levels[label.level])
      expect(new Set(ours.categories)).toEqual(new Set(label.categories.map((category) => categories[category])))
      const names = label.releasable_to.map((name) =>
        Object.hasOwn(releasable_to, name) ? releasable_to[name] : undefined,
      )
      expect(new Set(ours.releasable_to)).toEqual(new Set(names.filter((name) => name !== undefined)))
    }),
  )
})

test('a map names levels for each policy; unknown fields are refused', () => {
  expect(labelMap.parse({ THEIRS: { levels: { HIGH: 'SECRET' } } })).toEqual({
    THEIRS: { levels: { HIGH: 'SECRET' }, categories: {} },
  })
  expect(labelMap.safeParse({ THEIRS: { categories: {} } }).success).toBe(false)
  expect(labelMap.safeParse({ THEIRS: { levels: {}, caveats: {} } }).success).toBe(false)
})
