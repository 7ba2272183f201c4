// One record is looked up in what the registry holds: its entity with the evidence, and nothing that the caller may not know of.
import { beforeAll, expect, test } from 'vitest'
import { lookup } from '../../../daemon/roles/resolution/entity/lookup.ts'
import { list as clusters } from '../../../daemon/roles/resolution/entity-cluster/list.ts'
import { get } from '../../../daemon/roles/resolution/entity-match/get.ts'
import { list as matches } from '../../../daemon/roles/resolution/entity-match/list.ts'
import type { MatchView } from '../../../daemon/roles/resolution/entity-match/model.ts'
import { review } from '../../../daemon/roles/resolution/entity-match/review.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite, waitForRunEnd } from './resolution-site.ts'

const world = setUpResolutionSite()
let ann: CheckedClient
beforeAll(async () => {
  ann = await world().as()
  await ann.ok(create, { body: buildPersonLens() })
})

/** A description of a person with an unknown id. */
function buildRecord(number: number): Record<string, string> {
  const { id: _id, ...person } = buildPeople(number, number + 1)[0] ?? { id: '' }
  return person
}
const person = buildRecord(12)

/** A run of its own instant: the last one counts. */
async function runLists(node_data: Record<string, ReturnType<typeof buildPeople>>, key: string, more: object = {}) {
  world().clock.advance(1_000)
  const { run_id } = await ann.ok(
    start,
    { lens_id: 'people', node_data, accept_poor: true, ...more },
    { 'idempotency-key': key },
  )
  expect(await waitForRunEnd(ann, run_id)).toMatchObject({ state: 'completed' })
  return run_id
}

test('before any run of the lens it says that nothing is known', async () => {
  expect(await ann.refusal(lookup, { record: person })).toBe('wrong_state')
  expect(await ann.refusal(lookup, { record: person, lens_id: 'nobody-made-this' })).toBe('not_found')
})

test('a record finds its entity by the lens in use, with the score that the run gave such a pair', async () => {
  const run_id = await runLists({ east: buildPeople(0, 40), west: buildPeople(10, 50) }, 'first')
  const found = await ann.ok(lookup, { record: person })
  expect(found).toMatchObject({ lens: 'people', lens_version: '1.0.0', run_id })
  const [best] = found.entities
  expect(best).toMatchObject({ size: 2, above_cut: true, record: { node_id: 'east', record_id: 'p12' } })
  expect(best?.steps.map(({ field, level }) => [field, level])).toEqual([
    ['given_name', 'equal'],
    ['surname', 'equal'],
    ['date_of_birth', 'equal'],
  ])
  const { items } = await ann.ok(matches, { run_id, limit: 500 })
  const twin = items.find(({ left, right }) => left.record_id === 'p12' && right.record_id === 'p12') as MatchView
  expect(best?.record_bits).toBeCloseTo(twin.score.bits ?? Number.NaN, 9)
  expect(best?.prior_bits).toBeCloseTo(twin.prior_bits ?? Number.NaN, 9)
  const listed = await ann.ok(clusters, { run_id, limit: 500 })
  expect(listed.items.map(({ uid }) => uid)).toContain(best?.entity)
  for (const { above_cut, entity } of found.entities) expect(above_cut).toBe(entity === best?.entity)
})

test('a slip of the hand still finds it, a missing field too, and a stranger is above no cut', async () => {
  const [best] = (await ann.ok(lookup, { record: person })).entities
  const slip = { ...person, surname: `${person.surname}n` }
  const [near] = (await ann.ok(lookup, { record: slip })).entities
  expect(near?.entity).toBe(best?.entity)
  expect(near?.record_bits).toBeLessThan(best?.record_bits ?? 0)
  const { date_of_birth: _date, ...less } = person
  expect((await ann.ok(lookup, { record: less })).entities[0]?.entity).toBe(best?.entity)
  const stranger = { given_name: 'Xerxes', surname: 'Quagga', date_of_birth: '1801-12-31' }
  for (const { above_cut } of (await ann.ok(lookup, { record: stranger })).entities) expect(above_cut).toBe(false)
  expect(await ann.refusal(lookup, { record: { colour: 'red' } })).toBe('invalid')
  expect(await ann.refusal(lookup, { record: {} })).toBe('invalid')
})

test('shows at once a record that a decision moved', async () => {
  const [before] = (await ann.ok(lookup, { record: person })).entities
  const { items } = await ann.ok(matches, { limit: 500 })
  const twin = items.find(({ left, right }) => left.record_id === 'p12' && right.record_id === 'p12') as MatchView
  const decide = async (decision: 'reject' | 'defer', linked: boolean) => {
    await ann.ok(review, { correlation_id: twin.uid, decision })
    await waitUntil(async () => {
      const now = await ann.ok(get, { uid: twin.uid })
      return now.settled && now.linked === linked && now
    })
  }
  await decide('reject', false)
  const apart = (await ann.ok(lookup, { record: person })).entities.filter(({ above_cut }) => above_cut)
  expect(apart.map(({ size }) => size)).toEqual([1, 1])
  await decide('defer', true)
  expect((await ann.ok(lookup, { record: person })).entities[0]).toMatchObject({ entity: before?.entity, size: 2 })
})

test('another tenant finds nothing, and a later run is looked up in without a word', async () => {
  const other = await world().as({ tenant: 'tenant-b' })
  expect(await other.refusal(lookup, { record: person, lens_id: 'people' })).toBe('not_found')
  const new_person = buildRecord(70)
  const above = async () => (await ann.ok(lookup, { record: new_person })).entities.filter(({ above_cut }) => above_cut)
  expect(await above()).toEqual([])
  const run_id = await runLists(
    { east: buildPeople(0, 40), west: buildPeople(10, 50), south: buildPeople(60, 75) },
    'second',
  )
  expect((await ann.ok(lookup, { record: new_person })).run_id).toBe(run_id)
  expect(await above()).toMatchObject([{ size: 1, record: { node_id: 'south', record_id: 'p70' } }])
})

test('records above the clearance are neither found nor counted', async () => {
  await runLists({ vault: buildPeople(90, 95) }, 'third', { classification: 'SECRET' })
  const record = buildRecord(92)
  const low = await world().as({ clearance: { level: 'UNCLASSIFIED', categories: [] } })
  const limited = await low.ok(lookup, { record, limit: 20 })
  expect(JSON.stringify(limited)).not.toContain('vault')
  const full = await ann.ok(lookup, { record, limit: 20 })
  expect(full.entities.map(({ record: { node_id } }) => node_id)).toContain('vault')
})
