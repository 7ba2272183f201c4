// Silences over HTTP: a matching signal is stored, marked and counted, and stays out of plain lists until someone takes it up.
import { expect, test } from 'vitest'
import type * as z from 'zod'
import { acknowledge } from '../../../daemon/roles/intelligence/signal/acknowledge.ts'
import { byEntity } from '../../../daemon/roles/intelligence/signal/by-entity.ts'
import { create as createSignal } from '../../../daemon/roles/intelligence/signal/create.ts'
import { get } from '../../../daemon/roles/intelligence/signal/get.ts'
import { list } from '../../../daemon/roles/intelligence/signal/list.ts'
import { create } from '../../../daemon/roles/intelligence/silence/create.ts'
import { end } from '../../../daemon/roles/intelligence/silence/end.ts'
import { get as silence } from '../../../daemon/roles/intelligence/silence/get.ts'
import { list as silenceList } from '../../../daemon/roles/intelligence/silence/list.ts'
import { type StoredSilence, silences } from '../../../daemon/roles/intelligence/silence/model.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { buildSignalInput, raiseSignal, setUpIntelligenceSite } from './intelligence-site.ts'

const hour_ms = 3_600_000
const world = setUpIntelligenceSite({ silence_days: 2 })

const createOperator = (more: object = {}) => world().as({ subject: 'olga', roles: ['operator'], ...more })
const formatHoursAhead = (hours: number) => new Date(world().clock.now() + hours * hour_ms).toISOString()

async function createSilence(
  person: CheckedClient,
  matchers: z.input<typeof create.input>['matchers'],
  more: object = {},
) {
  return (
    await person.ok(create, { matchers, reason: 'the buoys are serviced', ends_at: formatHoursAhead(8), ...more })
  ).uid
}

async function readVisibility(person: CheckedClient, uid: string) {
  const { visibility, silence_id } = await person.ok(get, { uid })
  return silence_id === undefined ? visibility : `${visibility} by ${silence_id}`
}

const buildBuoyFields = (name: string) => ({
  source: { type: 'polling' as const, name },
  subject: { type: 'sensor' as const, id: name, name: 'Buoy' },
})

test('a signal under a silence is stored and marked, stays out of plain lists, and returns when it is taken up', async () => {
  const [olga, ann] = [await createOperator(), await world().as()]
  const uid = await createSilence(olga, { source_name: ['sea-*'], severity: ['low', 'high'] })
  const other = await raiseSignal(ann, { ...buildBuoyFields('sea-1'), severity: 'critical' })
  const hidden = await raiseSignal(ann, buildBuoyFields('sea-1'))
  expect(await readVisibility(ann, hidden)).toBe(`silenced by ${uid}`)
  expect((await ann.ok(get, { uid: hidden })).status).toBe('new')
  const found = async (more: object) =>
    (await ann.ok(list, { subject_id: 'sea-1', ...more })).items.map((each) => each.uid)
  const about = await ann.ok(byEntity, { entity_id: 'sea-1' })
  expect([await found({}), about.items.map((each) => each.uid)]).toEqual([[other], [other]])
  expect(await found({ visibility: 'silenced', silence_id: uid })).toEqual([hidden])
  expect((await ann.ok(list, { silence_id: uid })).items).toEqual([])
  expect(await ann.ok(silence, { uid })).toMatchObject({ state: 'active', owner: 'olga', silenced: 1 })
  await ann.ok(acknowledge, { uid: hidden })
  expect(await readVisibility(ann, hidden)).toBe(`listed by ${uid}`)
  expect((await found({})).toSorted()).toEqual([hidden, other].toSorted())
})

test('it holds from its start to its end, or to when it is ended, and stays readable', async () => {
  const [olga, ann] = [await createOperator(), await world().as()]
  const signal = () => raiseSignal(ann, buildBuoyFields('tide'))
  const before = await signal()
  const uid = await createSilence(
    olga,
    { subject_id: ['tide'] },
    { starts_at: formatHoursAhead(1), ends_at: formatHoursAhead(2), owner: 'desk' },
  )
  expect(await ann.ok(silence, { uid })).toMatchObject({ state: 'pending', owner: 'desk' })
  expect(await readVisibility(ann, await signal())).toBe('listed')
  world().clock.advance(hour_ms)
  const under = await signal()
  world().clock.advance(hour_ms)
  expect(await ann.ok(silence, { uid })).toMatchObject({ state: 'ended', silenced: 1 })
  expect(await Promise.all([before, under, await signal()].map((each) => readVisibility(ann, each)))).toEqual([
    ...['listed', `silenced by ${uid}`, 'listed'],
  ])
  expect(await olga.refusal(end, { uid })).toBe('wrong_state')
  const early = await createSilence(olga, { subject_id: ['tide'] })
  const in_state = async (state: 'active' | 'ended') =>
    (await ann.ok(silenceList, { state, limit: 500 })).items.map((each) => each.uid)
  expect(await in_state('active')).toContain(early)
  const over = await olga.ok(end, { uid: early, rationale: 'serviced' })
  expect(over).toMatchObject({ state: 'ended', ended_by: 'olga', ended_because: 'serviced' })
  expect(await readVisibility(ann, await signal())).toBe('listed')
  expect(await in_state('active')).not.toContain(early)
  expect(await in_state('ended')).toEqual(expect.arrayContaining([uid, early]))
})

