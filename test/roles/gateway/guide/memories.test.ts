// Administrators seed, list, edit and forget memories, take snapshots of graphs and go back to them; each change is audited.
import { expect, test } from 'vitest'
import { readAuditEvents } from '../../../support/site/read-audit-events.ts'
import { admin, buildEnvelope, emitter, setUpGuide } from '../guide-site.ts'

const stage = setUpGuide()
const memories = '/api/v1/guide/memories'
const seed = (trace: number, more: object = {}) => stage().request(admin, 'POST', memories, buildEnvelope(trace, more))
const graphOf = async () => (await stage().request(admin, 'GET', '/api/v1/guide/graphs/outcome_graph')).body

test('a memory is there when it has been seeded, and the same one is found by a repeat', async () => {
  const first = await seed(1, { tags: ['exercise'], notes: 'by hand' })
  expect([first.status, first.body]).toEqual([
    201,
    expect.objectContaining({ trace_id: buildEnvelope(1).trace_id, tags: ['exercise'], notes: 'by hand', version: 1 }),
  ])
  expect((await seed(1)).body.memory_id).toBe(first.body.memory_id)
  const got = await stage().request(admin, 'GET', `${memories}/${first.body.memory_id}`)
  expect(got.body).toEqual(first.body)
})

test('lists filter by type, service, trace and time', async () => {
  await seed(2, { event_type: 'tool_error', service: 'charts' })
  const count = async (query: string) => (await stage().request(admin, 'GET', `${memories}?${query}`)).body.total
  expect(await count('')).toBe(2)
  expect(await count('event_type=tool_error')).toBe(1)
  expect(await count('service=charts&event_type=tool_output')).toBe(0)
  expect(await count(`trace_id=${buildEnvelope(2).trace_id}`)).toBe(1)
  const now = stage().site.clock.now()
  expect(await count(`since=${new Date(now).toISOString()}`)).toBe(2)
  expect(await count(`until=${new Date(now).toISOString()}`)).toBe(0)
})

test('tags and notes change by version; what was observed does not', async () => {
  const { memory_id } = (await seed(3)).body
  const path = `${memories}/${memory_id}`
  const edited = await stage().request(admin, 'PATCH', path, { tags: ['seen'] }, { 'if-match': '"1"' })
  expect(edited.body).toMatchObject({ tags: ['seen'], notes: '', version: 2 })
  expect((await stage().request(admin, 'PATCH', path, { notes: 'x' }, { 'if-match': '"1"' })).status).toBe(412)
  expect((await stage().request(admin, 'PATCH', path, { payload: {} })).status).toBe(422)
})

test('a forgotten memory is gone for everybody, and the change is in the audit log', async () => {
  const { memory_id } = (await seed(4)).body
  const path = `${memories}/${memory_id}`
  expect((await stage().request(emitter, 'DELETE', path)).status).toBe(403)
  const mallory = { subject: 'mallory', tenant: 'bravo', roles: ['admin'], clearance: { level: 'TOP_SECRET' } }
  expect((await stage().request(mallory, 'DELETE', path)).status).toBe(403)
  expect((await stage().request(admin, 'DELETE', path)).body).toEqual({ memory_id })
  expect((await stage().request(admin, 'GET', path)).status).toBe(404)
  const actions = (await readAuditEvents(stage().site, 'gateway')).map(({ action, target }) => `${action} ${target}`)
  expect(actions).toContain(`gateway.guide.memory.forgotten ${memory_id}`)
})

