// Entities outlive runs: the same id for the same records, and what people decided holds in every later run.
import { beforeAll, expect, test } from 'vitest'
import { list as clusters } from '../../../daemon/roles/resolution/entity-cluster/list.ts'
import type { ClusterView } from '../../../daemon/roles/resolution/entity-cluster/model.ts'
import { explain } from '../../../daemon/roles/resolution/entity-match/explain.ts'
import { get } from '../../../daemon/roles/resolution/entity-match/get.ts'
import { list as matches } from '../../../daemon/roles/resolution/entity-match/list.ts'
import type { MatchView } from '../../../daemon/roles/resolution/entity-match/model.ts'
import { review } from '../../../daemon/roles/resolution/entity-match/review.ts'
import { uncertain } from '../../../daemon/roles/resolution/entity-match/uncertain.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { status } from '../../../daemon/roles/resolution/fusion-run/status.ts'
import { summary } from '../../../daemon/roles/resolution/fusion-run/summary.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite } from './resolution-site.ts'

const world = setUpResolutionSite()
let ann: CheckedClient
beforeAll(async () => {
  ann = await world().as()
  await ann.ok(create, { body: buildPersonLens('1.0.0') })
})

let turn = 0
async function runLists(node_data: Record<string, ReturnType<typeof buildPeople>>) {
  const { run_id } = await ann.ok(
    start,
    { lens_id: 'people', node_data, accept_poor: true },
    { 'idempotency-key': `run-${++turn}` },
  )
  return waitUntil(async () => {
    const found = await ann.ok(status, { run_id })
    return ['completed', 'failed'].includes(found.state) && found
  })
}

/** Members to the id of their entity, all that are. */
async function listEntities(): Promise<Map<string, string>> {
  const { items } = await ann.ok(clusters, { lens: 'people', min_size: 1, limit: 500 })
  const full = items.filter((item): item is ClusterView => 'members' in item)
  return new Map(
    full.map(({ uid, members }) => [members.map((each) => `${each.node_id}/${each.record_id}`).join(' '), uid]),
  )
}

const both = { east: buildPeople(0, 30), west: buildPeople(10, 40) }

test('a run again finds every entity under its id', async () => {
  expect(await runLists(both)).toMatchObject({ state: 'completed', counts: { entities: 40, clusters: 20 } })
  const first = await listEntities()
  expect(first.size).toBe(40)
  expect(first.get('east/p10 west/p10')).toMatch(/^ent_/)
  await runLists(both)
  expect(await listEntities()).toEqual(first)
})

test('a decision of people holds in the next run; once taken back, the computed match counts again', async () => {
  const before = await listEntities()
  const { items } = await ann.ok(matches, { limit: 500 })
  const match = items.find(({ linked, left }) => linked && left.record_id === 'p12') as MatchView
  const decide = (decision: 'reject' | 'defer') => ann.ok(review, { correlation_id: match.uid, decision })
  const settled = (linked: boolean) =>
    waitUntil(async () => {
      const now = await ann.ok(get, { uid: match.uid })
      return now.settled && now.linked === linked && now
    })
  await decide('reject')
  await settled(false)
  await runLists(both)
  expect(await settled(false)).toMatchObject({ state: 'rejected', decided_by: 'human', reviews: [{ by: 'ann' }] })
  const apart = await listEntities()
  expect(apart.has('east/p12')).toBe(true)
  expect(apart.has('west/p12')).toBe(true)
  const entity = before.get('east/p12 west/p12')
  expect([apart.get('east/p12'), apart.get('west/p12')]).toContain(entity)
  await decide('defer')
  await settled(true)
  expect(await listEntities()).toEqual(before)
})

test('new records join their entity under its id, and others get ids of their own', async () => {
  const before = await listEntities()
  expect((await runLists({ ...both, south: buildPeople(0, 45) })).state).toBe('completed')
  const after = await listEntities()
  expect(after.get('east/p10 south/p10 west/p10')).toBe(before.get('east/p10 west/p10'))
  expect(after.get('east/p3 south/p3')).toBe(before.get('east/p3'))
  expect([...before.values()]).not.toContain(after.get('south/p44'))
  expect(after.size).toBe(45)
})

