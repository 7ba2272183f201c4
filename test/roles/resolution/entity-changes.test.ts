// Entities change by runs, arrivals, decisions and deletions: a feed names each change once, in one order, and history says why.
import { beforeAll, expect, test } from 'vitest'
import { create as arrive } from '../../../daemon/roles/resolution/arrival/create.ts'
import { history } from '../../../daemon/roles/resolution/entity-change/history.ts'
import { list as changes } from '../../../daemon/roles/resolution/entity-change/list.ts'
import type { EntityChange } from '../../../daemon/roles/resolution/entity-change/model.ts'
import { get } from '../../../daemon/roles/resolution/entity-cluster/get.ts'
import { list as clusters } from '../../../daemon/roles/resolution/entity-cluster/list.ts'
import type { ClusterView } from '../../../daemon/roles/resolution/entity-cluster/model.ts'
import { remove } from '../../../daemon/roles/resolution/entity-cluster/remove.ts'
import { list as matches } from '../../../daemon/roles/resolution/entity-match/list.ts'
import type { MatchView } from '../../../daemon/roles/resolution/entity-match/model.ts'
import { review } from '../../../daemon/roles/resolution/entity-match/review.ts'
import { forget } from '../../../daemon/roles/resolution/entity-record/forget.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const world = setUpResolutionSite()
const lens = 'people'
let ann: CheckedClient
let run_id: string

/** A name and a date, or an address alone, may name a person, so that one record can be the link between two. */
const linkingLens = {
  ...buildPersonLens(),
  fields: [...buildPersonLens().fields, { name: 'email', type: 'email' as const, optional: true }],
  clustering: 'connected_components' as const,
}

function buildContacts(from: number, to: number) {
  return buildPeople(from, to).map((person) => ({ ...person, email: `${person.surname}@mail.example` }))
}

beforeAll(async () => {
  ann = await world().as({ roles: ['operator'] })
  await ann.ok(create, { body: linkingLens })
  const node_data = { east: buildContacts(0, 40), west: buildContacts(10, 50), north: buildContacts(5, 30) }
  ;({ run_id } = await ann.ok(start, { lens_id: lens, node_data }))
  expect(await waitForRunEnd(ann, run_id)).toMatchObject({ state: 'completed' })
})

async function add(record: object) {
  world().clock.advance(1_000)
  const { items } = await ann.ok(arrive, { lens_id: lens, node_id: 'south', records: [record] as never })
  return items[0]
}

/** All changes after a position, in pages of `limit`, once `isThere` finds what it waits for. */
async function readFeed(since?: string, isThere: (items: EntityChange[]) => boolean = () => true, limit = 7) {
  return await waitUntil(async () => {
    const items: EntityChange[] = []
    let position = since
    for (;;) {
      const page = await ann.ok(changes, { lens, limit, ...(position === undefined ? {} : { since: position }) })
      items.push(...page.items)
      position = page.next_since
      if (!page.has_more) return isThere(items) && { items, position }
    }
  })
}

test('a run begins entities, each of which the feed names once with its records', async () => {
  const { items: live, total } = await ann.ok(clusters, { lens, min_size: 1, limit: 500 })
  const { items } = await readFeed(undefined, (all) => all.length >= total)
  expect(items.map(({ entity }) => entity).sort()).toEqual(live.map(({ uid }) => uid).sort())
  const causes = new Set(items.map(({ change, cause }) => JSON.stringify([change, cause])))
  expect(causes).toEqual(new Set([JSON.stringify(['created', { kind: 'run', run_id }])]))
  expect(items.reduce((sum, { joined = [] }) => sum + joined.length, 0)).toBe(40 + 40 + 25)
  // The log is no change of them: a version that a caller has noted still holds.
  const { items: logged } = await ann.ok(clusters, { lens, min_size: 1, limit: 500 })
  expect(new Set((logged as ClusterView[]).map(({ version }) => version))).toEqual(new Set([1]))
})

test('a record that links two entities merges them: the answer, the feed and the history name both', async () => {
  const { position } = await readFeed()
  const [person] = buildContacts(70, 71)
  const named = await add({ ...person, id: 's1', email: '' })
  const reached = await add({ id: 's2', email: person?.email })
  expect([named, reached]).toMatchObject([
    { outcome: 'new', size: 1 },
    { outcome: 'new', size: 1 },
  ])
  const link = await add({ ...person, id: 's3' })
  const [stays, goes] = link?.entity === named?.entity ? [named, reached] : [reached, named]
  expect(link).toMatchObject({ outcome: 'merged', entity: stays?.entity, merged_from: [goes?.entity], size: 3 })
  expect(await add({ ...person, id: 's4' })).toMatchObject({ outcome: 'joined', entity: stays?.entity, size: 4 })
  expect(await add({ ...person, id: 's4' })).toMatchObject({ outcome: 'unchanged' })
  expect(await add({ ...person, id: 's4', given_name: 'Zoe' })).toMatchObject({ outcome: 'replaced' })
  const { items } = await readFeed(position, (all) => all.some(({ joined }) => joined?.[0]?.record_id === 's4'))
  expect(items.slice(0, 4)).toMatchObject([
    { change: 'created', entity: named?.entity },
    { change: 'created', entity: reached?.entity },
    ...[
      { change: 'joined', entity: stays?.entity, from: [goes?.entity], joined: [{ record_id: 's3' }] },
      { change: 'merged', entity: goes?.entity, into: [stays?.entity], size: 0 },
    ].sort((a, b) => ((a.entity ?? '') < (b.entity ?? '') ? -1 : 1)),
  ])
  const told = await ann.ok(history, { uid: stays?.entity ?? '' })
  expect(told.items[1]).toMatchObject({
    cause: { kind: 'arrival', run_id },
    links: [{ ref: { record_id: 's3' }, state: 'proposed', score: { bits: expect.any(Number) } }],
  })
  expect((await ann.ok(history, { uid: goes?.entity ?? '' })).items.at(-1)).toMatchObject({ change: 'merged' })
})

