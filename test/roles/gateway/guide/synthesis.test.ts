// Syntheses by the model of the layer, on a site: what triggers them, what the model is given, and what is left after answers of any kind.
import { afterAll, beforeEach, expect, test } from 'vitest'
import { artifacts } from '../../../../daemon/roles/gateway/guide/artifact/model.ts'
import { type ModelScript, sayText, startModelDouble } from '../../../support/chat/model-double.ts'
import { waitUntil } from '../../../support/site/test-site.ts'
import { admin, emitter, setUpGuide } from '../guide-site.ts'

const model = await startModelDouble()
afterAll(() => model.close())
const stage = setUpGuide({ model_url: model.url, model: 'own', synthesis_timeout_s: 2 })
beforeEach(() => {
  model.prompts.splice(0)
  model.answerBy(sayText('{}'))
})

const traceId = (trace: number) => trace.toString(16).padStart(32, '0')
const event = (trace: number, at: number, more: object) => ({
  ...{ event_type: 'tool_output', trace_id: traceId(trace), service: 'ledger' },
  ...{ timestamp: new Date(stage().site.clock.now() - 60_000 + at).toISOString() },
  caller_identity: { username: `user-${trace % 3}`, roles: [] },
  ...more,
})
const begin = (trace: number) => event(trace, 1, { payload: { tool: 'begin', inputs: {} } })
const commit = (trace: number) => event(trace, 2, { payload: { tool: 'commit', inputs: {} } })
const fail = (trace: number) =>
  event(trace, 2, { event_type: 'tool_error', payload: { tool: 'commit', error: 'none open' } })
const turn = (trace: number) => event(trace, 3, { event_type: 'llm_turn', payload: { text: 'done' } })

let stored = 0
async function post(...observations: object[]): Promise<void> {
  expect((await stage().post(emitter, { observations })).status).toBe(202)
  stored += observations.length
  await stage().waitForStored(stored)
}
const request = (method: 'GET' | 'POST', path: string, body?: object, who = admin) =>
  stage().request(who, method, `/api/v1/guide/${path}`, body)
const learn = async (body: object = {}) => {
  const answer = await request('POST', 'learn', body)
  expect(answer.status, answer.text).toBe(202)
  return answer.body
}
const listArtifacts = async () =>
  (await stage().site.store('gateway').list(artifacts, { limit: 100, fresh: true })).docs
const dataOf = (prompt: number) => {
  const text = model.prompts[prompt]?.body.messages[1]?.content ?? ''
  return JSON.parse(/^<data>\n(.*)\n<\/data>$/m.exec(text)?.[1] ?? 'null')
}
const pair = {
  ...{ confidence: 0.9, reply: 'One pair of tools belongs together.' },
  proposals: [
    {
      ...{ type: 'ToolPairingHint', rationale: 'commit fails without a transaction' },
      content: { tool: 'ledger/begin', next_tool: 'ledger/commit', hint: 'Begin first' },
    },
  ],
}

test('each trace is one synthesis, of its latest observation, and at most 4 run at once', async () => {
  let [open, most] = [0, 0]
  const gate = Promise.withResolvers<void>()
  const hold: ModelScript = async (response, closed) => {
    most = Math.max(most, ++open)
    await gate.promise
    open -= 1
    await sayText('{}')(response, closed)
  }
  model.answerBy(hold)
  const traces = Array.from({ length: 12 }, (_, trace) => trace + 1)
  await post(
    ...traces.flatMap((trace) => (trace % 2 === 0 ? [begin(trace), commit(trace), turn(trace)] : [fail(trace)])),
  )
  stage().site.clock.advance(6_000)
  await waitUntil(() => model.prompts.length >= 4)
  gate.resolve()
  await waitUntil(() => model.prompts.length >= 12)
  // A request of an administrator ends what was begun before it: no further one has come.
  await learn()
  expect([model.prompts.length, most]).toEqual([13, 4])
  const kinds = model.prompts.slice(0, 12).map((_, at) => dataOf(at).observation)
  expect(kinds.filter(({ event_type }) => event_type === 'tool_error')).toHaveLength(6)
  expect(kinds.filter(({ payload }) => payload.tool === 'commit')).toHaveLength(12)
  expect(model.prompts[0]?.body).toMatchObject({ model: 'own', response_format: { type: 'json_schema' } })
  expect(JSON.stringify(model.prompts)).not.toContain('user-1')
})