test('only who is permitted makes or ends one, and what it names and how long it lasts is bounded', async () => {
  const [olga, ann] = [await createOperator(), await world().as()]
  const bob = await createOperator({ tenant: 'tenant-b' })
  const storm = { matchers: { signal_type: ['weather'] }, reason: 'a storm', ends_at: formatHoursAhead(1) }
  expect(await ann.refusal(create, storm)).toBe('forbidden')
  const uid = (await olga.ok(create, storm, { 'idempotency-key': 'once' })).uid
  expect((await olga.ok(create, storm, { 'idempotency-key': 'once' })).uid).toBe(uid)
  expect(await olga.refusal(create, { ...storm, reason: 'x' }, { 'idempotency-key': 'once' })).toBe(
    'idempotency_mismatch',
  )
  expect(await ann.refusal(end, { uid })).toBe('forbidden')
  expect([await bob.refusal(silence, { uid }), await bob.refusal(end, { uid })]).toEqual([
    'not_found',
    'not_your_tenant',
  ])
  for (const wrong of [
    { matchers: {} },
    { matchers: { signal_type: ['*'] } },
    { matchers: { severity: ['urgent' as 'low'] } },
    { ends_at: formatHoursAhead(-1) },
    { starts_at: formatHoursAhead(3), ends_at: formatHoursAhead(2) },
    { ends_at: formatHoursAhead(49) },
    { starts_at: formatHoursAhead(49), ends_at: formatHoursAhead(50) },
    { reason: ' ' },
  ])
    expect(await olga.refusal(create, { ...storm, ...wrong }), JSON.stringify(wrong)).toBe('invalid')
  await olga.ok(end, { uid })
})

test('silences nothing above its author, and a signal reveals no silence above its viewer', async () => {
  const ann = await world().as()
  const low = { clearance: { level: 'UNCLASSIFIED' } }
  const [weak, lou] = [await createOperator(low), await world().as({ subject: 'lou', ...low })]
  const source = buildBuoyFields('mole')
  const uid = await createSilence(weak, { source_name: ['mole'] })
  expect(await readVisibility(ann, await raiseSignal(ann, { ...source, classification: 'SECRET' }))).toBe('listed')
  await weak.ok(end, { uid })
  const high = await createSilence(await createOperator(), { source_name: ['mole'] }, { classification: 'SECRET' })
  // It counts for a sender below it, too.
  const made = await lou.ok(createSignal, buildSignalInput({ ...source, classification: 'UNCLASSIFIED' }))
  expect([made.visibility, made.silence_id]).toEqual(['silenced', undefined])
  expect(await readVisibility(ann, made.uid)).toBe(`silenced by ${high}`)
  expect([await lou.refusal(silence, { uid: high }), await weak.refusal(end, { uid: high })]).toEqual([
    ...['not_found', 'not_found'],
  ])
  const seen = (await lou.ok(silenceList, { limit: 500 })).items.map((each) => each.uid)
  expect([seen.includes(high), seen.includes(uid)]).toEqual([false, true])
})

test('a list counts all silences that the caller may see, on each of its pages', async () => {
  const [olga, cleared] = [
    await createOperator({ tenant: 'tenant-c', clearance: { level: 'UNCLASSIFIED' } }),
    await createOperator({ tenant: 'tenant-c' }),
  ]
  for (let at = 0; at < 7; at++) {
    world().clock.advance(1)
    const hidden = at % 2 === 0 ? {} : { classification: 'SECRET' }
    await createSilence(cleared, { source_name: [`lake-${at}`] }, hidden)
  }
  const readPages = async (person: CheckedClient) => {
    const totals = new Set<string>()
    let found = 0
    let cursor: string | undefined
    do {
      const page = await person.ok(silenceList, { limit: 2, ...(cursor && { cursor }) })
      found += page.items.length
      totals.add(`${page.total} ${page.total_is}`)
      cursor = page.next_cursor
    } while (cursor !== undefined)
    return [found, ...totals]
  }
  expect(await readPages(cleared)).toEqual([7, '7 exact'])
  expect(await readPages(olga)).toEqual([4, '4 exact'])
})

test('a silence applies however large those before it are', async () => {
  const [olga, ann] = [await createOperator(), await world().as()]
  const store = world().store('intelligence')
  const uid_before = await createSilence(olga, { subject_id: ['before'] })
  const before = (await store.get(silences, uid_before))?.value as StoredSilence
  const values = Array.from({ length: 100 }, (_, at) => `${at}`.padStart(256, 'x'))
  const matchers = { subject_id: values, source_name: values, signal_type: values }
  for (let at = 0; at < 60; at++) await store.create(silences, `sil_${at}`, { ...before, matchers })
  world().clock.advance(1_000)
  const uid = await createSilence(olga, { subject_id: ['behind'] })
  const under = await raiseSignal(ann, buildBuoyFields('behind'))
  expect(await readVisibility(ann, under)).toBe(`silenced by ${uid}`)
})