test('a decision splits an entity under the name of the person, and its withdrawal restores the merge', async () => {
  const { position } = await readFeed()
  const { items: found } = await ann.ok(matches, { lens, limit: 500 })
  const twin = (found as MatchView[]).find(({ left, right }) => left.record_id === 'p32' && right.record_id === 'p32')
  await ann.ok(review, { correlation_id: twin?.uid ?? '', decision: 'reject' })
  const { items: split, position: after } = await readFeed(position, (all) => all.length >= 2)
  expect(split.map(({ change }) => change).sort()).toEqual(['created', 'split'])
  const [origin, part] = ['split', 'created'].map((kind) => split.find(({ change }) => change === kind))
  expect(origin).toMatchObject({
    into: [part?.entity],
    size: 1,
    cause: { kind: 'decision', match: twin?.uid, by: 'ann' },
  })
  expect(part).toMatchObject({ from: [origin?.entity], joined: origin?.left })
  world().clock.advance(1_000)
  await ann.ok(review, { correlation_id: twin?.uid ?? '', decision: 'confirm' })
  const { items: joined } = await readFeed(after, (all) => all.length >= 2)
  expect(joined).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ change: 'joined', entity: origin?.entity, from: [part?.entity] }),
      expect.objectContaining({ change: 'merged', entity: part?.entity, into: [origin?.entity] }),
    ]),
  )
})

test('a forgotten record leaves its entity by reference alone, and a deleted entity ends', async () => {
  const [person] = buildContacts(90, 91)
  const first = await add({ ...person, id: 's90' })
  await add({ ...person, id: 's91' })
  const { position } = await readFeed(undefined, (all) => all.some(({ joined }) => joined?.[0]?.record_id === 's91'))
  await ann.ok(forget, { lens, node_id: 'south', record_id: 's91', reason: 'requested' })
  const uid = first?.entity ?? ''
  const { version } = await waitUntil(async () => {
    const entity = await ann.ok(get, { uid })
    return entity.size === 1 && entity
  })
  await readFeed(position, (all) => all.some(({ change }) => change === 'left'))
  const ifMatch = (wanted: number) => ({ 'if-match': `"${wanted}"` })
  expect(await ann.refusal(remove, { uid, reason: 'test data' }, ifMatch(version - 1))).toBe('precondition_failed')
  expect(await ann.ok(remove, { uid, reason: 'test data' }, ifMatch(version))).toMatchObject({ state: 'deleted' })
  const { items } = await readFeed(position, (all) => all.some(({ change }) => change === 'deleted'))
  expect(items).toMatchObject([
    { change: 'left', left: [{ record_id: 's91' }], size: 1, cause: { kind: 'withdrawal' } },
    { change: 'deleted', left: [{ record_id: 's90' }], size: 0, cause: { kind: 'deletion', by: 'ann' } },
  ])
  expect(JSON.stringify(await ann.ok(history, { uid: first?.entity ?? '' }))).not.toContain(person?.surname)
})

test('a position continues where it ended, belongs to one lens and clearance, and is refused once changes are gone', async () => {
  const { items: all, position } = await readFeed(undefined, undefined, 500)
  const paged = await readFeed(undefined, undefined, 1)
  expect(paged.items).toEqual(all)
  expect((await readFeed(position)).items).toEqual([])
  expect(await ann.refusal(changes, { lens: 'other', since: position as string })).toBe('malformed')
  const bob = await world().as({ subject: 'bob', clearance: { level: 'SECRET', categories: [] } })
  expect(await bob.refusal(changes, { lens, since: position as string })).toBe('malformed')
  const { next_since = '' } = await ann.ok(changes, { lens, limit: 1 })
  world().clock.advance(366 * 86_400_000)
  const late = await world().as({ roles: ['operator'] })
  expect(await late.refusal(changes, { lens, since: next_since })).toBe('wrong_state')
  // Nothing came after the newest position, so that nothing was missed.
  expect(await late.ok(changes, { lens, since: position as string })).toMatchObject({ items: [], has_more: false })
})
