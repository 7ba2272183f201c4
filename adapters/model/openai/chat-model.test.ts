// Endpoints that attack the client, or are merely broken: each is a refusal of one line, within bounds of time and memory.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import type { ModelAnswer, ModelRequest } from '../../../daemon/kernel/model/chat-model.ts'
import { newTrace } from '../../../daemon/kernel/telemetry/trace.ts'
import {
  type ModelDouble,
  type ModelScript,
  requestTools,
  sayText,
  sendEvents,
  startModelDouble,
} from '../../../test/support/chat/model-double.ts'
import { anyAddress } from '../../platform/address-rule/address-rule.ts'
import { openAiChatModel } from './chat-model.ts'

let double: ModelDouble
beforeAll(async () => {
  double = await startModelDouble()
})
afterAll(() => double.close())

const question: Omit<ModelRequest, 'signal'> = {
  ...{ model: 'm', messages: [{ role: 'user', text: 'hi' }], tools: [], mayCallTools: true },
  trace: newTrace((bytes) => '1'.repeat(2 * bytes)),
}

async function answerOf(script: ModelScript, { signal = new AbortController().signal, answer_ms = 2_000 } = {}) {
  double.answerBy(script)
  const model = openAiChatModel({
    ...{ url: `${double.url}/`, api_key: 'the-key', rule: anyAddress, ca: undefined, answer_ms },
    ...{ max_answer_bytes: 4_096, max_tokens: 100 },
  })
  const texts: string[] = []
  const parts = model.answer({ ...question, signal })
  try {
    for (;;) {
      const step = await parts.next()
      if (step.done) return { texts, answer: step.value }
      texts.push(step.value)
    }
  } catch (error) {
    if (isRefusal(error)) return { texts, code: error.code, detail: error.message }
    throw error
  }
}

const head = (response: ServerResponse, type = 'text/event-stream') => response.writeHead(200, { 'content-type': type })
const delta = (part: object, finish_reason: string | null = null) => ({ choices: [{ delta: part, finish_reason }] })
const finished = [delta({}, 'stop'), '[DONE]']

/** Writes the same bytes until the client is gone. `bytes`: how many the server could send. */
async function flood(response: ServerResponse, piece: string, closed: Promise<unknown>): Promise<number> {
  head(response)
  let [bytes, isOpen] = [0, true]
  void closed.then(() => {
    isOpen = false
  })
  while (isOpen && bytes < 1_073_741_824) {
    bytes += piece.length
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), closed])
  }
  return bytes
}

describe('an answer', () => {
  test('is streamed, with its tokens', async () => {
    const { texts, answer } = await answerOf(sayText('one two three'))
    expect(texts).toEqual(['one ', 'two ', 'three'])
    expect(answer).toEqual({ text: 'one two three', tool_calls: [], tokens: { prompt: 10, completion: 5 } })
  })

  test('has tool calls, assembled by their index', async () => {
    const { answer } = await answerOf(
      requestTools({ name: 'a', arguments: '{"x":1,"y":2}' }, { name: 'b', arguments: '{"z":[3]}' }),
    )
    expect(answer?.tool_calls).toEqual([
      { id: 'call_a', name: 'a', arguments: '{"x":1,"y":2}' },
      { id: 'call_b', name: 'b', arguments: '{"z":[3]}' },
    ])
  })

  test('may come whole, from an endpoint that does not stream', async () => {
    const message = { content: 'all at once', tool_calls: [{ id: 'x', function: { name: 'a', arguments: { y: 1 } } }] }
    const { answer } = await answerOf((response) => {
      head(response, 'application/json')
      response.end(JSON.stringify({ choices: [{ message, finish_reason: 'tool_calls' }] }))
    })
    expect(answer).toMatchObject({ text: 'all at once', tool_calls: [{ id: 'x', name: 'a', arguments: '{"y":1}' }] })
  })

  test('may end without [DONE] once it has reported that it is finished', async () => {
    const { answer } = await answerOf(sendEvents(delta({ content: 'a' }), delta({}, 'stop')))
    expect(answer?.text).toBe('a')
  })

  test('may have calls without index and id, or with ids that are used twice: each gets one of its own', async () => {
    const call = (part: object) => delta({ tool_calls: [part] })
    const { answer } = await answerOf(
      sendEvents(
        call({ id: 'same', function: { name: 'a', arguments: '{' } }),
        call({ function: { arguments: '}' } }),
        call({ id: 'other', function: { name: 'b' } }),
        ...finished,
      ),
    )
    expect(answer?.tool_calls.map(({ name, arguments: given }) => [name, given])).toEqual([
      ['a', '{}'],
      ['b', ''],
    ])
    const twice = await answerOf(
      requestTools({ name: 'a', id: 'x' }, { name: 'b', id: 'x' }, { id: '', name: undefined }),
    )
    expect((twice.answer as ModelAnswer).tool_calls.map(({ id, name }) => [id, name])).toEqual([
      ['x', 'a'],
      ['call_1', 'b'],
      ['call_2', ''],
    ])
  })
})