test('a graph goes back to its snapshot, and forward to the one that was taken before', async () => {
  const before = await graphOf()
  const taken = await stage().request(admin, 'POST', '/api/v1/guide/graphs/outcome_graph/snapshot', {})
  const [{ snapshot_id }] = taken.body.snapshots
  await seed(5, { event_type: 'tool_error', payload: { tool: 'broken', error: 'x' } })
  const after = await graphOf()
  expect(after.nodes).toHaveLength(before.nodes.length + 1)
  const path = '/api/v1/guide/graphs/outcome_graph/rollback'
  const rolledBack = await stage().request(admin, 'POST', path, { snapshot_id, rationale: 'an exercise' })
  expect(rolledBack.status).toBe(200)
  expect(await graphOf()).toEqual(before)
  const forward = { snapshot_id: rolledBack.body.before_snapshot_id, rationale: 'over' }
  await stage().request(admin, 'POST', path, forward)
  expect(await graphOf()).toEqual(after)
  await seed(6, { event_type: 'tool_error', payload: { tool: 'broken', error: 'x' } })
  const again = (await graphOf()).nodes.find(({ label }: { label: string }) => label === 'maps/broken')
  expect(again).toMatchObject({ occurrences: 2, outcomes: { error: 2 } })
  const actions = (await readAuditEvents(stage().site, 'gateway')).map(({ action }) => action)
  expect(actions.filter((action) => action === 'gateway.guide.graph.rolled_back')).toHaveLength(2)
})

test('a snapshot is that of its graph and its tenant alone', async () => {
  const [{ snapshot_id }] = (await stage().request(admin, 'POST', '/api/v1/guide/graphs/outcome_graph/snapshot', {}))
    .body.snapshots
  const shown = await stage().request(admin, 'GET', `/api/v1/guide/graphs/outcome_graph?snapshot_id=${snapshot_id}`)
  expect(shown.body.nodes.length).toBe(shown.body.snapshot.nodes)
  const other = `/api/v1/guide/graphs/iteration_graph`
  expect((await stage().request(admin, 'GET', `${other}?snapshot_id=${snapshot_id}`)).status).toBe(404)
  const body = { snapshot_id, rationale: 'none' }
  expect((await stage().request(admin, 'POST', `${other}/rollback`, body)).status).toBe(404)
  const mallory = { subject: 'mallory', tenant: 'bravo', roles: ['admin'], clearance: { level: 'TOP_SECRET' } }
  expect((await stage().request(mallory, 'POST', '/api/v1/guide/graphs/outcome_graph/rollback', body)).status).toBe(404)
})

test('hourly snapshots come with the time, once for each hour', async () => {
  const list = async () => (await stage().request(admin, 'GET', '/api/v1/guide/graphs')).body.items
  const countOf = async (graph: string) =>
    (await list()).find(({ graph_id }: { graph_id: string }) => graph_id === graph).snapshots.length
  const first = await countOf('intent_tool_graph')
  for (const hours of [1, 2]) {
    stage().site.clock.advance(3_600_000)
    for (let time = 0; time < 2; time += 1) stage().site.wakeWorker('gateway', 'maintain-guidance')
    await expect.poll(() => countOf('intent_tool_graph'), { timeout: 10_000 }).toBe(first + hours)
  }
})

test('statistics name what was stored, and emitters that have stopped', async () => {
  await stage().post(emitter, buildEnvelope(9, { service: 'gateway' }))
  await stage().waitForStored(1)
  const fresh = (await stage().request(admin, 'GET', '/api/v1/guide/stats')).body
  expect(fresh).toMatchObject({ enabled: true, degraded_emitters: [], memories: { needs_review: 0 } })
  expect(fresh.ingest.services).toEqual([expect.objectContaining({ service: 'gateway', accepted: 1, dropped: 0 })])
  stage().site.clock.advance(301_000)
  const later = (await stage().request(admin, 'GET', '/api/v1/guide/stats')).body
  expect(later.degraded_emitters).toMatchObject([{ service: 'gateway', reason: 'stale' }])
  const bravo = { subject: 'bea', tenant: 'bravo', roles: ['admin'], clearance: { level: 'TOP_SECRET' } }
  expect((await stage().request(bravo, 'GET', '/api/v1/guide/stats')).body).not.toHaveProperty('ingest')
})

test('an observation is gone after thirty days', async () => {
  stage().site.clock.advance(30 * 86_400_000)
  stage().site.wakeWorker('gateway', 'sweep')
  await expect.poll(async () => (await stage().request(admin, 'GET', memories)).body.total, { timeout: 10_000 }).toBe(0)
})
