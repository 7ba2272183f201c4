// Changes of an entity by a write, and the order of changes in the log.
import { expect, test } from 'vitest'
import type { StoredCluster } from '../entity-cluster/model.ts'
import { recordKey } from '../registry/record-key.ts'
import {
  assignPlaces,
  batchOf,
  batchStart,
  nextRetention,
  quietPosition,
  recordEntityChange,
  removeLoggedChanges,
  retainedDays,
} from './recorded-changes.ts'

const at = '2026-03-02T12:00:00.000Z'
const label = { policy: 'SITE', level: 'OPEN', categories: [], originator: 'alpha' }
const context = { at, cause: { kind: 'arrival' as const } }
const ref = (record_id: string) => ({ node_id: 'north', record_id })

function entityOf(ids: readonly string[], overrides: Partial<StoredCluster> = {}): StoredCluster {
  return {
    ...{ tenant_id: 'alpha', label, lens: 'people', lens_id: 'l', lens_version: '1.0.0', entity_type: 'person' },
    ...{ run_id: 'run_1', state: 'live', members: ids.map(ref), size: ids.length, lineage: { merged_from: [] } },
    ...{ created_at: at, updated_at: at, ...overrides },
  }
}

/** The changes that a write adds, without what all of them have. */
function describe(before: StoredCluster | undefined, after: StoredCluster, more: object = {}) {
  const { unlogged_changes = [] } = recordEntityChange(before, after, { ...context, ...more })
  return unlogged_changes.map(({ at: _at, cause: _cause, label: _label, ...change }) => change)
}

test('a new entity names its records, and the entity that it was split off', () => {
  expect(describe(undefined, entityOf(['a', 'b']))).toEqual([
    { revision: 1, change: 'created', size: 2, joined: [ref('a'), ref('b')] },
  ])
  const part = entityOf(['c'], { lineage: { merged_from: [], split_from: 'ent_1' } })
  expect(describe(undefined, part)).toMatchObject([{ change: 'created', from: ['ent_1'] }])
})

test('records that come are named one by one, unless they come with an entity that is merged', () => {
  const before = entityOf(['a'], { changes: 4 })
  const after = { ...before, members: ['a', 'b', 'c'].map(ref), size: 3, lineage: { merged_from: ['ent_2'] } }
  expect(describe(before, after, { carried: new Set([recordKey(ref('b'))]) })).toEqual([
    { revision: 5, change: 'joined', size: 3, joined: [ref('c')], from: ['ent_2'] },
  ])
})

test('records that go are a split where they are entities of their own, and else have left', () => {
  const before = entityOf(['a', 'b'])
  const after = { ...before, members: [ref('a')], size: 1 }
  expect(describe(before, after, { parts: ['ent_3'] })).toEqual([
    { revision: 1, change: 'split', size: 1, left: [ref('b')], into: ['ent_3'] },
  ])
  expect(describe(before, after)).toMatchObject([{ change: 'left', left: [ref('b')] }])
  const swapped = { ...before, members: [ref('a'), ref('z')] }
  expect(describe(before, swapped, { parts: ['ent_3'] }).map(({ revision, change }) => [revision, change])).toEqual([
    [1, 'split'],
    [2, 'joined'],
  ])
})

test('an id ends by a merge or a deletion, and a merged one can begin again', () => {
  const live = entityOf(['a'])
  const merged = { ...live, state: 'merged' as const, members: [], size: 0 }
  const into = { ...merged, lineage: { merged_from: [], merged_into: ['ent_9'] } }
  expect(describe(live, into)).toEqual([{ revision: 1, change: 'merged', size: 0, into: ['ent_9'] }])
  expect(describe(into, live)).toMatchObject([{ change: 'restored', joined: [ref('a')] }])
  const deleted = { ...merged, state: 'deleted' as const }
  expect(describe(live, deleted)).toMatchObject([{ change: 'deleted', left: [ref('a')] }])
  expect(describe(deleted, { ...deleted, forgotten: { at, by: 'ann', reason: 'r' } })).toEqual([])
})

