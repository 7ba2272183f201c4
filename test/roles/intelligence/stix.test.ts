// Signals exported as STIX 2.1: checked against the standard, against each other, and against the rights of the reader.
import { expect, test } from 'vitest'
import { acknowledge } from '../../../daemon/roles/intelligence/signal/acknowledge.ts'
import { exportStix } from '../../../daemon/roles/intelligence/signal/export.ts'
import { get } from '../../../daemon/roles/intelligence/signal/get.ts'
import { extension_id, type Sighting } from '../../../daemon/roles/intelligence/stix/model.ts'
import { subjectType } from '../../../daemon/shared/signal-cause/signal-subject.ts'
import { findStixFaults } from '../../support/documents/find-stix-faults.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { openInsight, raiseSignal, setUpIntelligenceSite, waitUntilOutboxEmpty } from './intelligence-site.ts'

const world = setUpIntelligenceSite()

async function exportBundle(
  person: CheckedClient,
  input: Parameters<typeof person.ok<typeof exportStix.input, typeof exportStix.output>>[1] = {},
) {
  const answer = await person.ok(exportStix, input)
  expect(findStixFaults(answer.bundle)).toEqual([])
  const objects = answer.bundle.objects ?? []
  const sightings = objects.filter((object): object is Sighting => object.type === 'sighting')
  return { ...answer, objects, sightings }
}

test('a signal is a sighting of its subject at this site, marked with its label, and whole in the extension', async () => {
  const signal_type = 'stix_one'
  const bob = await world().as({ subject: 'bob', clearance: { level: 'SECRET', categories: ['A'] } })
  const made = await raiseSignal(bob, {
    ...{ signal_type, confidence: 0.456, description: 'No lights.', metadata: { speed_kn: 3, Größe: [null, {}] } },
    source: { type: 'polling', name: 'cve', reference: 'https://feed.example/7?a=b' },
    classification: { level: 'SECRET', categories: ['A'], releasable_to: ['tenant-a', 'FRA'] },
    ...{ routing: { to: 'desk' }, detected_at: '2026-03-02T12:30:00+02:00' },
  })
  const { objects, sightings } = await exportBundle(bob, { signal_type })
  const [sighting] = sightings
  const at = (id: string | undefined) => objects.find((object) => object.id === id)
  const { linked_insight_ids: _links, version: _version, uid: _uid, ...whole } = await bob.ok(get, { uid: made })
  expect(sighting).toMatchObject({
    description: 'Aurora seen at anchor\n\nNo lights.',
    labels: [signal_type, 'severity:high', 'status:new'],
    confidence: 46,
    ...{ first_seen: '2026-03-02T10:30:00.000Z', last_seen: '2026-03-02T10:30:00.000Z', count: 1 },
    external_references: [
      { source_name: 'platform', external_id: made },
      { source_name: 'polling cve', url: 'https://feed.example/7?a=b' },
    ],
    extensions: { [extension_id]: { signal: whole } },
  })
  expect(at(sighting?.sighting_of_ref)).toMatchObject({
    ...{ type: 'identity', identity_class: 'system', name: 'Aurora' },
    extensions: { [extension_id]: { subject: { type: 'asset', id: 'ship-1' } } },
    object_marking_refs: sighting?.object_marking_refs,
  })
  expect(at(sighting?.where_sighted_refs[0])).toMatchObject({ type: 'identity', name: 'alpha' })
  expect(at(sighting?.object_marking_refs[0])).toMatchObject({
    definition: { statement: 'SECRET // A // releasable to FRA, tenant-a // originator tenant-a // policy SITE' },
    extensions: {
      [extension_id]: { label: { level: 'SECRET', categories: ['A'], releasable_to: ['FRA', 'tenant-a'] } },
    },
  })
})

