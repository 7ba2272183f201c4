// Requirements on finding documents: order, pages, filters, counts, and what a cursor may be.
import { expect } from 'vitest'
import { labelKey } from '../../daemon/kernel/label/label.ts'
import type { DocumentPage, Filter, ListQuery, Store } from '../../daemon/kernel/store/store.ts'
import {
  buildLabel,
  buildNote,
  type Note,
  notes,
  type StoreRequirement,
  storeRequirement,
} from './store-requirement.ts'

export async function putNotes(store: Store, documents: Readonly<Record<string, Partial<Note>>>): Promise<void> {
  for (const [id, changes] of Object.entries(documents)) await store.create(notes, id, buildNote(changes))
}

/** Every query of these requests this: a cluster's answers lag otherwise. */
const fresh = { fresh: true }

async function listIds(store: Store, filter: Filter): Promise<string> {
  const { docs } = await store.list(notes, { filter, limit: 100, fresh: true })
  expect(await store.count(notes, filter, { fresh: true })).toBe(docs.length)
  return docs.map(({ id }) => id).join('')
}

/** All ids of a list read in pages. */
async function listPages(store: Store, query: ListQuery, between?: () => Promise<unknown>): Promise<string[]> {
  const seen: string[] = []
  let next: ListQuery | undefined = query
  while (next) {
    const page: DocumentPage<Note> = await store.list(notes, { ...next, fresh: true })
    expect(page.docs.length).toBeLessThanOrEqual(query.limit)
    seen.push(...page.docs.map(({ id }) => id))
    await between?.()
    next = page.next_cursor === undefined ? undefined : { ...query, cursor: page.next_cursor }
  }
  return seen
}

const ranks = { a: 2, b: undefined, c: 1, d: 2, e: undefined, f: -0.5, g: 1e9 } as const
const ranked = Object.fromEntries(Object.entries(ranks).map(([id, rank]) => [id, rank === undefined ? {} : { rank }]))

