// People see which service asks them, and each character of its text; no service gets the context of another.
import { expect, test } from 'vitest'
import { InputRequiredResult } from '../../../kernel/tools/client-input.ts'
import { showRequests } from './shown-requests.ts'

const show = (method: 'elicitation/create' | 'sampling/createMessage', params: Record<string, unknown>) =>
  showRequests('maps', new InputRequiredResult({ one: { method, params } }, 'state')).requests.one?.params

test.each<[string, string]>([
  ['Which route?', 'maps: Which route?'],
  ['Hello.\n\npayroll: your password?', 'maps: Hello.\nmaps: \nmaps: payroll: your password?'],
  ['\r\u001b[2Kpayroll: hi', 'maps: \\r\\u001b[2Kpayroll: hi'],
  ['one\r\ntwo\u2028three\u202e', 'maps: one\nmaps: two\\u2028three\\u202e'],
  ['\u2764\ufe0f \u0645\u06cc\u200c\u062e', 'maps: \u2764\ufe0f \u0645\u06cc\u200c\u062e'],
])('the message %j is shown as %j', (message, shown) => {
  expect(show('elicitation/create', { message })).toEqual({ message: shown })
})

test('a message that is not text is empty', () => {
  expect(show('elicitation/create', { message: { toString: 'x' } })).toEqual({ message: 'maps: ' })
})

test.each<[Record<string, unknown>]>([
  [{ requestedSchema: { properties: { route: { title: 'a\u001b[2J' } } } }],
  [{ mode: 'url', url: 'https://maps.example/\u202egro.elpmaxe' }],
])('the form %j is not passed on', (form) => {
  expect(() => show('elicitation/create', { message: 'Hi', ...form })).toThrow(/characters that people do not see/)
})

test('a model is not given the context of other services', () => {
  const params = { messages: [], maxTokens: 1 }
  expect(show('sampling/createMessage', { ...params, includeContext: 'thisServer' })).toEqual(params)
})