test('lists uncertain matches page by page, the most valuable first, and describes a run in prose', async () => {
  const { run_id } = await runLists(both)
  const all = (await ann.ok(uncertain, { run_id, limit: 500 })).items
  expect(all.map(({ worth }) => worth)).toEqual(all.map(({ worth }) => worth).sort((one, other) => other - one))
  for (const { worth } of all) expect(worth).toBeGreaterThanOrEqual(0.05)
  const paged: string[] = []
  let cursor: string | undefined
  do {
    const page = await ann.ok(uncertain, { run_id, limit: 3, ...(cursor === undefined ? {} : { cursor }) })
    paged.push(...page.items.map(({ uid }) => uid))
    cursor = page.next_cursor
  } while (cursor !== undefined)
  expect(paged).toEqual(all.map(({ uid }) => uid))
  const { text } = await ann.ok(summary, { run_id })
  expect(text).toContain('The run applies the lens people 1.0.0 to 60 records of 2 sources: east (30) and west (30).')
  expect(text).toContain('form 40 entities of type person: 20 clusters with 40 records, and 20 single records')
  const { headers, text: plain } = await world().call(
    'resolution',
    'GET',
    `/api/v2/fusion_run/${run_id}/summary`,
    undefined,
    {
      token: ann.token,
      headers: { accept: 'text/plain' },
    },
  )
  expect([headers.get('content-type'), plain]).toEqual(['text/plain; charset=utf-8', text])
  expect(await (await world().as({ tenant: 'tenant-b' })).refusal(summary, { run_id })).toBe('not_found')
})

test('a match is explained field by field, and its parts add up to its score', async () => {
  const { items } = await ann.ok(matches, { limit: 500 })
  const match = items.find(({ linked, left }) => linked && left.record_id === 'p15') as MatchView
  const explained = await ann.ok(explain, { correlation_id: match.uid })
  expect(explained.bits).toBeCloseTo(match.score.bits ?? Number.NaN, 9)
  expect(explained.probability).toBeCloseTo(match.score.probability ?? Number.NaN, 9)
  expect(explained.steps.map(({ field, level }) => [field, level])).toEqual([
    ['given_name', 'equal'],
    ['surname', 'equal'],
    ['date_of_birth', 'equal'],
  ])
  expect(explained.steps[1]?.left).toBe(explained.steps[1]?.right)
  // Each value is in a block of two records, the first of which counts.
  expect(explained.found_by).toEqual(['given_name: whole'])
  expect(match.found_by).toEqual(explained.found_by)
  // The score without any field is the same for every pair of a run, or the parts do not add up to the score.
  const run_items = (await ann.ok(matches, { run_id: match.run_id, limit: 500 })).items as MatchView[]
  const priors = run_items.map(({ prior_bits = Number.NaN }) => prior_bits)
  for (const prior of priors) expect(prior).toBeCloseTo(priors[0] ?? Number.NaN, 6)
  const ask = (accept: string) =>
    world().call('resolution', 'GET', `/api/v2/entity_match/${match.uid}/explain`, undefined, {
      token: ann.token,
      headers: { accept },
    })
  expect((await ask('text/plain')).text).toBe(explained.text)
  const svg = await ask('image/svg+xml')
  expect(svg.headers.get('content-type')).toBe('image/svg+xml')
  expect(svg.text).toMatch(/^<svg [\s\S]*surname[\s\S]*<\/svg>\n$/)
  expect(await (await world().as({ tenant: 'tenant-b' })).refusal(explain, { correlation_id: match.uid })).toBe(
    'not_found',
  )
})

test('clusters that grow, more than are settled at once, all keep their ids, and a merge among them is reported', async () => {
  await ann.ok(create, { body: { ...buildPersonLens('1.0.0'), lens: 'many', link_only: true } })
  const resolved = async (node_data: Record<string, ReturnType<typeof buildPeople>>) => {
    const { run_id } = await ann.ok(start, { lens_id: 'many', node_data, accept_poor: true })
    await waitUntil(async () => (await ann.ok(status, { run_id })).state === 'completed')
    const { items } = await ann.ok(clusters, { lens: 'many', min_size: 1, limit: 500 })
    return new Map(
      items.flatMap((item) => ('members' in item ? item.members.map((each) => [refText(each), item] as const) : [])),
    )
  }
  const refText = (ref: { node_id: string; record_id: string }) => `${ref.node_id}/${ref.record_id}`
  const before = await resolved({ east: buildPeople(0, 105) })
  // Alone, each is an entity of its own; beside its like it goes into the older one.
  world().clock.advance(1_000)
  await resolved({ west: buildPeople(100, 105) })
  const after = await resolved({ east: buildPeople(0, 105), west: buildPeople(0, 105) })
  const grown = Array.from({ length: 105 }, (_, at) => [before.get(`east/p${at}`), after.get(`east/p${at}`)] as const)
  expect(grown.map(([was, is]) => [was?.uid, is?.size])).toEqual(grown.map(([, is]) => [is?.uid, 2]))
  expect(grown.slice(100).every(([, is]) => is?.lineage.merged_from.length === 1)).toBe(true)
  expect(grown.slice(0, 100).every(([, is]) => is?.lineage.merged_from.length === 0)).toBe(true)
})
