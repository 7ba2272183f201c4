// Requirements on what a viewer is shown: by tenant and label, by each way of asking, and from page to page.
import { expect } from 'vitest'
import type { Viewer } from '../../daemon/kernel/label/label.ts'
import type { ListQuery } from '../../daemon/kernel/store/store.ts'
import { putNotes } from './store-reads.ts'
import {
  buildLabel,
  buildNote,
  type Note,
  notes,
  type StoreRequirement,
  storeRequirement,
} from './store-requirement.ts'

const policy = { policy: 'site', levels: ['OPEN', 'SECRET', 'TOP'] }
const visibleAndHidden: Readonly<Record<string, Partial<Note>>> = {
  a: {},
  b: { label: buildLabel({ level: 'OPEN' }) },
  c: { label: buildLabel({ categories: ['x'] }) },
  d: { label: buildLabel({ categories: ['x', 'y', 'x'] }) },
  e: { label: buildLabel({ level: 'OPEN', releasable_to: ['bravo'] }) },
  f: { label: buildLabel({ level: 'OPEN', releasable_to: ['bravo', 'ABC'] }) },
  g: { label: buildLabel({ level: 'OPEN', releasable_to: [] }) },
  h: { label: buildLabel({ policy: 'other', level: 'OPEN' }) },
  i: { label: buildLabel({ level: 'UNHEARD' }) },
  j: { label: buildLabel({ level: 'OPEN', releasable_to: ['alpha'] }), tenant_id: 'bravo' },
}
const buildClearance = (level: string, ...categories: string[]) => ({ level, categories })
const viewers: readonly (readonly [Viewer, string])[] = [
  [{ tenant_id: 'alpha', clearance: undefined }, 'ab'],
  [{ tenant_id: 'alpha', clearance: buildClearance('OPEN', 'x', 'y') }, 'ab'],
  [{ tenant_id: 'alpha', clearance: buildClearance('SECRET', 'x') }, 'abc'],
  [{ tenant_id: 'alpha', clearance: buildClearance('TOP', 'z', 'y', 'x') }, 'abcd'],
  [{ tenant_id: 'alpha', clearance: { ...buildClearance('OPEN'), nationality: 'ABC' } }, 'abf'],
  [{ tenant_id: 'alpha', clearance: { ...buildClearance('OPEN'), nationality: 'bravo' } }, 'abef'],
  [{ tenant_id: 'alpha', clearance: buildClearance('UNHEARD', 'x') }, 'a'],
  [{ tenant_id: 'bravo', clearance: buildClearance('TOP') }, ''],
  [{ tenant_id: 'bravo', clearance: { ...buildClearance('TOP'), nationality: 'alpha' } }, 'j'],
  [{ tenant_id: 'charlie', clearance: buildClearance('TOP', 'x', 'y') }, ''],
]

export const readScopeRequirements: readonly StoreRequirement[] = [
  storeRequirement(
    'read-scope',
    'a viewer is shown what it dominates of its own tenant, by list and by count',
    async ({ store }) => {
      await putNotes(store, visibleAndHidden)
      for (const [viewer, expected] of viewers) {
        const how = { read_scope: { viewer, policy }, fresh: true }
        const { docs } = await store.list(notes, { ...how, limit: 50 })
        expect([viewer, docs.map(({ id }) => id).join('')]).toEqual([viewer, expected])
        expect(await store.count(notes, {}, how)).toBe(expected.length)
        const visible = { total: expected.length, total_is: 'exact' }
        expect(await store.countUpTo(notes, 1_000, {}, how)).toEqual(visible)
        expect(await store.countUpTo(notes, 1_000, { kind: buildNote().kind, count: { gte: 0 } }, how)).toEqual(visible)
        const byKind = await store.countBy(notes, 'kind', {}, how)
        expect([...byKind.values()].reduce((sum, count) => sum + count, 0)).toBe(expected.length)
        // A filter narrows the visible documents, and cannot widen them.
        const filtered = { tenant_id: { in: ['alpha', 'bravo'] }, count: { gte: 0 } }
        expect(await store.count(notes, filtered, how)).toBe(expected.length)
        expect(await store.count(notes, { label_key: { exists: true } }, how)).toBe(expected.replace('a', '').length)
      }
    },
  ),
  storeRequirement('position', 'a list continues from a position of its own, whoever reads it', async ({ store }) => {
    const clearance = { level: 'TOP', categories: [] }
    await putNotes(store, { a: { rank: 2 }, b: {}, c: { rank: 1 }, d: { rank: 2 }, e: {}, f: { rank: 7 } })
    const read = async (query: Omit<ListQuery, 'limit'>) => {
      const found = [{}, { read_scope: { viewer: { tenant_id: 'alpha', clearance }, policy } }].map(async (how) => {
        const { docs } = await store.list(notes, { ...query, ...how, limit: 100, fresh: true })
        return docs.map(({ id }) => id).join('')
      })
      const [first, ...others] = await Promise.all(found)
      expect(others).toEqual([first])
      return first
    }
    expect(await read({ after: { value: null, id: 'd' } })).toBe('ef')
    const order = { field: 'rank', direction: 'asc' } as const
    expect(await read({ order, after: { value: 2, id: 'a' } })).toBe('df')
    expect(await read({ order, filter: { rank: { gte: 1 } }, after: { value: 1, id: 'c' } })).toBe('adf')
    expect(await read({ order, after: { value: null, id: 'b' } })).toBe('ecadf')
  }),
  storeRequirement('read-scope-cursor', 'a cursor outlives new labels, and is nobody else’s', async ({ store }) => {
    await putNotes(store, { a: {}, b: { label: buildLabel({ level: 'OPEN' }) }, c: {}, d: {}, e: {} })
    const scopeOf = (viewer: Viewer) => ({ viewer, policy })
    const clearance = { level: 'OPEN', categories: ['x', 'y'] }
    const query = { read_scope: scopeOf({ tenant_id: 'alpha', clearance }), limit: 2, fresh: true }
    const first = await store.list(notes, query)
    const cursor = String(first.next_cursor)
    await putNotes(store, {
      bb: { label: buildLabel() },
      bc: { label: buildLabel({ level: 'OPEN', categories: ['x'] }) },
    })
    const second = await store.list(notes, { ...query, cursor })
    expect([first, second].map(({ docs }) => docs.map(({ id }) => id))).toEqual([
      ['a', 'b'],
      ['bc', 'c'],
    ])
    // The labels go again.
    for (const id of ['b', 'bb', 'bc']) await store.remove(notes, id)
    const reordered = { level: 'OPEN', categories: ['y', 'x'] }
    const again = { ...query, read_scope: scopeOf({ tenant_id: 'alpha', clearance: reordered }), cursor }
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
      const page = { limit: 2, cursor, ...(other ? { read_scope: scopeOf(other) } : {}) }
      await expect(store.list(notes, page)).rejects.toMatchObject({ code: 'malformed' })
    }
  }),
]
