// The chat of the gateway with a model: its answers, its tools, conversations that go on, streams, feedback and traces.
import { describe, expect, test } from 'vitest'
import { requestTools, sayText } from '../../support/chat/model-double.ts'
import { ann, bob, create_signal, setUpChat, signal_list } from './chat-site.ts'

const stage = setUpChat({ chat: { models: ['second'], max_rounds: 4, max_result_bytes: 2_048 } })
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

describe('a message', () => {
  test('is answered by the model, with exactly the documented fields', async () => {
    stage().model.answerBy(sayText('Good morning, Ann.'))
    const { status, body } = await stage().say(ann, { message: 'hello' })
    expect(status).toBe(200)
    expect(body).toEqual({
      response: 'Good morning, Ann.',
      conversation_id: expect.stringMatching(/^conversation_[0-9a-f]{32}$/),
      tool_calls: [],
      model_used: 'double',
      tokens: { prompt: 10, completion: 5, total: 15 },
      guide_guidance: null,
    })
    const [prompt] = stage().model.prompts
    expect(prompt?.headers.authorization).toBe('Bearer key-of-the-site')
    expect(prompt?.body).toMatchObject({
      model: 'double',
      stream: true,
      stream_options: { include_usage: true },
      tool_choice: 'auto',
    })
  })

  test('goes to the model that it names, if the operator allows that', async () => {
    expect((await stage().say(ann, { message: 'hello', model: 'second' })).body.model_used).toBe('second')
    const refused = await stage().say(ann, { message: 'hello', model: 'third' })
    expect([refused.status, refused.body.errors]).toEqual([
      422,
      [{ path: 'model', message: 'it must be one of double, second' }],
    ])
  })

  test.each([
    ['no message', {}],
    ['a blank message', { message: ' ' }],
    ['a long message', { message: 'a'.repeat(32_769) }],
    ['a schema that is not an object', { message: 'a', intent_schema: [] }],
    ['a large schema', { message: 'a', intent_schema: { text: 'a'.repeat(32_769) } }],
    ['an id of another form', { message: 'a', conversation_id: '../x' }],
    ['a further field', { message: 'a', temperature: 1 }],
  ])('with %s is refused', async (_, body) => {
    expect((await stage().say(ann, body)).status).toBe(422)
  })

  test('may have an intent schema, which the model sees', async () => {
    await stage().say(ann, { message: 'hello', intent_schema: { title: 'Find ships' } })
    expect(stage().model.prompts[0]?.body.messages[0]?.content).toContain('"Find ships"')
  })

  test('needs the permission', async () => {
    expect((await stage().say({ subject: 'al', roles: ['auditor'] }, { message: 'hello' })).status).toBe(403)
  })
})

describe('tools', () => {
  test('are called in the name of the caller, and their results go to the model', async () => {
    await stage().raise('A ship without a name')
    stage().model.answerBy(
      requestTools({ name: signal_list, arguments: '{"limit": 5}', id: 'a-1' }),
      sayText('One ship.'),
    )
    const { body } = await stage().say(ann, { message: 'list the signals' }, { traceparent })
    expect(body).toMatchObject({
      response: 'One ship.',
      tool_calls: [{ id: 'a-1', tool: signal_list, arguments: { limit: 5 }, outcome: 'answered' }],
      tokens: { prompt: 20, completion: 10, total: 30 },
    })
    const messages = stage().model.prompts[1]?.body.messages ?? []
    expect(messages.at(-2)).toMatchObject({ role: 'assistant', tool_calls: [{ id: 'a-1', type: 'function' }] })
    expect(messages.at(-1)).toMatchObject({ role: 'tool', tool_call_id: 'a-1' })
    expect(messages.at(-1)?.content).toContain('A ship without a name')
    expect(Buffer.byteLength(messages.at(-1)?.content ?? '')).toBeLessThanOrEqual(2_048)
    expect(stage().model.prompts[0]?.headers.traceparent).toContain('0af7651916cd43dd8448eb211c80319c')
  })

  test('that change something are offered and called only with the consent of the request', async () => {
    const given = JSON.stringify({ signal_type: 'x' })
    stage().model.answerBy(requestTools({ name: create_signal, arguments: given }), sayText('No.'))
    const without = await stage().say(ann, { message: 'raise a signal' })
    expect(without.body.tool_calls).toMatchObject([{ outcome: 'refused', detail: 'there is no such tool' }])
    const offered = (at: number) => stage().model.prompts[at]?.body.tools?.map(({ function: { name } }) => name)
    expect(offered(0)).toContain(signal_list)
    expect(offered(0)).not.toContain(create_signal)
    stage().model.answerBy(requestTools({ name: create_signal, arguments: given }), sayText('No.'))
    const withConsent = await stage().say(ann, { message: 'raise a signal', allow_changes: true })
    expect(offered(2)).toContain(create_signal)
    // The service itself says what is wrong with the input.
    expect(withConsent.body.tool_calls).toMatchObject([{ tool: create_signal, outcome: 'refused' }])
    expect(stage().model.prompts[3]?.body.messages.at(-1)?.content).toContain('severity')
  })

  test('end after the last round, in which the model must answer', async () => {
    stage().model.answerBy(requestTools({ name: signal_list }))
    const { body } = await stage().say(ann, { message: 'list the signals again and again' })
    expect(stage().model.prompts.map(({ body: { tool_choice } }) => tool_choice)).toEqual([
      'auto',
      'auto',
      'auto',
      'none',
    ])
    expect(body.response).toBe('The model came to no answer in 4 rounds of tools.')
    expect(body.tool_calls).toHaveLength(3)
  })
})

