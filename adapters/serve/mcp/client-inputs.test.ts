// Each answer of a client goes to the request that it names; others, and those of a call that has ended, go nowhere.
import { expect, test } from 'vitest'
import type { InputRequests } from '../../../daemon/kernel/tools/client-input.ts'
import type { ClientMessage } from './call-events.ts'
import { ClientInputs, isAnswer, readAbilities } from './client-inputs.ts'

const requests: InputRequests = {
  person: { method: 'elicitation/create', params: { message: 'Which?' } },
  model: { method: 'sampling/createMessage', params: {} },
}
const never = new AbortController().signal

test('answers come in any order, and a refusal is none', async () => {
  const inputs = new ClientInputs()
  const sent: ClientMessage[] = []
  const collected = inputs.collect(requests, (message) => sent.push(message), never)
  expect(sent.map(({ id, method }) => [id, method])).toEqual([
    ['input-1', 'elicitation/create'],
    ['input-2', 'sampling/createMessage'],
  ])
  expect(inputs.answer({ jsonrpc: '2.0', id: 'input-2', error: { code: -1, message: 'no' } })).toBe(true)
  expect(inputs.answer({ jsonrpc: '2.0', id: 'input-1', result: { action: 'decline' } })).toBe(true)
  expect(await collected).toEqual({ responses: { person: { action: 'decline' } }, refused: ['model'] })
  expect(inputs.answer({ jsonrpc: '2.0', id: 'input-1', result: {} })).toBe(false)
})

test.each([[{ id: 'input-9', result: {} }], [{ id: 1, result: {} }], [{ id: 'input-1', result: 'text' }]])(
  '%j answers nothing',
  (body) => {
    const inputs = new ClientInputs()
    const ending = AbortSignal.abort()
    void inputs.collect({ person: requests.person as never }, () => undefined, ending)
    expect(inputs.answer(body)).toBe(false)
  },
)

test('the end of the call ends the wait', async () => {
  const inputs = new ClientInputs()
  const ending = new AbortController()
  const collected = inputs.collect(requests, () => undefined, ending.signal)
  ending.abort()
  expect(await collected).toEqual({ responses: {}, refused: ['person', 'model'] })
})

test('a session waits for so many answers and no more', async () => {
  const inputs = new ClientInputs()
  const ending = new AbortController()
  for (let at = 0; at < 32; at += 1) void inputs.collect(requests, () => undefined, ending.signal)
  const sent: ClientMessage[] = []
  const collected = await inputs.collect(requests, (message) => sent.push(message), never)
  expect(collected).toMatchObject({ refused: ['person', 'model'] })
  expect(sent).toEqual([])
  ending.abort()
})

test.each<[unknown, object]>([
  [undefined, {}],
  [{ elicitation: {}, roots: {} }, { elicitation: {} }],
  [
    { elicitation: { form: {}, url: { a: 1 } }, sampling: { tools: {} } },
    { elicitation: { form: {}, url: {} }, sampling: { tools: {} } },
  ],
  [{ elicitation: 'yes' }, {}],
])('the abilities in %j', (stated, expected) => {
  expect(readAbilities(stated)).toEqual(expected)
})

test.each<[unknown, boolean]>([
  [{ id: 1, result: {} }, true],
  [{ id: 1, method: 'ping' }, false],
  [[{ id: 1 }], false],
  [null, false],
])('%j is an answer: %s', (body, expected) => {
  expect(isAnswer(body)).toBe(expected)
})
