// A schema of the answer goes to endpoints that take it; others are requested without it, from the second time on at once.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { newTrace } from '../../../daemon/kernel/telemetry/trace.ts'
import {
  type ModelDouble,
  type ModelScript,
  sayText,
  startModelDouble,
} from '../../../test/support/chat/model-double.ts'
import { anyAddress } from '../../platform/address-rule/address-rule.ts'
import { openAiChatModel } from './chat-model.ts'

let double: ModelDouble
beforeAll(async () => {
  double = await startModelDouble()
})
afterAll(() => double.close())

const answer_schema = { name: 'answer', schema: { type: 'object' } }
const openModel = () => {
  double.prompts.splice(0)
  return openAiChatModel({
    ...{ url: double.url, api_key: undefined, rule: anyAddress, ca: undefined, answer_ms: 2_000 },
    ...{ max_answer_bytes: 4_096, max_tokens: 100 },
  })
}
const request = {
  ...{ model: 'm', messages: [{ role: 'user' as const, text: 'hi' }], tools: [], mayCallTools: false, answer_schema },
  ...{ signal: new AbortController().signal, trace: newTrace((bytes) => '1'.repeat(2 * bytes)) },
}
const refuseBy =
  (status: number): ModelScript =>
  (response) =>
    void response.writeHead(status).end()

async function answerOf(model: ReturnType<typeof openModel>): Promise<string> {
  const parts = model.answer(request)
  try {
    for (;;) {
      const step = await parts.next()
      if (step.done) return step.value.text
    }
  } catch (error) {
    if (isRefusal(error)) return error.code
    throw error
  }
}
const formats = () => double.prompts.map(({ body }) => 'response_format' in body && body.response_format)
const sent = { type: 'json_schema', json_schema: answer_schema }

test('the schema is sent as response_format', async () => {
  double.answerBy(sayText('{}'))
  expect(await answerOf(openModel())).toBe('{}')
  expect(formats()).toEqual([sent])
})

test.each([400, 422])(
  'an endpoint that answers %i to it is requested without it, and not offered it again',
  async (status) => {
    const model = openModel()
    double.answerBy(refuseBy(status), sayText('{}'))
    expect([await answerOf(model), await answerOf(model)]).toEqual(['{}', '{}'])
    expect(formats()).toEqual([sent, false, false])
  },
)

test('an endpoint that refuses both ways keeps being offered it', async () => {
  const model = openModel()
  double.answerBy(refuseBy(400), refuseBy(400), sayText('{}'))
  expect([await answerOf(model), await answerOf(model)]).toEqual(['unavailable', '{}'])
  expect(formats()).toEqual([sent, false, sent])
})

test('other refusals are not tried again', async () => {
  double.answerBy(refuseBy(500), sayText('{}'))
  expect(await answerOf(openModel())).toBe('unavailable')
  expect(formats()).toEqual([sent])
})