test('every type of subject has an object of the standard', async () => {
  const ann = await world().as()
  for (const type of subjectType.options)
    await raiseSignal(ann, { signal_type: 'stix_types', subject: { type, id: `x-${type}`, name: type } })
  const { objects, sightings } = await exportBundle(ann, { signal_type: 'stix_types' })
  expect(new Set(sightings.map(({ sighting_of_ref }) => sighting_of_ref)).size).toBe(subjectType.options.length)
  expect(objects.filter(({ type }) => type === 'incident')).toMatchObject([{ name: 'event' }])
})

test('the same signals are the same bundle; a changed one is a new version of the same sighting', async () => {
  const ann = await world().as()
  const bob = await world().as({ subject: 'bob', clearance: { level: 'SECRET' } })
  const signal_type = 'stix_same'
  const uid = await raiseSignal(ann, { signal_type })
  await raiseSignal(ann, { signal_type, source: { type: 'manual', reference: 'not a url' } })
  const first = await exportBundle(ann, { signal_type })
  expect((await exportBundle(bob, { signal_type })).bundle).toEqual(first.bundle)
  world().clock.advance(1_000)
  await ann.ok(acknowledge, { uid })
  const second = await exportBundle(ann, { signal_type })
  expect(second.bundle.id).not.toBe(first.bundle.id)
  expect(second.objects.map(({ id }) => id)).toEqual(first.objects.map(({ id }) => id))
  const changed = second.sightings.filter((each, at) => each.modified !== first.sightings[at]?.modified)
  expect(changed.map((each) => each.extensions[extension_id]?.signal.signal_id)).toEqual([uid])
})

test('pages hold all signals once, each page whole in itself', async () => {
  const ann = await world().as()
  const signal_type = 'stix_pages'
  const uids = await Promise.all(Array.from({ length: 5 }, () => raiseSignal(ann, { signal_type })))
  const found: string[] = []
  let cursor: string | undefined
  do {
    const page = await exportBundle(ann, { signal_type, limit: 2, ...(cursor ? { cursor } : {}) })
    found.push(...page.sightings.map((each) => each.extensions[extension_id]?.signal.signal_id ?? ''))
    cursor = page.next_cursor
  } while (cursor)
  expect(found.toSorted()).toEqual(uids.toSorted())
})

test('exports nothing above the caller, of another tenant, or not releasable as requested; nor an insight', async () => {
  const ann = await world().as()
  const low = await world().as({ subject: 'lou', clearance: { level: 'UNCLASSIFIED' } })
  const eve = await world().as({ subject: 'eve', tenant: 'tenant-b' })
  const signal_type = 'stix_secret'
  const subject = (id: string) => ({ type: 'asset' as const, id, name: `name-of-${id}` })
  const secret = await raiseSignal(ann, { signal_type, classification: 'SECRET', subject: subject('hidden') })
  const classification = { level: 'UNCLASSIFIED', releasable_to: ['tenant-a', 'FRA'] }
  const plain = await raiseSignal(ann, { signal_type, classification, subject: subject('open') })
  const insight = await openInsight(ann, plain)
  await waitUntilOutboxEmpty(world())
  const seen = await exportBundle(low, { signal_type })
  expect(seen.sightings).toHaveLength(1)
  expect(JSON.stringify(seen)).not.toMatch(new RegExp(`${secret}|name-of-hidden|SECRET`))
  expect(JSON.stringify(await exportBundle(ann, { signal_type }))).not.toContain(insight)
  expect(await exportBundle(ann, { signal_type, releasable_to: 'FRA' })).toMatchObject({
    left_out: 1,
    sightings: [{ extensions: { [extension_id]: { signal: { signal_id: plain } } } }],
  })
  const none = await exportBundle(eve, { signal_type })
  expect(none.bundle).toEqual({ type: 'bundle', id: none.bundle.id })
  expect(await exportBundle(ann, { signal_type, releasable_to: 'DEU' })).toMatchObject({ left_out: 2, objects: [] })
})
