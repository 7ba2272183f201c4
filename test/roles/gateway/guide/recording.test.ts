// Envelopes over HTTP: accepted at once, checked later, stamped by the gateway, and harmless whatever they hold.
import { describe, expect, test } from 'vitest'
import { admin, buildEnvelope, emitter, setUpGuide } from '../guide-site.ts'

const stage = setUpGuide()
const stored = async (count: number, trace: number) => {
  const { trace_id } = buildEnvelope(trace)
  return (await stage().waitForStored(count)).filter((each) => each.trace_id === trace_id)
}

describe('an envelope', () => {
  test('is accepted alone or in a list, and one that is wrong fails no other', async () => {
    const one = await stage().post(emitter, buildEnvelope(1))
    expect([one.status, one.body]).toEqual([202, { accepted: 1, dropped: 0 }])
    const bad = [{ ...buildEnvelope(2), event_type: 'rumour' }, 7, null, { ...buildEnvelope(2), trace_id: 'short' }]
    const list = await stage().post(emitter, { observations: [...bad, buildEnvelope(3)] })
    expect([list.status, list.body]).toEqual([202, { accepted: 5, dropped: 0 }])
    expect((await stage().waitForStored(2)).map(({ trace_id }) => Number(trace_id))).toEqual([1, 3])
    const invalid = stage().events.filter(({ event }) => event === 'gateway.guide.observation.invalid')
    expect(invalid.map(({ fields }) => fields.path)).toEqual(['event_type', 'event_type', 'event_type', 'trace_id'])
  })

  test.each([
    ['nothing', {}],
    ['an envelope and a list', { observations: [], ...buildEnvelope(9) }],
    ['a field that is unknown', { ...buildEnvelope(9), extra: 1 }],
    ['too many', { observations: Array.from({ length: 1_001 }, () => 0) }],
  ])('request with %s is refused', async (_, body) => {
    expect((await stage().post(emitter, body)).status).toBe(422)
  })

  test('has the caller as its emitter, whatever it says, and is looked at where it names somebody else', async () => {
    const forged = { token_subject: 'root', token_roles: ['admin'], context: 'in_process' }
    const caller_identity = { username: 'eve', roles: ['admin'] }
    await stage().post(emitter, buildEnvelope(4, { emitted_by: forged, caller_identity }))
    await stage().post(
      { subject: 'maps', roles: ['service'], clearance: { level: 'TOP_SECRET' } },
      buildEnvelope(5, { caller_identity }),
    )
    const [named] = await stored(3, 4)
    expect(named).toMatchObject({
      emitted_by: { token_subject: 'ann', token_roles: ['analyst'], context: 'http' },
      ...{ caller_identity, needs_review: true, tenant_id: 'tenant-a' },
    })
    expect((await stored(4, 5))[0]?.needs_review).toBe(false)
    const review = await stage().request(admin, 'GET', '/api/v1/guide/memories?needs_review=true')
    expect(review.body).toMatchObject({ total: 1, items: [{ caller_identity }] })
  })

  test('keeps its own trace, and the other one of the header is logged', async () => {
    const traceparent = `00-${'ab'.repeat(16)}-00f067aa0ba902b7-01`
    await stage().request(emitter, 'POST', '/api/v1/guide/observations', buildEnvelope(6), { traceparent })
    expect(await stored(5, 6)).toHaveLength(1)
    expect(stage().events).toContainEqual({
      event: 'gateway.guide.observation.other_trace',
      fields: expect.objectContaining({ request_trace_id: 'ab'.repeat(16), trace_id: buildEnvelope(6).trace_id }),
    })
    const observations = [30, 31, 32].map((each) => buildEnvelope(each))
    const other = `00-${'cd'.repeat(16)}-00f067aa0ba902b7-01`
    await stage().request(emitter, 'POST', '/api/v1/guide/observations', { observations }, { traceparent: other })
    await stored(8, 32)
    const logged = stage().events.filter(({ fields }) => fields.request_trace_id === 'cd'.repeat(16))
    expect(logged.reduce((sum, { fields }) => sum + Number(fields.observations), 0)).toBe(3)
  })

  test('is stored once for all its repeats', async () => {
    for (let time = 0; time < 3; time += 1) await stage().post(emitter, buildEnvelope(7))
    await stage().post(emitter, buildEnvelope(8))
    expect(await stored(10, 7)).toHaveLength(1)
  })

  test('needs the permission', async () => {
    expect((await stage().post({ subject: 'al', roles: ['auditor'] }, buildEnvelope(10))).status).toBe(403)
  })
})

