// Limits that an operator sets for the chat: time, changes, conversations of one caller, and traces that it requires.
import { expect, test } from 'vitest'
import { requestTools, sayText } from '../../support/chat/model-double.ts'
import { ann, bob, create_signal, setUpChat } from './chat-site.ts'

const stage = setUpChat({
  chat: { turn_s: 1, changes: 'never', max_conversations: 2, max_tools: 3 },
  env: { GUIDE_REQUIRE_TRACEPARENT: 'true', GUIDE_TRACE_HEADER: 'x-trace' },
})
const trace = (digit: string) => ({ 'x-trace': `00-${digit.repeat(32)}-b7ad6b7169203331-01` })
const say = (body: Readonly<Record<string, unknown>>, who = ann) => stage().say(who, body, trace('a'))

test('a model that hangs is given up at the limit of the turn, and its connection ended', async () => {
  let gone: Promise<unknown> | undefined
  stage().model.answerBy((response, closed) => {
    gone = closed
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': wait\n\n')
  })
  expect(await say({ message: 'hello' })).toMatchObject({ status: 503, body: { code: 'timeout' } })
  await gone
})

test('changes are never allowed where the operator says so', async () => {
  expect(await say({ message: 'hello', allow_changes: true })).toMatchObject({ status: 403 })
  stage().model.answerBy(requestTools({ name: create_signal }), sayText('no'))
  expect((await say({ message: 'raise a signal' })).body.tool_calls).toMatchObject([{ outcome: 'refused' }])
})

test('the model is offered the tools that fit the message, and no more than its share', async () => {
  await say({ message: 'which silences are active?' })
  const offered = stage().model.prompts[0]?.body.tools?.map(({ function: { name } }) => name)
  expect(offered).toHaveLength(3)
  expect(offered).toContain('intelligence-service__signal_silence_list')
})

test('a further conversation replaces the one with the oldest last message, of its caller alone', async () => {
  const begin = async (who = ann) => {
    stage().site.clock.advance(1_000)
    return (await say({ message: 'hello' }, who)).body.conversation_id
  }
  const goesOn = async (conversation_id: string, who = ann) =>
    (await say({ message: 'more', conversation_id }, who)).status
  const [others, first, second] = [await begin(bob), await begin(), await begin()]
  stage().site.clock.advance(1_000)
  expect(await goesOn(first)).toBe(200)
  const third = await begin()
  expect([await goesOn(first), await goesOn(second), await goesOn(third)]).toEqual([200, 404, 200])
  expect(await goesOn(others, bob)).toBe(200)
})

test('a trace is required under the documented names, and a request without a sound one is 400', async () => {
  const statusOf = async (headers: Readonly<Record<string, string>>) => {
    const { status, body, traceparent } = await stage().say(ann, { message: 'hello' }, headers)
    return [status, status === 200 ? traceparent : body.detail.split(';')[0]]
  }
  expect(await statusOf({})).toEqual([400, 'the header x-trace is missing'])
  expect(await statusOf({ traceparent: trace('b')['x-trace'] })).toEqual([400, 'the header x-trace is missing'])
  expect(await statusOf({ 'x-trace': '00-0-0-0' })).toEqual([400, 'the header x-trace is malformed'])
  expect(await statusOf(trace('0'))).toEqual([400, 'the header x-trace is malformed'])
  expect((await statusOf(trace('c')))[0]).toBe(200)
  expect(stage().model.prompts[0]?.headers.traceparent).toContain('c'.repeat(32))
  const { status } = await stage().site.call(
    'gateway',
    'POST',
    '/api/v1/chat/feedback',
    { trace_id: 'c'.repeat(32), kind: 'up' },
    { token: await stage().site.token(ann) },
  )
  expect(status).toBe(400)
})