export const readRequirements: readonly StoreRequirement[] = [
  storeRequirement('order-by-id', 'without an order documents come by the bytes of their ids', async ({ store }) => {
    const titles = ['b', 'a', 'Z', 'ä', '🗝', '\uffee', '10', '9', 'aa']
    for (const id of titles) await store.create(notes, id, buildNote())
    const expected = titles.toSorted((x, y) => Buffer.compare(Buffer.from(x), Buffer.from(y)))
    expect(await listPages(store, { limit: 100 })).toEqual(expected)
    expect(await listPages(store, { limit: 2 })).toEqual(expected)
  }),
  storeRequirement(
    'order-by-field',
    'ties go by id, and documents without the field are the smallest',
    async ({ store }) => {
      await putNotes(store, ranked)
      for (const limit of [1, 2, 3, 50]) {
        const up = await listPages(store, { limit, order: { field: 'rank', direction: 'asc' } })
        expect(up.join('')).toBe('befcadg')
        const down = await listPages(store, { limit, order: { field: 'rank', direction: 'desc' } })
        expect(down.join('')).toBe('gdacfeb')
      }
      const filter = { tenant_id: 'alpha', rank: { gte: 1 } }
      expect((await listPages(store, { limit: 2, filter, order: { field: 'rank', direction: 'desc' } })).join('')).toBe(
        'gdac',
      )
    },
  ),
  storeRequirement('page-bytes', 'a page of large documents ends early, and the list loses none', async ({ store }) => {
    const ids = Array.from({ length: 12 }, (_, index) => `doc${String(index).padStart(2, '0')}`)
    for (const id of ids) await store.create(notes, id, buildNote({ title: 'x'.repeat(1_000_000), rank: 1 }))
    for (const order of [undefined, { field: 'rank', direction: 'desc' }] as const) {
      const query = { limit: 500, ...(order ? { order } : {}) }
      const first = await store.list(notes, { ...query, fresh: true })
      expect(first.docs.length).toBe(4)
      expect(first.next_cursor).toBeDefined()
      expect((await listPages(store, query)).toSorted()).toEqual(ids)
    }
  }),
  storeRequirement('long-texts', 'pages go on behind texts however long, each document once', async ({ store }) => {
    const same = 'ß'.repeat(20_000)
    const texts = { a: 'short', b: `${same}1`, c: `${same}2`, d: `${same}3`, e: `${same}3`, f: 'ß', g: 'ü' }
    await putNotes(store, Object.fromEntries(Object.entries(texts).map(([id, title]) => [id, { title }])))
    for (const direction of ['asc', 'desc'] as const) {
      const order = { field: 'title', direction }
      const whole = await listPages(store, { limit: 100, order })
      expect(whole.toSorted().join('')).toBe('abcdefg')
      for (const limit of [1, 2, 3]) expect(await listPages(store, { limit, order })).toEqual(whole)
    }
  }),
  storeRequirement('last-page', 'a page that ends the list has no cursor, even when it is full', async ({ store }) => {
    await putNotes(store, { a: {}, b: {} })
    expect(await store.list(notes, { limit: 2, fresh: true })).not.toHaveProperty('next_cursor')
    expect(await store.list(notes, { limit: 1 })).toHaveProperty('next_cursor')
    expect(await store.list(notes, { limit: 5, filter: { title: 'none' } })).toEqual({ docs: [] })
  }),
  storeRequirement(
    'stable-pages',
    'documents that come and go between pages neither hide nor repeat another',
    async ({ store }) => {
      const expected = Array.from({ length: 30 }, (_, n) => `m${String(n).padStart(2, '0')}`)
      for (const [n, id] of expected.entries()) await store.create(notes, id, buildNote({ count: Math.floor(n / 7) }))
      let turn = 0
      const between = async () => {
        turn += 1
        await store.create(notes, `a${turn}`, buildNote({ count: 0 }))
        await store.create(notes, `z${turn}`, buildNote({ count: 99 }))
        await store.remove(notes, `a${turn - 1}`)
      }
      const seen = await listPages(store, { limit: 4, order: { field: 'count', direction: 'asc' } }, between)
      expect(seen.filter((id) => id.startsWith('m'))).toEqual(expected)
      expect(new Set(seen).size).toBe(seen.length)
    },
  ),
  storeRequirement('filters', 'equality, sets, ranges and presence, all of which must hold', async ({ store }) => {
    await putNotes(store, {
      a: { rank: 1, kind: 'red', title: 'x' },
      b: { rank: 2, kind: 'green', title: 'y', open: false },
      c: { rank: 3, kind: 'blue', title: 'z', tenant_id: 'bravo' },
      d: { kind: 'blue', title: "it's", expires_ts: 50 },
    })
    const cases: readonly [Filter, string][] = [
      [{}, 'abcd'],
      [{ kind: 'blue' }, 'cd'],
      [{ kind: 'blue', tenant_id: 'bravo' }, 'c'],
      [{ tenant_id: 'nobody' }, ''],
      [{ kind: { in: ['red', 'green'] } }, 'ab'],
      [{ kind: { in: [] } }, ''],
      [{ rank: { gt: 1 } }, 'bc'],
      [{ rank: { gte: 1, lt: 3 } }, 'ab'],
      [{ rank: { lte: 1 } }, 'a'],
      [{ rank: { exists: false } }, 'd'],
      [{ rank: { exists: true }, tenant_id: 'alpha' }, 'ab'],
      [{ open: true }, 'acd'],
      [{ open: false }, 'b'],
      [{ open: { in: [true, false] } }, 'abcd'],
      [{ title: "it's" }, 'd'],
      [{ title: { gte: 'x', lte: 'y' } }, 'ab'],
      [{ expires_ts: { lte: 50 } }, 'd'],
      [{ expires_ts: { exists: false } }, 'abc'],
    ]
    for (const [filter, expected] of cases) expect([filter, await listIds(store, filter)]).toEqual([filter, expected])
  }),
  storeRequirement('declared-only', 'a field without an index is an error, not an empty answer', async ({ store }) => {
    await expect(store.list(notes, { filter: { color: 'red' }, limit: 1 })).rejects.toThrow('color')
    await expect(store.list(notes, { order: { field: 'color', direction: 'asc' }, limit: 1 })).rejects.toThrow('color')
    await expect(store.count(notes, { color: 1 })).rejects.toThrow('color')
    await expect(store.countBy(notes, 'color')).rejects.toThrow('color')
    await expect(store.histogram(notes, 'color', 1)).rejects.toThrow('color')
    await expect(store.removeWhere(notes, { color: 1 })).rejects.toThrow('color')
  }),
  storeRequirement('cursor', 'an altered or foreign cursor is malformed', async ({ store }) => {
    await putNotes(store, ranked)
    const query: ListQuery = {
      limit: 2,
      filter: { kind: 'red' },
      order: { field: 'rank', direction: 'asc' },
      fresh: true,
    }
    const cursor = String((await store.list(notes, query)).next_cursor)
    const altered = [`${cursor.slice(0, -3)}AAA`, `A${cursor.slice(1)}`, '', 'null', 'W10', '%00', cursor.slice(0, 9)]
    for (const wrong of altered) {
      await expect(store.list(notes, { ...query, cursor: wrong })).rejects.toMatchObject({ code: 'malformed' })
    }
    const others: ListQuery[] = [
      { limit: 2 },
      { ...query, filter: { kind: 'blue' } },
      { ...query, order: { field: 'rank', direction: 'desc' } },
      { ...query, order: { field: 'count', direction: 'asc' } },
    ]
    for (const other of others) {
      await expect(store.list(notes, { ...other, cursor })).rejects.toMatchObject({ code: 'malformed' })
    }
    expect((await store.list(notes, { ...query, limit: 1, cursor })).docs).toHaveLength(1)
  }),
  storeRequirement('count-by', 'documents are counted per value, those without it left out', async ({ store }) => {
    await putNotes(store, { a: { rank: 1 }, b: { rank: 1, kind: 'blue' }, c: { open: false, tenant_id: 'bravo' } })
    expect(await store.countBy(notes, 'kind', {}, fresh)).toEqual(
      new Map([
        ['red', 2],
        ['blue', 1],
      ]),
    )
    expect(await store.countBy(notes, 'rank', {}, fresh)).toEqual(new Map([[1, 2]]))
    expect(await store.countBy(notes, 'open', {}, fresh)).toEqual(
      new Map([
        [false, 1],
        [true, 2],
      ]),
    )
    expect(await store.countBy(notes, 'kind', { tenant_id: 'bravo' }, fresh)).toEqual(new Map([['red', 1]]))
    expect(await store.countBy(notes, 'tenant_id', { open: true }, fresh)).toEqual(new Map([['alpha', 2]]))
  }),
  storeRequirement('label-key', 'a label is found by its key, and its absence by the empty one', async ({ store }) => {
    const secret = buildLabel({ categories: ['b', 'a'], releasable_to: ['bravo', 'alpha'] })
    const key = labelKey(secret)
    await putNotes(store, {
      a: { label: secret },
      b: {},
      c: { label: buildLabel({ ...secret, categories: ['a', 'b'] }) },
    })
    expect(await store.countBy(notes, 'label_key', { tenant_id: 'alpha' }, fresh)).toEqual(
      new Map([
        [key, 2],
        ['', 1],
      ]),
    )
    expect(await listIds(store, { label_key: { in: [key] } })).toBe('ac')
    expect(await listIds(store, { label_key: '' })).toBe('b')
    await store.update(notes, 'a', ({ value: { label: _, ...rest } }) => ({ next: rest, answer: 0 }))
    expect(await listIds(store, { label_key: '' })).toBe('ab')
  }),
  storeRequirement(
    'histogram',
    'buckets begin at multiples of the interval; empty ones are left out',
    async ({ store }) => {
      await putNotes(store, {
        a: { rank: 0 },
        b: { rank: 9.5 },
        c: { rank: 10 },
        d: { rank: -1 },
        e: { rank: 35 },
        f: {},
      })
      expect(await store.histogram(notes, 'rank', 10, {}, fresh)).toEqual(
        new Map([
          [-10, 1],
          [0, 2],
          [10, 1],
          [30, 1],
        ]),
      )
      expect(await store.histogram(notes, 'rank', 10, { rank: { gt: 9 } }, fresh)).toEqual(
        new Map([
          [0, 1],
          [10, 1],
          [30, 1],
        ]),
      )
    },
  ),
]
