// Calls and chat are observed once at each boundary, stored, and applied to the graphs, without a change to the answers.
import { expect, test } from 'vitest'
import { graphHeads, head_id } from '../../../../daemon/roles/gateway/guide/graph/head-model.ts'
import { graphEdges, graphNodes } from '../../../../daemon/roles/gateway/guide/graph/model.ts'
import { observations } from '../../../../daemon/roles/gateway/guide/observation/model.ts'
import { requestTools, sayText } from '../../../support/chat/model-double.ts'
import { waitUntil } from '../../../support/site/test-site.ts'
import { ann, setUpChat, signal_list } from '../chat-site.ts'

const stage = setUpChat()
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const trace_id = '0af7651916cd43dd8448eb211c80319c'

const load = async (of: string) => {
  const store = stage().site.store('gateway')
  const order = { field: 'batch_seq', direction: 'asc' } as const
  const { docs } = await store.list(observations, { filter: { trace_id: of }, order, limit: 100, fresh: true })
  return docs
    .map(({ value }) => value)
    .sort((one, other) => one.batch_seq - other.batch_seq || one.batch_at - other.batch_at)
}
const waitForEvents = async (of: string, count: number) => {
  await waitUntil(async () => {
    stage().site.wakeWorker('gateway', 'ingest-observations')
    const head = await stage().site.store('gateway').get(graphHeads, head_id)
    return head?.value.state === 'done' && (await load(of)).length >= count
  })
  return load(of)
}

test('a turn with a tool is six observations of one trace, in their order', async () => {
  stage().model.answerBy(requestTools({ name: signal_list, arguments: '{"limit": 3}' }), sayText('There are none.'))
  const body = { message: 'list the signals', intent_schema: { title: 'Find signals' } }
  const answer = await stage().say(ann, body, { traceparent })
  expect(answer.body.response).toBe('There are none.')
  const events = await waitForEvents(trace_id, 6)
  expect(events.map(({ event_type }) => event_type)).toEqual([
    'intent_schema',
    'user_prompt',
    'llm_turn',
    'tool_output',
    'llm_turn',
    'final_response',
  ])
  const [schema, prompt, , tool, , response] = events
  expect(schema?.payload).toEqual({ schema: { title: 'Find signals' } })
  expect(prompt).toMatchObject({
    ...{ service: 'gateway', tenant_id: 'tenant-a', needs_review: false, payload: { prompt: 'list the signals' } },
    emitted_by: { token_subject: 'ann', token_roles: ['analyst'], context: 'in_process' },
    caller_identity: { username: 'ann', roles: ['analyst'] },
    ...{ conversation_id: answer.body.conversation_id, label: { level: 'TOP_SECRET', releasable_to: ['tenant-a'] } },
  })
  expect(tool).toMatchObject({
    service: 'intelligence-service',
    payload: { tool: 'signal_list', inputs: { limit: 3 }, outputs: { items: [] }, latency_ms: expect.any(Number) },
  })
  expect(response?.payload).toMatchObject({ outcome: 'success', response: 'There are none.' })
  expect((prompt?.expires_ts ?? 0) - (prompt?.create_ts ?? 0)).toBe(30 * 86_400_000)
})

test('its graphs have the intent, the tool, the service and the outcomes, with links between them', async () => {
  const store = stage().site.store('gateway')
  const { docs } = await store.list(graphNodes, { limit: 500, fresh: true })
  const labels = docs.map(({ value }) => `${value.graph_id} ${value.kind} ${value.node_label} ${value.occurrences}`)
  expect(labels.sort()).toEqual([
    'intent_tool_graph intent gateway/find_signals 1',
    'intent_tool_graph tool intelligence-service/signal_list 1',
    'iteration_graph iteration_state gateway/find_signals#1 1',
    'outcome_graph decision_point gateway/find_signals 1',
    'outcome_graph decision_point gateway/find_signals:answer 1',
    'outcome_graph decision_point gateway/find_signals:call_tools 1',
    'outcome_graph decision_point intelligence-service/signal_list 1',
    'outcome_graph outcome success 4',
    'prompt_shape_graph prompt_shape gateway/short-request 1',
    'service_routing_graph intent gateway/find_signals 1',
    'service_routing_graph service intelligence-service 1',
  ])
  const edges = (await store.list(graphEdges, { limit: 500, fresh: true })).docs.map(({ value }) => value)
  expect(edges.filter(({ target_graph_id }) => target_graph_id !== undefined)).toHaveLength(3)
  for (const edge of edges) {
    expect(edge).toMatchObject({ weight: 1, count: 1, recent_weight: 1, long_weight: 1, trace_ids: [trace_id] })
    expect(docs.map(({ id }) => id)).toEqual(expect.arrayContaining([edge.source_id, edge.target_id]))
  }
})

test('feedback joins the trace of its turn', async () => {
  expect((await stage().feedback(ann, { trace_id, kind: 'down' })).status).toBe(201)
  const events = await waitForEvents(trace_id, 7)
  expect(events.at(-1)).toMatchObject({ event_type: 'user_feedback', payload: { kind: 'down', text: '' } })
  const { docs } = await stage().site.store('gateway').list(graphNodes, { limit: 500, fresh: true })
  const decided = docs.filter(({ value }) => value.outcome_distribution.feedback_down === 1)
  expect(decided.map(({ value }) => value.node_label).sort()).toEqual([
    'gateway/find_signals',
    'intelligence-service/signal_list',
  ])
})
