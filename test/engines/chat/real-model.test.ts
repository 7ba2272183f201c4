// The chat and the guidance layer with a real model behind a real OpenAI-compatible server: streams, counts, tools, schemas, refusals.
import { afterAll, beforeAll, expect } from 'vitest'
import * as z from 'zod'
import { openAiChatModel } from '../../../adapters/model/openai/chat-model.ts'
import { anyAddress } from '../../../adapters/platform/address-rule/address-rule.ts'
import { newTrace } from '../../../daemon/kernel/telemetry/trace.ts'
import { ann, type ChatWorld, signal_list, startChatWorld } from '../../roles/gateway/chat-site.ts'
import { admin, startGuideSite } from '../../roles/gateway/guide-site.ts'
import { type ChatModelServer, chatModelRequirement, chatModelServer } from '../../support/engines/chat-model.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const where = whenPresent(chatModelRequirement)
let server: ChatModelServer
let world: ChatWorld
let offering: ChatWorld

const chat = { model: 'smollm2', max_tokens: 48, answer_s: 600, turn_s: 590 }
beforeAll(async () => {
  if (!chatModelRequirement.isPresent) return
  server = await chatModelServer()
  await server.start()
  const { url: model_url, api_key } = server
  world = await startChatWorld({ chat: { ...chat, model_url, api_key, max_tools: 0 } })
  // One tool and short results: each token of a prompt takes milliseconds.
  const limits = { max_tools: 1, max_rounds: 2, max_result_bytes: 512 }
  offering = await startChatWorld({ chat: { ...chat, model_url, api_key, ...limits } })
  await offering.raise('Late arrival at Hamburg')
})
afterAll(async () => {
  await world?.end()
  await offering?.end()
  await server?.end()
})

where('a conversation is streamed, counted and continued', async () => {
  const events = await world.stream(ann, { message: 'Write one short sentence about ships.' })
  const last = events.at(-1)?.data as {
    response: string
    tokens: { prompt: number; completion: number }
    conversation_id: string
  }
  const texts = events.filter(({ event }) => event === 'delta').map(({ data }) => data.text)
  expect(texts.length).toBeGreaterThan(3)
  expect(texts.join('')).toBe(last.response)
  expect(last.response.trim()).not.toBe('')
  expect(last.tokens.prompt).toBeGreaterThan(20)
  expect(last.tokens.completion).toBeGreaterThan(3)
  const { status, body } = await world.say(ann, { message: 'Another one.', conversation_id: last.conversation_id })
  expect([status, body.tokens.prompt > last.tokens.prompt]).toEqual([200, true])
})

where('the model calls a tool of the platform, and sees its result', async () => {
  const events = await offering.stream(ann, { message: 'list the signals' })
  const [called, result] = ['tool_call', 'tool_result'].map((name) => events.find(({ event }) => event === name)?.data)
  expect(called, JSON.stringify(events)).toMatchObject({ tool: signal_list, arguments: {} })
  expect(result).toMatchObject({ id: called?.id, tool: signal_list, outcome: 'answered' })
  const last = events.at(-1)?.data
  expect(last).toMatchObject({ model_used: 'smollm2', tool_calls: [{ tool: signal_list, outcome: 'answered' }] })
  expect(String(last?.response).trim()).not.toBe('')
})

where('a key that it does not accept is reported without the key', async () => {
  const stranger = await startChatWorld({ chat: { ...chat, model_url: server.url, api_key: 'another-key' } })
  const { status, body } = await stranger.say(ann, { message: 'hello' })
  await stranger.end()
  expect([status, body.detail]).toEqual([
    503,
    'the chat model answered 401: it does not accept the key of this site (chat.api_key)',
  ])
})

where('an answer is held to the schema that was requested', async () => {
  const model = openAiChatModel({
    ...{ url: server.url, api_key: server.api_key, rule: anyAddress, ca: undefined, answer_ms: 600_000 },
    ...{ max_answer_bytes: 4_096, max_tokens: 48 },
  })
  const verdict = z.strictObject({ verdict: z.enum(['keep', 'demote']) })
  const parts = model.answer({
    ...{ model: 'smollm2', tools: [], mayCallTools: false, signal: new AbortController().signal },
    messages: [{ role: 'user', text: 'Sing a song.' }],
    answer_schema: { name: 'verdict', schema: z.toJSONSchema(verdict) },
    trace: newTrace((bytes) => '1'.repeat(2 * bytes)),
  })
  let step = await parts.next()
  while (!step.done) step = await parts.next()
  expect(verdict.safeParse(JSON.parse(step.value.text)).success).toBe(true)
})

where(
  'a synthesis with a model that understands little leaves proposals of the form alone, and none of them active',
  async () => {
    const { url: model_url, api_key } = server
    const model = { model_url, api_key, model: 'smollm2', synthesis_timeout_s: 590, synthesis_prompt_characters: 2_000 }
    const guide = await startGuideSite(model, { chat: { answer_s: 600, max_tokens: 160 } })
    const observation = {
      ...{ event_type: 'user_prompt', trace_id: 'a'.repeat(32), service: 'gateway' },
      ...{ timestamp: new Date(guide.site.clock.now()).toISOString(), payload: { prompt: 'export the report' } },
    }
    expect((await guide.request(admin, 'POST', 'memories', observation)).status).toBe(201)
    const { status, body } = await guide.request(admin, 'POST', 'learn', { trace_id: observation.trace_id })
    console.info(`synthesis with a real model: ${JSON.stringify(body)}`)
    expect(status).toBe(202)
    // An answer that its end was cut off is not used; one of the form proposes texts, which wait for an administrator.
    expect(['changed', 'unchanged', 'unusable']).toContain(body.outcome)
    const { items } = (await guide.request(admin, 'GET', 'artifacts?limit=100')).body
    expect(items.filter(({ status: of }: { status: string }) => of !== 'proposed')).toEqual([])
    expect(body.changes.filter((change: string) => change.endsWith('committed'))).toEqual([])
    await guide.site.end()
    expect(guide.site.loggedErrors).toEqual([])
  },
  240_000,
)
