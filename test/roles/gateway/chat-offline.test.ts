// The chat without a model: the right tool by the words of the message, called where it reads and nothing is missing.
import { expect, test } from 'vitest'
import { ann, setUpChat, signal_list } from './chat-site.ts'

const stage = setUpChat({ isOffline: true })

const say = async (message: string, more: Readonly<Record<string, unknown>> = {}) => {
  const { status, body } = await stage().say(ann, { message, ...more })
  expect([status, body.model_used, body.tokens]).toEqual([200, 'offline (tool catalogue)', {}])
  return body
}

test('a read whose arguments are there is called, in the name of the caller', async () => {
  await stage().raise('A ship without a name')
  const { response, tool_calls, conversation_id } = await say('list the signals with status new, the last 5')
  expect(tool_calls).toEqual([
    { id: 'call_0', tool: signal_list, arguments: { status: 'new', limit: 5 }, outcome: 'answered' },
  ])
  expect(response).toContain(`${signal_list} answered:`)
  expect(response).toContain('A ship without a name')
  const items = JSON.parse(response.split('\n')[1]).items
  const { response: shown, tool_calls: got } = await say(`show signal ${items[0].uid}`, { conversation_id })
  expect(got[0]).toMatchObject({ tool: 'intelligence-service__signal_get', outcome: 'answered' })
  expect(shown).toContain('A ship without a name')
})

test('a read without an argument that it needs is named, with what is missing', async () => {
  const { response, tool_calls } = await say('explain the history of a signal')
  expect(tool_calls).toEqual([])
  expect(response).toContain('intelligence-service__signal_history fits')
  expect(response).toMatch(/uid \(string\)/)
  expect(response).toContain('Write them as name=value.')
})

test('a change is named and never called, whatever the request allows', async () => {
  const { response, tool_calls } = await say('acknowledge signal sig_1', { allow_changes: true })
  expect(tool_calls).toEqual([])
  expect(response).toContain('intelligence-service__signal_acknowledge fits')
  expect(response).toContain('It changes something')
})

test.each(['delete all signals', 'could you please delete all signals'])(
  'a change that no tool makes lists nothing: %s',
  async (message) => {
    const { response, tool_calls } = await say(message)
    expect(tool_calls).toEqual([])
    expect(response).toMatch(/^None of the tools that you may use does "delete" with what these words name/)
  },
)

test('a tool that refuses says why', async () => {
  const { tool_calls, response } = await say('show signal sig_0123456789abcdef')
  expect(tool_calls[0]).toMatchObject({ outcome: 'refused' })
  expect(response).toContain('refused:')
})

test('words that fit nothing are answered with advice', async () => {
  expect((await say('xyzzy plugh')).response).toMatch(/^None of the \d+ tools that you may use fits/)
})

test('only tools that the caller may use are found', async () => {
  const { status, body } = await stage().say({ subject: 'op', roles: ['operator'] }, { message: 'silence signals' })
  expect([status, body.response.includes('signal_silence_create')]).toEqual([200, true])
  expect((await say('create a silence of signals')).response).not.toContain('signal_silence_create')
})

test('no model may be named', async () => {
  const { status, body } = await stage().say(ann, { message: 'hello', model: 'gpt' })
  expect([status, body.errors[0].message]).toEqual([422, 'this site has no chat model'])
})

test('events are those of a model', async () => {
  const events = await stage().stream(ann, { message: 'list signals' })
  expect(events.map(({ event }) => event)).toEqual(['tool_call', 'tool_result', 'delta', 'response'])
})
