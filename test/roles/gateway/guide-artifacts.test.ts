// Artifacts through their endpoints: versions, audit records, superseding, tenants and labels.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitUntil } from '../../support/site/test-site.ts'
import { admin, type GuideSite, lowAdmin, otherAdmin, startGuideSite } from './guide-site.ts'

let stage: GuideSite
beforeAll(async () => {
  stage = await startGuideSite()
})
afterAll(async () => {
  await stage.site.end()
  expect(stage.site.loggedErrors).toEqual([])
})

const post = (id: string, verb: string, body: object = {}, who = admin, headers = {}) =>
  stage.request(who, 'POST', `artifacts/${id}/${verb}`, body, headers)
const get = (id: string, who = admin, query = '') => stage.request(who, 'GET', `artifacts/${id}${query}`)
const auditOf = async (id: string) => (await stage.request(admin, 'GET', `audit?artifact_id=${id}`)).body.items

const label = (level: string) => ({ policy: 'SITE', level, categories: [], originator: 'tenant-a' })

test('each change makes a version, keeps the one before it, and is recorded with its rationale', async () => {
  const id = await stage.propose({ evaluator_score: 0.8, confidence: '0.7', weight: 3 })
  expect((await get(id)).body).toMatchObject({ status: 'proposed', version: 1, prev_version_id: null, history: [] })
  const promoted = await post(id, 'promote', { rationale: 'seen to help', admin_note: 'by ada' })
  expect(promoted.body).toMatchObject({
    ...{ status: 'active', version: 2, prev_version_id: `${id}.1`, actor: 'admin:ada', similar: [] },
    content: { evaluator_score: 0.8, confidence: 0.7, weight: 3, embedding_model: 'char-ngrams-3-5-d512-v1' },
  })
  expect(promoted.etag).toBe('"2"')
  await stage.request(admin, 'PATCH', `artifacts/${id}`, { tags: ['a', 'b'], intent_class: null, notes: 'a note' })
  await post(id, 'demote')
  const { body } = await post(id, 'rollback', { version: 2 })
  expect(body).toMatchObject({ status: 'active', version: 5, prev_version_id: `${id}.4`, notes: '' })
  expect(body.applicability).toEqual({ intent_class: 'locate', tags: ['maps'] })
  const shown = (await get(id)).body
  expect(shown.history.map(({ version, status }: { version: number; status: string }) => [version, status])).toEqual([
    [4, 'demoted'],
    [3, 'active'],
    [2, 'active'],
    [1, 'proposed'],
  ])
  expect((await get(id, admin, '?as_of_version=3')).body).toMatchObject({ version: 3, notes: 'a note' })
  expect(await auditOf(id)).toMatchObject([
    { action: 'rollback', indefinite: true, expires_at: null, rationale: expect.stringContaining('version 2') },
    { action: 'demote', rationale: expect.stringContaining('demoted by the administrator ada') },
    { action: 'edit', before_version_id: `${id}.2`, after_version_id: `${id}.3` },
    { action: 'promote', rationale: 'seen to help', admin_note: 'by ada', trigger: 'admin_manual' },
    { action: 'compact', actor: 'curator_auto', after_version_id: `${id}.1`, indefinite: false },
  ])
})

test('the chain of the site has each change too', async () => {
  const id = await stage.propose()
  await post(id, 'promote')
  const token = await stage.site.token({ subject: 'al', roles: ['auditor'], clearance: { level: 'TOP_SECRET' } })
  const { json } = await stage.site.call('gateway', 'GET', `/api/v2/gateway/audit?target=${id}`, undefined, { token })
  const items = (json as { items: { event: { action: string } }[] }).items.map(({ event }) => event.action)
  expect(items).toContain('gateway.guide.artifact.promoted')
})

test('a condition on the version holds for each change', async () => {
  const id = await stage.propose()
  expect((await post(id, 'promote', {}, admin, { 'if-match': '"7"' })).status).toBe(412)
  expect((await post(id, 'promote', {}, admin, { 'if-match': '"1"' })).status).toBe(200)
  const edited = await stage.request(admin, 'PATCH', `artifacts/${id}`, { notes: 'x' }, { 'if-match': '"1"' })
  expect(edited.status).toBe(412)
  expect((await get(id)).body).toMatchObject({ version: 2, notes: '' })
})

test('a promoted artifact counts for more, and similar ones are advice that can be followed', async () => {
  const content = { tool: 'maps/a', next_tool: 'maps/b', support: 3, success_rate: 1, baseline_rate: 0.5 }
  const like = (hint: string) => stage.propose({ content: { ...content, hint }, service_name: 'alike' })
  const [first, second] = [
    await like('Call maps/a before maps/b, always.'),
    await like('Call maps/a before maps/b always'),
  ]
  expect((await post(first, 'promote')).body.content.weight).toBeUndefined()
  expect((await post(first, 'promote')).body.content.weight).toBe(2)
  const { similar } = (await post(second, 'promote')).body
  expect(similar).toEqual([{ id: first, version: 3, similarity: expect.closeTo(1, 1) }])
  const again = await post(second, 'promote', { supersede: true, supersedes: [first] })
  expect(again.body).toMatchObject({ supersedes: [first], similar: [] })
  await waitUntil(async () => (await get(first)).body.status === 'demoted')
  expect((await get(first)).body.superseded_by).toBe(second)
  expect(await auditOf(first)).toMatchObject([{ action: 'demote', actor: 'admin:ada' }, {}, {}, {}])
  expect((await post(first, 'promote')).status).toBe(409)
  await post(second, 'demote')
  expect((await post(first, 'promote')).status).toBe(200)
})

