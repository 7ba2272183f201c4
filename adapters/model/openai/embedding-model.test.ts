// Endpoints of embeddings that answer, fail or attack: a vector, or a refusal of one line without their text.
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { type ModelDouble, type ModelScript, startModelDouble } from '../../../test/support/chat/model-double.ts'
import { sampleTrace } from '../../../test/support/trace/sample-trace.ts'
import { anyAddress } from '../../platform/address-rule/address-rule.ts'
import { openAiEmbeddingModel } from './embedding-model.ts'

let double: ModelDouble
beforeAll(async () => {
  double = await startModelDouble()
})
afterAll(() => double.close())

async function embed(script: ModelScript, url = `${double.url}/`) {
  double.answerBy(script)
  const model = openAiEmbeddingModel({
    ...{ url, model: 'm', api_key: 'the-key', rule: anyAddress, ca: undefined, timeout_ms: 500 },
  })
  try {
    return await model.embed({ text: 'hello\ud800', signal: new AbortController().signal, trace: sampleTrace })
  } catch (error) {
    if (isRefusal(error)) return `${error.code}: ${error.message}`
    throw error
  }
}

const reply =
  (body: unknown, status = 200) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
const vector = (embedding: unknown) => reply({ object: 'list', data: [{ object: 'embedding', index: 0, embedding }] })

test('a vector comes back for a text, with the model and the key of the profile', async () => {
  expect(await embed(vector([0.5, -1]))).toEqual([0.5, -1])
  const { headers, body } = double.prompts.at(-1) ?? {}
  expect(headers?.authorization).toBe('Bearer the-key')
  expect(body).toEqual({ model: 'm', input: 'hello\ufffd', encoding_format: 'float' })
})

const wrong = 'unavailable: the answer of the model of the embeddings is not one of /embeddings'

test.each<[string, ModelScript, string]>([
  ['no vector', reply({ data: [] }), wrong],
  ['a vector of text', vector(['the-key']), wrong],
  ['zeros, which have no direction', vector([0, 0]), wrong],
  ['more numbers than allowed', vector(Array(5_000).fill(1)), wrong],
  ['HTML', reply('<p>the-key'), wrong],
  ['an error with the key', reply({ error: 'the-key' }, 401), 'unavailable: the model of the embeddings answered 401'],
  ['a redirect', reply('', 302), 'unavailable: the model of the embeddings answered 302'],
  ['a flood', reply('1'.repeat(1_000_000)), 'unavailable: the answer of the model of the embeddings is too large'],
  ['silence', () => undefined, 'timeout: the model of the embeddings took too long'],
])('%s is refused', async (_, script, refusal) => {
  expect(await embed(script)).toBe(refusal)
})

test('an endpoint that is not there is refused', async () => {
  const refusal = 'unavailable: the model of the embeddings cannot be reached (ECONNREFUSED)'
  expect(await embed(reply(''), 'http://127.0.0.1:1')).toBe(refusal)
})
