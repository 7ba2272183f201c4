// Requirements on bounded counts: where they are exact, and that hidden documents change nothing.
import { expect } from 'vitest'
import type { Filter } from '../../daemon/kernel/store/store.ts'
import { putNotes } from './store-reads.ts'
import { buildLabel, notes, type StoreRequirement, storeRequirement } from './store-requirement.ts'

const fresh = { fresh: true }

export const totalRequirements: readonly StoreRequirement[] = [
  storeRequirement(
    'count-up-to',
    'a bounded count is exact up to its bound, and never above the true number',
    async ({ store }) => {
      await putNotes(
        store,
        Object.fromEntries([...'abcdefgh'].map((id, n) => [id, { kind: n < 5 ? 'red' : 'blue', rank: n }])),
      )
      const red = { kind: 'red' }
      expect(await store.countUpTo(notes, 8, {}, fresh)).toEqual({ total: 8, total_is: 'exact' })
      expect(await store.countUpTo(notes, 7, {}, fresh)).toEqual({ total: 7, total_is: 'at_least' })
      expect(await store.countUpTo(notes, 5, red, fresh)).toEqual({ total: 5, total_is: 'exact' })
      expect(await store.countUpTo(notes, 4, red, fresh)).toEqual({ total: 4, total_is: 'at_least' })
      expect(await store.countUpTo(notes, 8, { kind: { in: ['red', 'green'] } }, fresh)).toEqual({
        total: 5,
        total_is: 'exact',
      })
      expect(await store.countUpTo(notes, 8, { rank: { gte: 6 } }, fresh)).toEqual({ total: 2, total_is: 'exact' })
      expect(await store.countUpTo(notes, 8, { kind: 'green' }, fresh)).toEqual({ total: 0, total_is: 'exact' })
      const both = { ...red, rank: { gte: 2 } }
      expect(await store.countUpTo(notes, 80, both, fresh)).toEqual({ total: 3, total_is: 'exact' })
      for (let most = 1; most < 80; most += 1)
        expect((await store.countUpTo(notes, most, both, fresh)).total).toBeLessThanOrEqual(3)
      await expect(store.countUpTo(notes, 8, { color: 'red' }, fresh)).rejects.toThrow('color')
    },
  ),
  storeRequirement(
    'count-up-to-reveals-nothing',
    'a bounded count is the same with hidden documents and without',
    async ({ store }) => {
      const viewer = { tenant_id: 'alpha', clearance: { level: 'OPEN', categories: [] } }
      const how = { read_scope: { viewer, policy: { policy: 'site', levels: ['OPEN', 'SECRET', 'TOP'] } }, fresh: true }
      for (const n of [1, 2, 3, 4]) await putNotes(store, { [`v${n}`]: { kind: n > 2 ? 'red' : 'blue', rank: n } })
      const filters: readonly Filter[] = [{}, { kind: 'red' }, { rank: { gte: 2 } }, { kind: 'red', rank: { gte: 2 } }]
      const countAll = async () => {
        const counts = filters.flatMap((filter) => [1, 2, 3, 4, 10, 40].map((most) => ({ filter, most })))
        return Promise.all(counts.map(({ filter, most }) => store.countUpTo(notes, most, filter, how)))
      }
      const before = await countAll()
      // Before, between and after the visible ones in every index.
      for (const n of [0, 1, 2, 3, 4, 5])
        await putNotes(store, {
          [`a${n}`]: { kind: 'red', rank: n, label: buildLabel({ categories: ['x'] }) },
          [`w${n}`]: { kind: 'blue', rank: n, label: buildLabel({ level: 'TOP' }) },
          [`x${n}`]: { kind: 'red', rank: n, tenant_id: 'bravo' },
        })
      expect(await countAll()).toEqual(before)
    },
  ),
]
