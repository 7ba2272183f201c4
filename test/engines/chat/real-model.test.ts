// The chat with a real model behind a real OpenAI-compatible server: its stream, its counts, its calls of tools, its refusals.
import { afterAll, beforeAll, expect } from 'vitest'
import { ann, type ChatWorld, signal_list, startChatWorld } from '../../roles/gateway/chat-site.ts'
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
