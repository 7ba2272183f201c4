// Requirements on what a viewer is shown: by tenant and label, by each way of asking, and from page to page.
import { expect } from 'vitest'
import type { Viewer } from '../../daemon/kernel/label.ts'
import { fill } from './store-reads.ts'
import { aLabel, type Note, notes, requirement, type StoreRequirement } from './store-requirement.ts'

const policy = { policy: 'site', levels: ['OPEN', 'SECRET', 'TOP'] }
const seenAndUnseen: Readonly<Record<string, Partial<Note>>> = {
  a: {},
  b: { label: aLabel({ level: 'OPEN' }) },
  c: { label: aLabel({ categories: ['x'] }) },
  d: { label: aLabel({ categories: ['x', 'y', 'x'] }) },
  e: { label: aLabel({ level: 'OPEN', releasable_to: ['bravo'] }) },
  f: { label: aLabel({ level: 'OPEN', releasable_to: ['bravo', 'ABC'] }) },
  g: { label: aLabel({ level: 'OPEN', releasable_to: [] }) },
  h: { label: aLabel({ policy: 'other', level: 'OPEN' }) },
  i: { label: aLabel({ level: 'UNHEARD' }) },
  j: { label: aLabel({ level: 'OPEN', releasable_to: ['alpha'] }), tenant_id: 'bravo' },
}
const cleared = (level: string, ...categories: string[]) => ({ level, categories })
const viewers: readonly (readonly [Viewer, string])[] = [
  [{ tenant_id: 'alpha', clearance: undefined }, 'ab'],
  [{ tenant_id: 'alpha', clearance: cleared('OPEN', 'x', 'y') }, 'ab'],
  [{ tenant_id: 'alpha', clearance: cleared('SECRET', 'x') }, 'abc'],
  [{ tenant_id: 'alpha', clearance: cleared('TOP', 'z', 'y', 'x') }, 'abcd'],
  [{ tenant_id: 'alpha', clearance: { ...cleared('OPEN'), nationality: 'ABC' } }, 'abf'],
  [{ tenant_id: 'alpha', clearance: { ...cleared('OPEN'), nationality: 'bravo' } }, 'abef'],
  [{ tenant_id: 'alpha', clearance: cleared('UNHEARD', 'x') }, 'a'],
  [{ tenant_id: 'bravo', clearance: cleared('TOP') }, ''],
  [{ tenant_id: 'bravo', clearance: { ...cleared('TOP'), nationality: 'alpha' } }, 'j'],
  [{ tenant_id: 'charlie', clearance: cleared('TOP', 'x', 'y') }, ''],
]

export const sightRequirements: readonly StoreRequirement[] = [
  requirement(
    'sight',
    'a viewer is shown what it dominates of its own tenant, by list and by count',
    async ({ store }) => {
      await fill(store, seenAndUnseen)
      for (const [viewer, expected] of viewers) {
        const how = { sight: { viewer, policy }, fresh: true }
        const { docs } = await store.list(notes, { ...how, limit: 50 })
        expect([viewer, docs.map(({ id }) => id).join('')]).toEqual([viewer, expected])
        expect(await store.count(notes, {}, how)).toBe(expected.length)
        const byKind = await store.countBy(notes, 'kind', {}, how)
        expect([...byKind.values()].reduce((sum, count) => sum + count, 0)).toBe(expected.length)
        // A filter narrows what is seen, and cannot widen it.
        const filtered = { tenant_id: { in: ['alpha', 'bravo'] }, count: { gte: 0 } }
        expect(await store.count(notes, filtered, how)).toBe(expected.length)
        expect(await store.count(notes, { label_key: { exists: true } }, how)).toBe(expected.replace('a', '').length)
      }
    },
  ),
  requirement('sight-cursor', 'a cursor outlives new labels, and is nobody else’s', async ({ store }) => {
    await fill(store, { a: {}, b: { label: aLabel({ level: 'OPEN' }) }, c: {}, d: {}, e: {} })
    const sightOf = (viewer: Viewer) => ({ viewer, policy })
    const clearance = { level: 'OPEN', categories: ['x', 'y'] }
    const query = { sight: sightOf({ tenant_id: 'alpha', clearance }), limit: 2, fresh: true }
    const first = await store.list(notes, query)
    const cursor = String(first.next_cursor)
    await fill(store, { bb: { label: aLabel() }, bc: { label: aLabel({ level: 'OPEN', categories: ['x'] }) } })
    const second = await store.list(notes, { ...query, cursor })
    expect([first, second].map(({ docs }) => docs.map(({ id }) => id))).toEqual([
      ['a', 'b'],
      ['bc', 'c'],
    ])
    // The labels go again.
    for (const id of ['b', 'bb', 'bc']) await store.remove(notes, id)
    const reordered = { level: 'OPEN', categories: ['y', 'x'] }
    const again = { ...query, sight: sightOf({ tenant_id: 'alpha', clearance: reordered }), cursor }
    expect((await store.list(notes, again)).docs.map(({ id }) => id)).toEqual(['c', 'd'])
    const others: readonly (Viewer | undefined)[] = [
      undefined,
      { tenant_id: 'alpha', clearance: undefined },
      { tenant_id: 'bravo', clearance },
      { tenant_id: 'alpha', clearance: { ...clearance, level: 'SECRET' } },
      { tenant_id: 'alpha', clearance: { ...clearance, categories: ['x'] } },
      { tenant_id: 'alpha', clearance: { ...clearance, nationality: 'ABC' } },
    ]
    for (const other of others) {
      const asked = { limit: 2, cursor, ...(other ? { sight: sightOf(other) } : {}) }
      await expect(store.list(notes, asked)).rejects.toMatchObject({ code: 'malformed' })
    }
  }),
]
