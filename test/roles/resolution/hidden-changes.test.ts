// Changes of entities name nothing that the caller may not see, and one answer looks up a bounded number of references.
import { beforeAll, expect, test } from 'vitest'
import { history } from '../../../daemon/roles/resolution/entity-change/history.ts'
import { list as changes } from '../../../daemon/roles/resolution/entity-change/list.ts'
import {
  type EntityChange,
  entityChangeLogs,
  entityChanges,
} from '../../../daemon/roles/resolution/entity-change/model.ts'
import { assignPlaces, entityChangeId } from '../../../daemon/roles/resolution/entity-change/recorded-changes.ts'
import { clusterUid } from '../../../daemon/roles/resolution/entity-cluster/model.ts'
import { entityMatches } from '../../../daemon/roles/resolution/entity-match/model.ts'
import { entityRecords, recordUid } from '../../../daemon/roles/resolution/entity-record/model.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { setUpResolutionSite } from './resolution-site.ts'
import { buildMatchUid, registryLabel, seeded_at, seedRegistry } from './seed-registry.ts'

const world = setUpResolutionSite()
const tenant_id = 'tenant-a'
const secret = { ...registryLabel, level: 'SECRET' }
const ref = (record_id: string) => ({ node_id: 'north', record_id })
const listOf = (name: string, size: number) => Array.from({ length: size }, (_, at) => ref(`${name}${at}`))
let ann: CheckedClient
let bob: CheckedClient

beforeAll(async () => {
  ann = await world().as()
  bob = await world().as({ subject: 'bob', clearance: { level: 'UNCLASSIFIED' } })
})

type Stored = Pick<EntityChange, 'change' | 'cause'> & Partial<EntityChange>

/** A log whose last batch has these changes of the entity of a record. */
async function storeLog(lens: string, log: readonly Stored[], { record = 'a', label = registryLabel } = {}) {
  const entity = clusterUid(tenant_id, lens, ref(record))
  const batch = world().clock.now()
  const at = seeded_at
  const places = assignPlaces(
    batch,
    log.map((_, index) => ({ entity, at, revision: index + 1 })),
  )
  for (const [index, { place, revision }] of places.entries()) {
    const id = entityChangeId(entity, revision)
    const change = { id, entity, lens, at, revision, size: 1, ...(log[index] as Stored) }
    const expires_ts = batch + 86_400_000
    await world()
      .store('resolution')
      .create(entityChanges, id, { tenant_id, label, lens, entity, place, change, expires_ts })
  }
  const head = { tenant_id, batch, settled: batch, pending: [], has_pending: 0 as const }
  if ((await world().store('resolution').create(entityChangeLogs, tenant_id, head)) === 'exists')
    await world()
      .store('resolution')
      .update(entityChangeLogs, tenant_id, () => ({ next: head, answer: undefined }))
  return entity
}

test('a decision, a run and a record above the clearance leave no trace in feed and history', async () => {
  const lens = 'hidden'
  await seedRegistry(world(), { lens, clusters: [['a'], ['b'], ['c']], pairs: [['a', 'b', 1]] })
  const match = buildMatchUid('a', 'b', lens)
  const store = world().store('resolution')
  const hide = ({ value }: { value: object }) => ({ next: { ...value, label: secret } as never, answer: undefined })
  await store.update(entityMatches, match, hide)
  await store.update(entityRecords, recordUid(tenant_id, lens, ref('b')), hide)
  const cause = { kind: 'decision' as const, match, by: 'ann' }
  const left = [ref('b'), ref('c')]
  const entity = await storeLog(lens, [
    { change: 'left', left, unlisted: 3, cause },
    { change: 'left', left: [ref('c')], unlisted: 3, cause: { kind: 'run', run_id: 'run_gone' } },
    { change: 'deleted', cause: { kind: 'deletion', by: 'olga' } },
  ])
  for (const read of [
    async (who: CheckedClient) => (await who.ok(changes, { lens })).items,
    async (who: CheckedClient) => (await who.ok(history, { uid: entity })).items,
  ]) {
    const [all, low] = [await read(ann), await read(bob)]
    expect(all[0]).toMatchObject({ left, unlisted: 3, cause })
    expect(low[0]).toMatchObject({ left: [ref('c')] })
    expect(low[0]?.cause).toEqual({ kind: 'decision' })
    expect(low[0]).not.toHaveProperty('unlisted')
    expect(low[1]).toMatchObject({ left: [ref('c')], unlisted: 3 })
    expect(low[1]?.cause).toEqual({ kind: 'run' })
    expect(low[2]?.cause).toEqual({ kind: 'deletion', by: 'olga' })
  }
})

test('a page ends before it names too many references, and the next one continues there', async () => {
  const lens = 'large'
  await seedRegistry(world(), { lens, clusters: [['a']], pairs: [] })
  const cause = { kind: 'run' as const, run_id: 'run_gone' }
  const log = ['p', 'q', 'r', 's', 't'].map((name) => ({ change: 'left' as const, left: listOf(name, 500), cause }))
  const uid = await storeLog(lens, log)
  const first = await ann.ok(changes, { lens })
  expect([first.items.map(({ revision }) => revision), first.has_more]).toEqual([[1, 2, 3, 4], true])
  const rest = await ann.ok(changes, { lens, since: first.next_since ?? '' })
  expect([rest.items.map(({ revision }) => revision), rest.has_more]).toEqual([[5], false])
  const page = await ann.ok(history, { uid })
  expect(page).toMatchObject({ items: [1, 2, 3, 4].map((revision) => ({ revision })), total: 5 })
  const end = await ann.ok(history, { uid, cursor: page.next_cursor ?? '' })
  expect(end.items.map(({ revision }) => revision)).toEqual([5])
  expect(end).not.toHaveProperty('next_cursor')
})

test('the position of a reader who sees nothing advances, does not show that something is hidden, and skips nothing', async () => {
  const lens = 'quiet'
  const created = [{ change: 'created' as const, cause: { kind: 'arrival' as const } }]
  const cleared = { subject: 'bob', clearance: { level: 'UNCLASSIFIED' } }
  const { next_since } = await bob.ok(changes, { lens })
  await storeLog(lens, created, { label: secret })
  expect(await bob.ok(changes, { lens })).toEqual({ items: [], next_since, has_more: false })
  // Longer than changes are kept: a position that stood still would be refused.
  let since = next_since
  for (let days = 0; days < 400; days += 50) {
    world().clock.advance(50 * 86_400_000)
    const reader = await world().as(cleared)
    const page = await reader.ok(changes, { lens, since })
    expect(page).toMatchObject({ items: [], has_more: false })
    expect(page.next_since).not.toBe(since)
    since = page.next_since
  }
  await storeLog(lens, created, { record: 'b' })
  const reader = await world().as(cleared)
  const page = await reader.ok(changes, { lens, since })
  expect(page.items).toMatchObject([{ change: 'created', entity: clusterUid(tenant_id, lens, ref('b')) }])
  expect((await reader.ok(changes, { lens, since: page.next_since })).items).toEqual([])
})
