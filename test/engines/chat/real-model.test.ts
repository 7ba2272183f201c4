// The chat with a real model behind a real OpenAI-compatible server: its stream, its counts, definitions of tools, its refusals.
import { afterAll, beforeAll, expect } from 'vitest'
import { ann, type ChatWorld, startChatWorld } from '../../roles/gateway/chat-site.ts'
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
  offering = await startChatWorld({ chat: { ...chat, model_url, api_key, max_tools: 8, max_rounds: 2 } })
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

where('definitions of tools of the platform are taken', async () => {
  // The template of this model has no tools: the server reads the definitions, and the model does not see them.
  const { status, body } = await offering.say(ann, { message: 'list the signals' })
  expect([status, body.model_used], JSON.stringify(body)).toEqual([200, 'smollm2'])
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
