// Lenses: what a version says never changes, and each is its tenant's own.
import { expect, test } from 'vitest'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { get } from '../../../daemon/roles/resolution/lens/get.ts'
import { list } from '../../../daemon/roles/resolution/lens/list.ts'
import { list as bindings } from '../../../daemon/roles/resolution/lens-binding/list.ts'
import { buildPersonLens, setUpResolutionSite } from './resolution-site.ts'

const world = setUpResolutionSite()

test('stores a lens, finds it, and the same again is the same lens', async () => {
  const ann = await world().as()
  const body = buildPersonLens('1.0.0', 'sailor')
  const made = await ann.ok(create, { body })
  expect(made).toMatchObject({ lens: 'people', lens_version: '1.0.0', entity_type: 'sailor', created_by: 'ann' })
  expect(made.body).toMatchObject({ ...body, id_field: 'id', told_by: 'fields' })
  expect(await ann.ok(create, { body })).toEqual(made)
  expect(await ann.ok(get, { uid: made.uid })).toEqual(made)
  expect((await ann.ok(list, { entity_type: 'sailor' })).items).toEqual([made])
  const [short] = (await ann.ok(list, { entity_type: 'sailor', summary: true })).items
  expect(short).not.toHaveProperty('body')
  expect(short).toMatchObject({ uid: made.uid, lens: 'people' })
})

test('another body under the same version is refused, and under another it is another lens in use', async () => {
  const ann = await world().as()
  const first = await ann.ok(create, { body: buildPersonLens('2.0.0', 'pilot') })
  expect(await ann.refusal(create, { body: { ...buildPersonLens('2.0.0', 'pilot'), id_field: 'key' } })).toBe(
    'already_exists',
  )
  const second = await ann.ok(create, { body: { ...buildPersonLens('2.1.0', 'pilot'), id_field: 'key' } })
  expect(second.uid).not.toBe(first.uid)
  const { items } = await ann.ok(bindings, { entity_type: 'pilot' })
  expect(items).toMatchObject([{ lens: 'people', lens_id: second.uid, lens_version: '2.1.0' }])
})

test('an idempotency key stands for one request: also where the lens was there, and not where the request was refused', async () => {
  const ann = await world().as()
  const keyed = (key: string) => ({ 'idempotency-key': key })
  const body = buildPersonLens('10.0.0', 'diver')
  const made = await ann.ok(create, { body })
  expect(await ann.ok(create, { body }, keyed('first'))).toEqual(made)
  expect(await ann.ok(create, { body }, keyed('first'))).toEqual(made)
  for (const other of [buildPersonLens('10.1.0', 'diver'), { ...body, id_field: 'key' }])
    expect(await ann.refusal(create, { body: other }, keyed('first'))).toBe('idempotency_mismatch')
  expect(await ann.refusal(create, { body, classification: 'SECRET' }, keyed('first'))).toBe('idempotency_mismatch')
  // A refused request leaves its key to the one that corrects it; the same key is another one for another caller.
  expect(await ann.refusal(create, { body: { ...body, id_field: 'key' } }, keyed('second'))).toBe('already_exists')
  await ann.ok(create, { body: buildPersonLens('10.2.0', 'diver') }, keyed('second'))
  const bob = await world().as({ subject: 'bob' })
  await bob.ok(create, { body: buildPersonLens('10.3.0', 'diver') }, keyed('first'))
  const { items } = await ann.ok(list, { entity_type: 'diver' })
  expect(items.map(({ lens_version }) => lens_version).sort()).toEqual(['10.0.0', '10.2.0', '10.3.0'])
})

test('of two requests at once under one key, one stores its lens', async () => {
  const ann = await world().as()
  const bodies = ['9.0.0', '9.1.0'].map((version) => buildPersonLens(version, 'miner'))
  const answers = await Promise.all(bodies.map((body) => ann.call(create, { body }, { 'idempotency-key': 'both' })))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 422])
  expect((await ann.ok(list, { entity_type: 'miner' })).items).toHaveLength(1)
})

test('a lens that cannot be is refused with the place that is wrong', async () => {
  const ann = await world().as()
  const fields = [{ name: 'given_name', type: 'name' as const }]
  const refused = await ann.call(create, {
    body: { ...buildPersonLens('3.0.0'), fields, swapped: ['given_name', 'family'] },
  })
  expect(refused.status).toBe(422)
  expect(refused.problem?.errors).toMatchObject([{ path: 'body.swapped.1' }])
})