test('an administrator gets a direct reply; what the traces show is active for their tenant and label alone', async () => {
  const { site } = stage()
  site.clock.advance(31_000)
  await waitUntil(async () => {
    site.wakeWorker('gateway', 'learn-guidance')
    return (await learn()).traces >= 12
  })
  model.prompts.splice(0)
  model.answerBy(sayText(`\`\`\`json\n${JSON.stringify(pair)}\n\`\`\``))
  const body = await learn({ trace_id: traceId(2) })
  expect(body).toMatchObject({ reply: pair.reply, outcome: 'changed', confidence: 0.9, changes: ['propose committed'] })
  const [found, ...others] = (await listArtifacts()).filter(({ value }) => value.type === 'ToolPairingHint')
  expect(others).toEqual([])
  expect(found?.value).toMatchObject({
    ...{ status: 'active', actor: 'curator_auto', tenant_id: 'tenant-a', label: { level: 'TOP_SECRET' } },
    content: { support: 6, success_rate: 1, baseline_rate: 0, hint: 'Begin first' },
  })
  const audit = (await request('GET', `audit?artifact_id=${found?.id}`)).body.items
  expect(audit.map(({ action, actor }: Record<string, string>) => [action, actor])).toEqual([
    ['promote', 'curator_auto'],
    ['compact', 'curator_auto'],
  ])
  expect(dataOf(0)).toMatchObject({
    observation: { event_type: 'tool_output', service: 'ledger', payload: { tool: 'commit' } },
    trace: { calls: [{ tool: 'ledger/begin' }, { tool: 'ledger/commit' }], succeeded: true },
  })
  expect(dataOf(0).graph.map(({ source, target }: Record<string, string>) => `${source} ${target}`)).toContain(
    'ledger/commit success',
  )
  await learn({ trace_id: traceId(2) })
  const second = dataOf(1)
  expect(second.prior_synthesis).toMatchObject({ outcome: 'changed', changes: ['propose committed'] })
  expect(second.artifacts).toMatchObject([{ artifact_id: found?.id, status: 'active' }])
})

test.each([
  ['rubbish', sayText('I would promote everything'), 'unusable'],
  ['too many changes', sayText(JSON.stringify({ proposals: Array(9).fill(pair.proposals[0]) })), 'unusable'],
  ['more than it may', sayText('x'.repeat(100_000)), 'failed'],
  ['an error', (response) => void response.writeHead(500).end('secret of the endpoint'), 'failed'],
  ['nothing, without an end', async (_, closed) => void (await closed), 'timeout'],
] as [string, ModelScript, string][])('a model that answers %s changes nothing', async (_, script, outcome) => {
  const before = await listArtifacts()
  model.answerBy(script)
  const body = await learn({ trace_id: traceId(3) })
  expect([body.outcome, body.changes]).toEqual([outcome, []])
  expect(await listArtifacts()).toEqual(before)
  const logged = JSON.stringify(stage().events.filter(({ event: name }) => name.startsWith('gateway.guide.synthesis')))
  expect(logged).toContain(traceId(3))
  expect(logged).not.toMatch(/promote everything|secret of the endpoint|xxx/)
})

test('neither a turn of a model nor a preview triggers a synthesis', async () => {
  await post(turn(50))
  expect((await request('GET', 'guidance?scope=l1')).status).toBe(200)
  stage().site.clock.advance(60_000)
  await post(begin(51))
  stage().site.clock.advance(6_000)
  await waitUntil(() => model.prompts.length > 0)
  await learn({ trace_id: traceId(51) })
  expect(model.prompts.map((_, at) => dataOf(at).observation.payload.tool)).toEqual(['begin', 'begin'])
})

test('a turn of an administrator triggers one, whose material is their message', async () => {
  model.answerBy(sayText('All is well.'), sayText('{}'))
  expect((await request('POST', 'chat', { message: 'commit fails whenever begin is missing' })).body.response).toBe(
    'All is well.',
  )
  stage().site.clock.advance(6_000)
  await waitUntil(() => model.prompts.length >= 2)
  expect(dataOf(1).observation).toMatchObject({
    event_type: 'admin_chat',
    payload: { message: 'commit fails whenever begin is missing' },
  })
})

test('the command of the chat of administrators has the reply of the model', async () => {
  model.answerBy(sayText('{"reply": "Nothing new\\u202e here."}'))
  const { body } = await request('POST', 'chat', { message: `trigger_synthesis(${traceId(2)})` })
  expect(body.tool_calls).toMatchObject([{ tool: 'guide_trigger_synthesis', outcome: 'answered' }])
  expect(body.response).toContain('Nothing new')
  expect(body.response).not.toContain('\u202e')
  expect(dataOf(0).observation.payload).toMatchObject({ tool: 'commit' })
})

test('administrators who may not see a trace cannot have it synthesised', async () => {
  const low = { ...admin, clearance: { level: 'UNCLASSIFIED' } }
  for (const who of [low, { ...admin, tenant: 'tenant-b' }])
    expect((await request('POST', 'learn', { trace_id: traceId(2) }, who)).status).toBe(404)
  expect((await request('POST', 'learn', {}, low)).body).toMatchObject({
    reply: expect.stringContaining('no observation'),
    changes: [],
  })
  expect(model.prompts).toEqual([])
})

test('while the curator is paused, the model is not even requested', async () => {
  await request('POST', 'curator/pause', {})
  expect(await learn({ trace_id: traceId(2) })).toMatchObject({ outcome: 'paused', changes: [] })
  expect(model.prompts).toEqual([])
  await request('POST', 'curator/resume', {})
})