describe('a conversation', () => {
  test('goes on with its id, also after a restart', async () => {
    stage().model.answerBy(sayText('Noted.'))
    const first = await stage().say(ann, { message: 'my ship is the Aurora' })
    await stage().site.restart()
    const { conversation_id } = first.body
    const second = await stage().say(ann, { message: 'which one is my ship?', conversation_id })
    expect([second.status, second.body.conversation_id]).toEqual([200, conversation_id])
    const said = stage()
      .model.prompts[1]?.body.messages.map(({ role, content }) => [role, content])
      .slice(1)
    expect(said).toEqual([
      ['user', 'my ship is the Aurora'],
      ['assistant', 'Noted.'],
      ['user', 'which one is my ship?'],
    ])
  })

  test('that does not exist, or is another caller’s, is not found', async () => {
    const { body } = await stage().say(ann, { message: 'mine' })
    const { conversation_id } = body
    for (const who of [
      bob,
      { ...ann, tenant: 'tenant-b' },
      { subject: 'pat', roles: ['admin'], clearance: { level: 'TOP_SECRET' } },
    ])
      expect((await stage().say(who, { message: 'show it', conversation_id })).status).toBe(404)
    const unknown = `conversation_${'0'.repeat(32)}`
    expect((await stage().say(ann, { message: 'show it', conversation_id: unknown })).status).toBe(404)
    expect(stage().model.prompts).toHaveLength(1)
  })

  test('is hidden from its caller once that is cleared for less than it was', async () => {
    const { body } = await stage().say(ann, { message: 'mine' })
    const low = { ...ann, clearance: { level: 'UNCLASSIFIED' } }
    expect((await stage().say(low, { message: 'go on', conversation_id: body.conversation_id })).status).toBe(404)
  })

  test('expires', async () => {
    const { body } = await stage().say(ann, { message: 'mine' })
    stage().site.clock.advance(31 * 86_400_000)
    expect((await stage().say(ann, { message: 'go on', conversation_id: body.conversation_id })).status).toBe(404)
  })
})

describe('a stream', () => {
  test('has the text as it comes, tools and their outcome, and the response last', async () => {
    stage().model.answerBy(requestTools({ name: signal_list }, { name: 'made_up' }), sayText('All is well.'))
    const events = await stage().stream(ann, { message: 'list the signals' })
    expect(events.map(({ event }) => event)).toEqual([
      ...['tool_call', 'tool_result', 'tool_call', 'tool_result'],
      ...['delta', 'delta', 'delta', 'response'],
    ])
    expect(events[1]?.data).toMatchObject({ tool: signal_list, outcome: 'answered' })
    expect(events[3]?.data).toMatchObject({ tool: 'made_up', outcome: 'refused', detail: 'there is no such tool' })
    expect(events.filter(({ event }) => event === 'delta').map(({ data }) => data.text)).toEqual([
      'All ',
      'is ',
      'well.',
    ])
    expect(events.at(-1)?.data).toMatchObject({ response: 'All is well.', model_used: 'double', guide_guidance: null })
  })

  test('ends with the problem of a model that fails', async () => {
    stage().model.answerBy((response) => void response.writeHead(500).end('key-of-the-site'))
    const events = await stage().stream(ann, { message: 'hello' })
    expect(events).toMatchObject([
      { event: 'problem', data: { code: 'unavailable', detail: 'the chat model answered 500' } },
    ])
  })
})

describe('feedback', () => {
  const give = async (kind: string, text: string, who = ann) => {
    const { traceparent: of = '' } = await stage().say(ann, { message: 'hello' })
    return await stage().feedback(who, { trace_id: of.split('-')[1], kind, text })
  }

  test.each([
    ['up', ''],
    ['down', 'wrong ship'],
    ['correction', 'it is the Aurora'],
    ['follow_up', 'and now?'],
  ])('%s is recorded', async (kind, text) => {
    expect(await give(kind, text)).toMatchObject({ status: 201, body: { kind, feedback_id: expect.any(String) } })
  })

  test('of another kind, or without a text that it needs, is refused', async () => {
    expect((await give('sideways', 'a')).status).toBe(422)
    expect((await give('correction', ' ')).status).toBe(422)
  })

  test('on a trace of another caller, or of none, is not found', async () => {
    expect((await give('up', '', bob)).status).toBe(404)
    expect((await stage().feedback(ann, { trace_id: 'a'.repeat(32), kind: 'up', text: '' })).status).toBe(404)
  })
})

test('the trace of the caller goes on, and without one a new one is returned', async () => {
  expect((await stage().say(ann, { message: 'hello' }, { traceparent })).traceparent).toContain(
    traceparent.slice(3, 35),
  )
  expect((await stage().say(ann, { message: 'hello' })).traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/)
  const malformed = await stage().say(ann, { message: 'hello' }, { traceparent: '00-xyz' })
  expect([malformed.status, malformed.traceparent?.length]).toEqual([200, 55])
  expect(stage().events.map(({ event }) => event)).toContain('malformed_traceparent')
})