test('a write of the same records is no change, and a large one lists 500', () => {
  const before = entityOf(['a'])
  expect(recordEntityChange(before, { ...before, run_id: 'run_2' }, context)).toEqual({ ...before, run_id: 'run_2' })
  const many = Array.from({ length: 600 }, (_, number) => `r${number}`)
  const [change] = describe(undefined, entityOf(many))
  expect([change?.joined?.length, change?.unlisted]).toEqual([500, 100])
})

test('an entity holds its changes until they are in the log', () => {
  const first = recordEntityChange(undefined, entityOf(['a']), context)
  const second = recordEntityChange(first, { ...first, members: ['a', 'b'].map(ref), size: 2 }, context)
  expect(second.unlogged_changes?.map(({ revision }) => revision)).toEqual([1, 2])
  const partly = removeLoggedChanges(second, new Set([1]))
  expect([partly.unlogged_changes?.map(({ revision }) => revision), partly.unlogged]).toEqual([[2], 1])
  const logged = removeLoggedChanges(partly, new Set([2]))
  expect([logged.unlogged_changes, logged.unlogged, logged.changes]).toEqual([undefined, undefined, 2])
  expect([second, partly, logged].map(({ log_writes }) => log_writes)).toEqual([undefined, 1, 2])
  expect(removeLoggedChanges(logged, new Set([2]))).toBe(logged)
})

test('positions follow batches, and within an entity revisions, also when the clock was set back', () => {
  const changes = [
    { entity: 'ent_1', at: '2026-03-02T12:00:00.000Z', revision: 9 },
    { entity: 'ent_1', at: '2026-03-02T11:00:00.000Z', revision: 10 },
  ]
  const places = assignPlaces(7, changes).map(({ place }) => place)
  expect(places.toSorted()).toEqual(places)
  expect(places.every((place) => place > batchStart(7) && place < batchStart(8) && batchOf(place) === 7)).toBe(true)
})

test('a position without a change lies a day back, below a batch that is not copied, and names no batch that is', () => {
  const [day_ms, now] = [86_400_000, 9 * 86_400_000]
  const pending = [{ entity: 'ent_1', revision: 1, place: '' }]
  expect(quietPosition({ batch: now - 5, pending: [] }, now)).toBe(quietPosition(undefined, now))
  expect(batchOf(quietPosition(undefined, now))).toBe(now - day_ms)
  const [place] = assignPlaces(5, [{ entity: 'ent_1', at: '2026-03-02T12:00:00.000Z', revision: 1 }])
  expect(quietPosition({ batch: 5, pending }, now) < (place?.place ?? '')).toBe(true)
  expect(quietPosition({ batch: now - 5, pending }, now)).toBe(quietPosition(undefined, now))
  expect(batchOf(quietPosition(undefined, 5))).toBe(0)
})

test('a position is judged by the fewest days under which a change after it was logged', () => {
  const first = nextRetention({ batch: 0 }, 10)
  expect([first, retainedDays(first, 100, 10)]).toEqual([{ days: 10 }, 10])
  // The setting is raised: first without a batch since, then with one, then again.
  expect(retainedDays(first, 100, 30)).toBe(10)
  const raised = nextRetention({ batch: 100, ...first }, 30)
  expect(raised).toEqual({ days: 30, fewer: { batch: 100, days: 10 } })
  expect([100, 101].map((batch) => retainedDays(raised, batch, 30))).toEqual([10, 30])
  const again = nextRetention({ batch: 200, ...raised }, 40)
  expect([200, 201].map((batch) => retainedDays(again, batch, 40))).toEqual([10, 40])
  // It is lowered, which holds for older positions too, since changes after them go earlier.
  const lowered = nextRetention({ batch: 300, ...raised }, 5)
  expect([100, 200, 301].map((batch) => retainedDays(lowered, batch, 30))).toEqual([5, 5, 5])
})
