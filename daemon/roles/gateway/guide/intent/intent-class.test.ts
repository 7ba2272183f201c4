// Intents of the same meaning share a class, by rules that need no model.
import { expect, test } from 'vitest'
import { classifyIntent, classOfSchema, unclassified_intent } from './intent-class.ts'
import { shapeOfPrompt } from './prompt-shape.ts'

test.each([
  [{ intent: 'Find ships', name: 'x' }, 'find_ships'],
  [{ name: 'vessel.search/2' }, 'vessel_search_2'],
  [{ title: ' Show  Map ' }, 'show_map'],
  [{ $id: 'urn:intent:route-plan' }, 'urn_intent_route_plan'],
  [{ intent: 7, title: 'Fallback' }, 'fallback'],
  [{ intent: '***' }, undefined],
  [{ type: 'object' }, undefined],
  [JSON.parse('{"__proto__": {"intent": "stolen"}}'), undefined],
])('a schema %j names %s', (schema, name) => {
  expect(classOfSchema(schema)).toBe(name)
})

test.each([
  ['list the signals', 'find_signal'],
  ['Please list all signals!', 'find_signal'],
  ['What signals are there?', 'find_signal'],
  ['Create a signal', 'create_signal'],
  ['compare the vessels of two harbours', 'compare_two_vessel'],
  ['', unclassified_intent],
  ['42 !!', unclassified_intent],
])('%j is %s', (prompt, name) => {
  expect(classifyIntent(prompt, undefined)).toBe(name)
})

test('a long text of one word has a short class', () => {
  expect(classifyIntent('ä'.repeat(30_000), { title: 'x'.repeat(30_000) })).toHaveLength(64)
})

test.each([
  ['Where is it?', 'short-question'],
  ['list signals of 2026', 'short-request-values'],
  [`- one\n- two\n${'x'.repeat(400)}`, 'long-request-list'],
  [`\`\`\`js\nrun()\n\`\`\`${'y'.repeat(80)}`, 'medium-request-code'],
])('%j has the shape %s', (prompt, shape) => {
  expect(shapeOfPrompt(prompt)).toBe(shape)
})
