// Previews of guidance for administrators, lineage and statistics: all without attaching anything.
import { beforeAll, describe, expect, test } from 'vitest'
import { artifacts } from '../../../daemon/roles/gateway/guide/artifact/model.ts'
import { stats } from '../../../daemon/roles/gateway/guide/artifact/stats.ts'
import { connections } from '../../../daemon/roles/gateway/guide/guidance/connections.ts'
import { preview } from '../../../daemon/roles/gateway/guide/guidance/preview.ts'
import { schemas } from '../../../daemon/roles/gateway/guide/guidance/schemas.ts'
import { specs } from '../../../daemon/roles/gateway/guide/guidance/specs.ts'
import { tools } from '../../../daemon/roles/gateway/guide/guidance/tools.ts'
import { capped } from '../../../daemon/roles/gateway/guide/lineage/capped.ts'
import { list } from '../../../daemon/roles/gateway/guide/lineage/list.ts'
import { lineageEvents } from '../../../daemon/roles/gateway/guide/lineage/model.ts'
import { get as guideStats } from '../../../daemon/roles/gateway/guide/stats/get.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { ann } from './chat-site.ts'
import { setUpGuidance } from './guidance-site.ts'

const stage = setUpGuidance({ profile: { guide: { attach_cap_spec_fragment: 1 } } })
const admin = () => stage().site.as({ subject: 'pat', roles: ['admin'] })

beforeAll(async () => {
  const map = { service: 'intelligence-service' }
  const echo = { name: 'signal_list', intent_classes: [], description_override: 'Lists', routing_hint: 'for alarms' }
  const place = { from: 'intelligence-service', to: 'gateway', confidence: 0.75 }
  await stage().put('map', 'CapabilityMap', { content: { ...map, tools: [echo] } })
  await stage().put('schema', 'IntentSchema')
  await stage().put('pattern', 'IntentPattern', { content: { operations: [] } })
  await stage().put('link', 'ServiceConnectionHint', { content: place })
  await stage().put('units', 'SpecFragment')
  await stage().put('other', 'SpecFragment', { applicability: { intent_class: 'tide', tags: [] } })
  await stage().put('of-maps', 'PromptShim', { service_name: 'maps' })
  await stage().waitForIds('map', 'pattern', 'schema', 'link', 'other')
})

describe('a preview', () => {
  test('has the documented keys, and what would be attached', async () => {
    const shown = await (await admin()).ok(preview, { scope: 'l1' })
    expect(shown).toMatchObject({
      intent_match: null,
      schemas: [{ id: 'schema', intent_class: 'map', schema: { type: 'object' } }],
      tools: [{ name: 'intelligence-service/signal_list', description_override: 'Lists', routing_hint: 'for alarms' }],
      specs: [{ id: 'units', content: 'distances are in metres' }],
      connections: [{ from: 'intelligence-service', to: 'gateway', confidence: 0.75 }],
    })
    const { body } = await stage().say(ann, { message: 'hello' })
    expect(shown.guide_guidance).toEqual(body.guide_guidance)
  })

  test('for an intent leaves out what is for another one', async () => {
    const shown = await (await admin()).ok(preview, { intent: 'the route on a map', layer: 1 })
    expect(shown.intent_match).toEqual({ pattern_id: 'pattern', score: expect.closeTo(0.99 * 0.4, 5) })
    expect(shown.guide_guidance?.artifacts.map(({ id }) => id)).toContain('units')
    expect((await (await admin()).ok(preview, { intent: 'map' })).intent_match?.score).toBe(1)
    expect((await (await admin()).ok(preview, { intent: 'weather' })).intent_match).toBeNull()
  })

  test('of an agent shows that of its service, and layer 3 that of all', async () => {
    const idsFor = async (input: object) =>
      (await (await admin()).ok(preview, input)).guide_guidance?.artifacts.map(({ id }) => id)
    expect(await idsFor({ scope: 'l3:maps' })).toEqual(['of-maps'])
    expect(await idsFor({ layer: 3 })).toEqual(['of-maps'])
    expect(await idsFor({ scope: 'l3:tides' })).toBeUndefined()
    const refused = await (await admin()).call(preview, { scope: 'l1', layer: 3 })
    expect(refused.status).toBe(422)
  })

  test('is for administrators alone', async () => {
    expect((await (await stage().site.as(ann)).call(preview, {})).status).toBe(403)
  })
})

test('views by type list all that the scope may have, in pages', async () => {
  const client = await admin()
  expect((await client.ok(schemas, {})).items).toHaveLength(1)
  expect((await client.ok(tools, {})).items).toHaveLength(1)
  expect((await client.ok(connections, {})).total).toBe(1)
  const first = await client.ok(specs, { limit: 1 })
  expect([first.total, first.items, first.next_cursor]).toEqual([2, [expect.anything()], expect.any(String)])
  const { items, next_cursor } = await client.ok(specs, { limit: 1, cursor: first.next_cursor })
  expect([items.length, next_cursor]).toEqual([1, undefined])
  expect((await client.call(specs, { cursor: '1' })).status).toBe(400)
})