test('it is served as an owned object under both prefixes', async () => {
  const ann = await world().as()
  const { uid } = await ann.ok(create, { body: buildPersonLens('4.0.0') })
  for (const prefix of ['/api/v1', '/userspace']) {
    const { status, json } = await world().call('resolution', 'GET', `${prefix}/lens/${uid}`, undefined, ann)
    expect([status, json]).toMatchObject([200, { uid }])
    const all = await world().call('resolution', 'GET', `${prefix}/lens`, undefined, ann)
    expect(all.json).toMatchObject({ items: expect.arrayContaining([expect.objectContaining({ uid })]) })
  }
})

test('service-info names the objects that it owns', async () => {
  const { json } = await world().call('resolution', 'GET', '/service-info')
  expect(json).toMatchObject({
    name: 'resolution-service',
    api_path: '/api/v2',
    objects: ['lens', 'lensbinding', 'entitymatch', 'entitycluster', 'fusionrun'],
  })
})

test('another tenant neither sees it nor is in its way', async () => {
  const ann = await world().as()
  const bob = await world().as({ subject: 'bob', tenant: 'tenant-b' })
  const ours = await ann.ok(create, { body: buildPersonLens('5.0.0') })
  expect(await bob.refusal(get, { uid: ours.uid })).toBe('not_found')
  const theirs = await bob.ok(create, { body: buildPersonLens('5.0.0', 'stranger') })
  expect(theirs.uid).not.toBe(ours.uid)
  expect(await ann.ok(get, { uid: ours.uid })).toEqual(ours)
})

test('a lens above the caller’s clearance is neither made nor seen', async () => {
  const ann = await world().as()
  const low = await world().as({ clearance: { level: 'UNCLASSIFIED' } })
  const body = buildPersonLens('6.0.0')
  expect(await low.refusal(create, { body, classification: 'SECRET' })).toBe('label_denied')
  const { uid } = await ann.ok(create, { body, classification: 'SECRET' })
  expect(await low.refusal(get, { uid })).toBe('not_found')
})

test('a name that a hidden lens or binding has is free for a caller below it, and neither changes the other', async () => {
  const ann = await world().as()
  const low = await world().as({ clearance: { level: 'UNCLASSIFIED' } })
  const body = buildPersonLens('7.0.0', 'envoy')
  const hidden = await ann.ok(create, { body, classification: 'SECRET' })
  const answers = []
  for (const each of [body, buildPersonLens('7.0.0', 'herald'), buildPersonLens('7.0.1', 'envoy')]) {
    answers.push(await low.call(create, { body: each }))
  }
  // The first has the name of the hidden lens and of its binding, the second the name of the lens, the third that of the binding.
  expect(answers.map(({ status }) => status)).toEqual([201, 409, 201])
  const own = await low.ok(create, { body })
  expect(own.uid).not.toBe(hidden.uid)
  expect(await ann.ok(get, { uid: hidden.uid })).toEqual(hidden)
  const ofLow = (await low.ok(bindings, { entity_type: 'envoy' })).items
  expect(ofLow).toMatchObject([{ lens_id: own.uid, lens_version: '7.0.0' }])
  const all = (await ann.ok(bindings, { entity_type: 'envoy' })).items
  expect(all).toHaveLength(2)
  expect(all).toEqual(
    expect.arrayContaining([ofLow[0], expect.objectContaining({ lens_id: hidden.uid, lens_version: '7.0.0' })]),
  )
})

test('a refused lens leaves nothing behind', async () => {
  const low = await world().as({ clearance: { level: 'UNCLASSIFIED' } })
  const body = buildPersonLens('8.0.0', 'warden')
  await low.ok(create, { body })
  expect(await low.refusal(create, { body: { ...body, id_field: 'key' } })).toBe('already_exists')
  expect(await low.refusal(create, { body: buildPersonLens('8.0.1', 'warden'), classification: 'SECRET' })).toBe(
    'label_denied',
  )
  expect((await low.ok(list, { entity_type: 'warden' })).items).toMatchObject([{ lens_version: '8.0.0' }])
  expect((await low.ok(bindings, { entity_type: 'warden' })).items).toMatchObject([{ lens_version: '8.0.0' }])
})