test.each([
  ['ids without supersede', { supersedes: [`artifact_${'0'.repeat(32)}`] }],
  ['supersede without ids', { supersede: true }],
  ['an artifact that is not there', { supersede: true, supersedes: [`artifact_${'0'.repeat(32)}`] }],
])('superseding needs artifacts of the same tenant and label: %s', async (_, body) => {
  expect((await post(await stage.propose(), 'promote', body)).status).toBe(422)
})

test('none of another tenant is superseded, and none supersedes itself', async () => {
  const foreign = await stage.propose({ tenant_id: 'tenant-b' })
  const id = await stage.propose()
  for (const listed of [foreign, id])
    expect((await post(id, 'promote', { supersede: true, supersedes: [listed] })).status).toBe(422)
  const labelled = await stage.propose({ label: label('SECRET') })
  expect((await post(id, 'promote', { supersede: true, supersedes: [labelled] })).status).toBe(422)
})

test('a forgotten artifact leaves the lists, and comes back by a rollback alone', async () => {
  const id = await stage.propose({ service_name: 'forgetful' })
  await post(id, 'promote')
  expect((await stage.request(admin, 'DELETE', `artifacts/${id}`)).status).toBe(409)
  await post(id, 'demote')
  const gone = await stage.request(admin, 'DELETE', `artifacts/${id}?rationale=wrong`)
  expect(gone.body).toMatchObject({ status: 'forgotten', version: 4 })
  const listed = async (more = '') =>
    (await stage.request(admin, 'GET', `artifacts?service_name=forgetful${more}`)).body.items.length
  expect([await listed(), await listed('&status=forgotten')]).toEqual([0, 1])
  expect((await post(id, 'promote')).status).toBe(409)
  expect((await stage.request(admin, 'PATCH', `artifacts/${id}`, { notes: 'x' })).status).toBe(409)
  expect((await post(id, 'rollback', { prev_version_id: `${id}.2` })).body).toMatchObject({
    ...{ status: 'active', version: 5, prev_version_id: `${id}.4` },
  })
  expect((await post(id, 'rollback', { version: 4 })).status).toBe(409)
  expect((await auditOf(id))[1]).toMatchObject({ action: 'forget', rationale: 'wrong', indefinite: true })
})

test.each([
  ['no version', {}],
  ['two', { version: 1, prev_version_id: 'x' }],
  ['a version of another artifact', { prev_version_id: `artifact_${'0'.repeat(32)}.1` }],
])('a rollback names one version: %s', async (_, body) => {
  expect((await post(await stage.propose(), 'rollback', body)).status).toBe(422)
})

test('a version that never was is not found', async () => {
  const id = await stage.propose()
  expect((await post(id, 'rollback', { version: 9 })).status).toBe(404)
  expect((await get(id, admin, '?as_of_version=9')).status).toBe(404)
})

test('an artifact of another tenant is missing to readers, and forbidden to change', async () => {
  const id = await stage.propose()
  expect((await get(id, otherAdmin)).status).toBe(404)
  for (const verb of ['promote', 'demote', 'rollback'])
    expect((await post(id, verb, verb === 'rollback' ? { version: 1 } : {}, otherAdmin)).status).toBe(403)
  expect((await stage.request(otherAdmin, 'PATCH', `artifacts/${id}`, { notes: 'x' })).status).toBe(403)
  expect((await stage.request(otherAdmin, 'DELETE', `artifacts/${id}`)).status).toBe(403)
  expect((await stage.request(otherAdmin, 'GET', `audit?artifact_id=${id}`)).body.items).toEqual([])
  expect((await get(id)).body).toMatchObject({ version: 1, status: 'proposed' })
})

test('an artifact above the clearance of the caller does not exist for it', async () => {
  const id = await stage.propose({ label: label('SECRET'), service_name: 'labelled' })
  expect((await post(id, 'promote')).status).toBe(200)
  expect((await get(id, lowAdmin)).status).toBe(404)
  expect((await post(id, 'demote', {}, lowAdmin)).status).toBe(404)
  expect((await stage.request(lowAdmin, 'GET', 'artifacts?service_name=labelled')).body.items).toEqual([])
  expect((await stage.request(lowAdmin, 'GET', `audit?artifact_id=${id}`)).body.items).toEqual([])
  expect((await stage.request(lowAdmin, 'GET', `decisions/explanation?artifact_id=${id}`)).status).toBe(404)
})

test('operators and analysts reach none of it', async () => {
  for (const roles of [['operator'], ['analyst'], ['auditor'], ['service']])
    for (const at of ['artifacts', 'audit', 'proposals', 'decisions', 'curator'])
      expect((await stage.request({ ...admin, roles }, 'GET', at)).status).toBe(403)
})

test('a list is read page by page, each artifact once, also where a page is read in steps', async () => {
  const proposed = []
  for (let at = 0; at < 130; at += 1) proposed.push(await stage.propose({ service_name: 'many' }))
  const seen: string[] = []
  let cursor = ''
  do {
    const more = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { body } = await stage.request(admin, 'GET', `artifacts?service_name=many&limit=120${more}`)
    expect([body.total, body.total_is]).toEqual([130, 'exact'])
    seen.push(...body.items.map(({ id }: { id: string }) => id))
    cursor = body.next_cursor ?? ''
  } while (cursor !== '')
  expect(seen.toSorted()).toEqual(proposed.toSorted())
})

test('an artifact that was demoted on other grounds is not hidden by an old list once it is promoted again', async () => {
  const [old, id] = [await stage.propose(), await stage.propose()]
  await post(old, 'promote')
  await post(old, 'demote')
  expect((await post(id, 'promote', { supersede: true, supersedes: [old] })).body.supersedes).toEqual([])
  expect((await post(old, 'promote')).body.status).toBe('active')
})