describe('a broken endpoint is refused', () => {
  const wrong = 'the answer of the chat model is not one of /chat/completions'
  test.each<[string, ModelScript, string]>([
    ['garbage', sendEvents('garbage'), wrong],
    ['JSON of another form', sendEvents({ choices: 'none' }), wrong],
    ['a key twice', sendEvents('{"choices":[],"choices":[]}'), wrong],
    ['an index beyond all bounds', sendEvents(delta({ tool_calls: [{ index: 1e9 }] })), wrong],
    ['a negative count', sendEvents({ usage: { prompt_tokens: -1, completion_tokens: 0 } }), wrong],
    ['an error in the stream', sendEvents({ error: { message: 'the-key' } }), 'the chat model reported an error'],
    [
      'another type',
      (response) => void head(response, 'text/html').end('<p>'),
      'the answer of the chat model is neither an event stream nor JSON',
    ],
    [
      '401',
      (response) => void response.writeHead(401).end('the-key'),
      'the chat model answered 401: it does not accept the key of this site (chat.api_key)',
    ],
    [
      'a redirect',
      (response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
      'the chat model answered 302',
    ],
    ['an end in the middle', sendEvents(delta({ content: 'a' })), 'the chat model ended in the middle of its answer'],
    [
      'a drop of the connection',
      (response) => void head(response).write('data: {', () => response.destroy()),
      'the chat model ended in the middle of its answer',
    ],
    [
      'more text than allowed',
      sendEvents(delta({ content: 'a'.repeat(5_000) })),
      'the answer of the chat model has more than 4096 bytes',
    ],
    [
      'more arguments than allowed',
      requestTools({ name: 'a', arguments: `{"x":"${'a'.repeat(5_000)}"}` }),
      'the answer of the chat model has more than 4096 bytes',
    ],
    [
      'more calls than allowed',
      sendEvents(...Array.from({ length: 40 }, (_, at) => delta({ tool_calls: [{ id: `c${at}` }] }))),
      'the chat model requested more than 32 tools',
    ],
  ])('%s', async (_, script, detail) => {
    const refused = await answerOf(script)
    expect(refused).toMatchObject({ code: 'unavailable', detail })
    expect(JSON.stringify(refused)).not.toContain('the-key')
  })

  test('a line of a gigabyte, after a mebibyte', async () => {
    let sent = Promise.resolve(0)
    const { detail } = await answerOf((response, closed) => {
      sent = flood(response, 'a'.repeat(65_536), closed)
    })
    expect(detail).toBe('the chat model sent an event of more than 1048576 bytes')
    expect(await sent).toBeLessThan(67_108_864)
  })

  test.each([
    ['comments', ': nothing\n\n'.repeat(1_000)],
    ['events without text', `data: ${JSON.stringify(delta({}))}\n\n`.repeat(1_000)],
  ])('an endless stream of %s', async (_, piece) => {
    let sent = Promise.resolve(0)
    const { detail } = await answerOf((response, closed) => {
      sent = flood(response, piece, closed)
    })
    expect(detail).toBe('the chat model sends without end')
    expect(await sent).toBeLessThan(67_108_864)
  })

  test('an endpoint that hangs, before and in its answer', async () => {
    const before = await answerOf(() => undefined, { answer_ms: 300 })
    expect(before).toMatchObject({ code: 'timeout', detail: 'the chat model sent nothing for 0.3 s' })
    const within = await answerOf((response) => void head(response).write('data: {}\n\n'), {
      answer_ms: 300,
    })
    expect(within).toMatchObject({ code: 'timeout' })
  })
})

test('the end of the request ends the connection', async () => {
  const ending = new AbortController()
  let gone: Promise<unknown> = Promise.resolve()
  const refused = await answerOf(
    (response, closed) => {
      gone = closed
      head(response)
      response.write('data: {}\n\n')
      ending.abort()
    },
    { signal: ending.signal },
  )
  expect(refused.code).toBe('timeout')
  await gone
})

test('an endpoint that is not there', async () => {
  const model = openAiChatModel({
    ...{ url: 'http://127.0.0.1:1', api_key: undefined, rule: anyAddress, ca: undefined, answer_ms: 2_000 },
    ...{ max_answer_bytes: 4_096, max_tokens: 100 },
  })
  const parts = model.answer({ ...question, signal: new AbortController().signal })
  await expect(parts.next()).rejects.toThrow('the chat model cannot be reached (ECONNREFUSED)')
})
