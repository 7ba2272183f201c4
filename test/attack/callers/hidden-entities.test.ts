// No answer about a run shows a caller whether records above the clearance of the caller exist or share an entity.
import { beforeAll, expect, test } from 'vitest'
import { entityClusters } from '../../../daemon/roles/resolution/entity-cluster/model.ts'
import { entityRecords, recordUid } from '../../../daemon/roles/resolution/entity-record/model.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { status } from '../../../daemon/roles/resolution/fusion-run/status.ts'
import { summary } from '../../../daemon/roles/resolution/fusion-run/summary.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import {
  buildPeople,
  buildPersonLens,
  setUpResolutionSite,
  waitForRunEnd,
} from '../../roles/resolution/resolution-site.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'

const world = setUpResolutionSite()
let eve: CheckedClient

beforeAll(async () => {
  eve = await world().as({ subject: 'eve', clearance: { level: 'UNCLASSIFIED' } })
  await eve.ok(create, { body: buildPersonLens() })
  await completeRun(eve, 'UNCLASSIFIED', { east: buildPeople(100, 130), west: buildPeople(110, 140) })
  const hal = await world().as({ subject: 'hal', clearance: { level: 'SECRET' } })
  await completeRun(hal, 'SECRET', { vault: buildPeople(0, 30), annex: buildPeople(10, 40) })
})

async function completeRun(person: CheckedClient, classification: string, node_data: Record<string, Person[]>) {
  world().clock.advance(1_000)
  const { run_id } = await person.ok(start, { lens_id: 'people', classification, node_data })
  const run = await waitForRunEnd(person, run_id)
  expect(run).toMatchObject({ state: 'completed', counts: { clusters: 20 } })
}

type Person = ReturnType<typeof buildPeople>[number]

/** What eve learns from a run over one record, without ids and times. */
async function probe(node_id: string, record: Person | undefined) {
  world().clock.advance(1_000)
  const { run_id } = await eve.ok(start, { lens_id: 'people', node_data: { [node_id]: record ? [record] : [] } })
  const run = await waitUntil(async () => {
    const seen = await eve.ok(status, { run_id })
    return (seen.held !== undefined || seen.ended_at !== undefined) && seen
  })
  const { text } = await eve.ok(summary, { run_id })
  const { state, goal, held, counts, quality, left_out } = run
  return { state, goal, held, counts, quality, left_out, text: text.replaceAll(node_id, 'NODE') }
}

test('a run over the id of a hidden record that shares an entity goes like one over an id that nobody has', async () => {
  const absent = await probe('vault', buildPeople(700, 701)[0])
  const hidden = await probe('vault', buildPeople(12, 13)[0])
  const other = await probe('vault', { ...(buildPeople(900, 901)[0] as Person), id: 'p13' })
  expect(absent).toMatchObject({ state: 'completed', held: undefined })
  expect(hidden).toEqual(absent)
  expect(other).toEqual(absent)
})

test('an entity that has one hidden record is hidden, and holds no run of a caller who sees the others', async () => {
  // A record of both kinds in one entity: one that eve sees, and one that only hal does.
  const store = world().store('resolution')
  const seen = recordUid('tenant-a', 'people', { node_id: 'west', record_id: 'p112' })
  const record = await store.get(entityRecords, seen)
  expect(record?.value.entity).toBeDefined()
  expect(await probe('west', buildPeople(112, 113)[0])).toMatchObject({ state: 'matched', held: 'no_links' })
  await store.update(entityClusters, record?.value.entity ?? '', ({ value }) => ({
    next: { ...value, label: { ...value.label, level: 'SECRET' } },
    answer: undefined,
  }))
  expect(await probe('west', buildPeople(112, 113)[0])).toMatchObject({ state: 'completed', held: undefined })
})