describe('hostile content', () => {
  test('of ten megabytes, or nested deeply, is refused before it is read', async () => {
    expect((await stage().post(emitter, buildEnvelope(20, { payload: { text: 'x'.repeat(10_000_000) } }))).status).toBe(
      413,
    )
    const deep = Array.from({ length: 100 }).reduce<unknown>((inner) => ({ inner }), 'core')
    expect((await stage().post(emitter, buildEnvelope(20, { payload: { deep } }))).status).toBe(400)
  })

  test('is cut to size, and attached guidance is not learnt again', async () => {
    const payload = {
      ...{ tool: 't', inputs: { guide_guidance: { artifacts: ['learnt'] }, text: 'y'.repeat(500_000) } },
      outputs: { rows: Array.from({ length: 5_000 }, (_, at) => at), guide_guidance: 'learnt' },
    }
    await stage().post(emitter, buildEnvelope(21, { payload }))
    const [doc] = await stored(11, 21)
    const text = JSON.stringify(doc?.payload)
    expect(text.length).toBeLessThan(20_000)
    expect(text).toContain('[cut]')
    expect(text).not.toContain('learnt')
  })

  test('of another tenant reaches neither the memories nor the graphs of this one', async () => {
    const mallory = { subject: 'mallory', tenant: 'bravo', roles: ['admin'], clearance: { level: 'TOP_SECRET' } }
    await stage().post(mallory, buildEnvelope(22, { service: 'bravo-service' }))
    await stored(12, 22)
    const mine = await stage().request(admin, 'GET', '/api/v1/guide/memories?service=bravo-service')
    expect(mine.body).toMatchObject({ items: [], total: 0 })
    const graph = await stage().request(admin, 'GET', '/api/v1/guide/graphs/service_routing_graph')
    expect(JSON.stringify(graph.body)).not.toContain('bravo-service')
    const theirs = await stage().request(mallory, 'GET', '/api/v1/guide/memories')
    expect(theirs.body).toMatchObject({ total: 1, items: [{ service: 'bravo-service' }] })
    const low = { subject: 'lou', roles: ['admin'], clearance: { level: 'UNCLASSIFIED' } }
    expect((await stage().request(low, 'GET', '/api/v1/guide/memories')).body.items).toEqual([])
    expect((await stage().request(low, 'GET', '/api/v1/guide/graphs/outcome_graph')).body).toMatchObject({ nodes: [] })
  })

  test('with values that cannot be texts or numbers holds up nothing', async () => {
    const odd = { toString: 1, valueOf: 'x' }
    const payload = {
      tool: odd,
      kind: 'constructor',
      tool_calls: odd,
      prompt: odd,
      schema: { intent: odd },
      error: odd,
    }
    const types = ['intent_schema', 'user_prompt', 'llm_turn', 'tool_output', 'tool_error', 'final_response']
    const observations = [...types, 'user_feedback'].map((event_type) => buildEnvelope(23, { event_type, payload }))
    await stage().post(emitter, { observations })
    expect(await stored(19, 23)).toHaveLength(7)
    const stats = (await stage().request(admin, 'GET', '/api/v1/guide/stats')).body
    expect(stats.ingest.failed).toBe(0)
  })
})