test('lineage has what was attached, and what was held back has a list of its own', async () => {
  const { traceparent = '' } = await stage().say(ann, { message: 'hello' })
  const [, trace_id = ''] = traceparent.split('-')
  const client = await admin()
  const of = await waitUntil(async () => {
    stage().site.clock.advance(1_000)
    const { items } = await client.ok(list, { trace_id })
    return items.length === 10 && items
  }, 15_000)
  expect(new Set(of.map(({ kind, scope }) => `${kind} ${scope}`))).toEqual(new Set(['attached l1', 'attached l2']))
  const held = await client.ok(capped, { artifact_id: 'units' })
  expect(held.items[0]).toMatchObject({ kind: 'capped', artifact_id: 'units', artifact_type: 'SpecFragment' })
  const counted = await client.ok(stats, { artifact_id: 'units' })
  expect(counted).toMatchObject({ attached_count: 0, last_attached_at: null, capped_count: held.total })
  expect(counted.last_capped_at).toBe(held.items[0]?.at)
  expect((await client.ok(stats, { artifact_id: 'map' })).attached_count).toBeGreaterThanOrEqual(2)
  expect((await client.call(stats, { artifact_id: 'nothing' })).status).toBe(404)
})

test('previews write no lineage', async () => {
  const store = stage().site.store('gateway')
  const before = await store.count(lineageEvents)
  await (await admin()).ok(preview, { scope: 'l3:maps' })
  stage().site.clock.advance(2_000)
  await (await admin()).ok(preview, {})
  expect(await store.count(lineageEvents)).toBe(before)
})

test('the health of each scope has its attachments, and the reasons of those that were not made', async () => {
  await stage().say(ann, { message: 'hello' })
  const shown = await (await admin()).ok(guideStats, {})
  expect(shown.guidance_health.l1).toMatchObject({ success: expect.any(Number), slowest_ms: expect.any(Number) })
  expect(shown.guidance_health.l1?.success).toBeGreaterThan(0)
  const { l2 } = shown.guidance_health
  const store = stage().site.store('gateway')
  const { docs } = await store.list(artifacts, { limit: 100 })
  for (const { id } of docs) await stage().change(id, (current) => ({ ...current, status: 'demoted' }))
  await stage().waitForIds()
  const later = await (await admin()).ok(guideStats, {})
  expect(later.guidance_health.l1?.null.empty).toBeGreaterThan(0)
  expect(later.guidance_health.l2?.success).toBeGreaterThanOrEqual(l2?.success ?? 0)
  expect(later.scores).toEqual({ active: 0, evaluated: 0, mean: null, low: 0, lowest: [] })
  const bravo = await stage().site.as({ subject: 'bea', roles: ['admin'], tenant: 'bravo' })
  expect(await bravo.ok(guideStats, {})).toMatchObject({ guidance_health: {}, artifacts: { active: 0 } })
})

test('scores of active artifacts have the lowest first, as far as the administrator may see them', async () => {
  const content = { evaluator_score: 0.25, confidence: 0.75 }
  await stage().put('poor', 'PromptShim', { content })
  await stage().put('fair', 'PromptShim', { content: { evaluator_score: 0.75 } })
  const label = { policy: 'SITE', level: 'TOP_SECRET', categories: [], originator: stage().site.tenant }
  await stage().put('secret', 'PromptShim', { content: { evaluator_score: 0 }, label })
  const readScores = async (level: string) => {
    const client = await stage().site.as({ subject: 'lou', roles: ['admin'], clearance: { level } })
    return (await client.ok(guideStats, {})).scores
  }
  await waitUntil(async () => {
    stage().site.clock.advance(1_000)
    return (await readScores('TOP_SECRET'))?.active === 3
  }, 15_000)
  const shown = await readScores('UNCLASSIFIED')
  expect(shown).toEqual({
    ...{ active: 2, evaluated: 2, mean: 0.5, low: 1 },
    lowest: [
      { artifact_id: 'poor', type: 'PromptShim', evaluator_score: 0.25, confidence: 0.75 },
      { artifact_id: 'fair', type: 'PromptShim', evaluator_score: 0.75 },
    ],
  })
})

test('lineage is gone after ninety days', async () => {
  const store = stage().site.store('gateway')
  expect(await store.count(lineageEvents)).toBeGreaterThan(0)
  stage().site.clock.advance(91 * 86_400_000)
  stage().site.wakeWorker('gateway', 'sweep')
  await waitUntil(async () => (await store.count(lineageEvents)) === 0)
})
