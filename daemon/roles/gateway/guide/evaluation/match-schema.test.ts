// Schemas of callers: what fits, what does not, and what is not known; within bounded time, whatever the schema is.
import { expect, test } from 'vitest'
import { matchSchema, type SchemaMatch } from './match-schema.ts'

const ships = {
  type: 'object',
  required: ['ships'],
  properties: { ships: { type: 'array', items: { $ref: '#/$defs/ship' }, maxItems: 2 }, note: { type: 'string' } },
  additionalProperties: false,
  $defs: { ship: { type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 2 } } } },
}

test.each<[object, unknown, SchemaMatch]>([
  [ships, { ships: [{ name: 'Ada' }] }, true],
  [ships, { ships: [] }, true],
  [ships, {}, false],
  [ships, ['a text'], false],
  [ships, { ships: [{ name: 'A' }] }, false],
  [ships, { ships: [{ name: 7 }] }, false],
  [ships, { ships: [], more: 1 }, false],
  [ships, { ships: [{ name: 'ab' }, { name: 'cd' }, { name: 'ef' }] }, false],
  [{ type: ['integer', 'null'], minimum: 1 }, 3, true],
  [{ type: ['integer', 'null'], minimum: 1 }, 0, false],
  [{ type: 'integer' }, 1.5, false],
  [{ enum: ['a', { b: [1] }] }, { b: [1] }, true],
  [{ const: 'a' }, 'b', false],
  [{ maxLength: 1 }, '😀', true],
  [{ anyOf: [{ type: 'string' }, { minimum: 5 }] }, 7, true],
  [{ oneOf: [{ type: 'number' }, { minimum: 5 }] }, 7, false],
  [{ not: { type: 'string' } }, 'x', false],
  [{ prefixItems: [{ type: 'string' }], items: { type: 'number' } }, ['a', 1], true],
  [{ prefixItems: [{ type: 'string' }], items: false }, ['a', 1], false],
  [{ type: 'object', properties: { __proto__: { type: 'string' } } }, { constructor: 1 }, true],
])('%j and %j: %s', (schema, value, expected) => {
  expect(matchSchema(schema, value)).toBe(expected)
})

test.each<[string, object, unknown, SchemaMatch]>([
  ['a schema that only names an intent', { intent: 'find ships', title: 'Ships' }, 1, undefined],
  ['a pattern, which is never compiled', { type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(50_000)}!`, undefined],
  ['what fails besides a pattern', { type: 'number', pattern: 'x' }, 'y', false],
  ['the opposite of what is not known', { not: { pattern: 'x' } }, 'y', undefined],
  [
    'a member that a pattern may name',
    { additionalProperties: false, patternProperties: { x: {} } },
    { x: 1 },
    undefined,
  ],
  ['a schema elsewhere', { $ref: 'https://example.org/ship.json' }, {}, undefined],
  ['a missing definition', { $ref: '#/$defs/none' }, {}, undefined],
  ['a schema that refers to itself', { $ref: '#' }, {}, undefined],
])('%s', (_, schema, value, expected) => {
  expect(matchSchema(schema, value)).toBe(expected)
})

test('definitions that double with each level, with long values to compare, end with the budget and not after 2^28 steps', () => {
  const levels = Array.from({ length: 28 }, (_, at) => [
    `d${at}`,
    { oneOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
  ])
  const value = { list: Array.from({ length: 64 }, (_, at) => 'x'.repeat(500) + at) }
  const doubling = { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(levels), d28: { enum: [value, 1] } } }
  expect(matchSchema(doubling, value)).toBeUndefined()
})
