// Arguments by the words of a message: each value is used once, in the type of its field, and nothing is invented.
import { describe, expect, test } from 'vitest'
import { fillArguments } from './fill-arguments.ts'
import { listFields } from './list-fields.ts'
import { readValues } from './read-values.ts'

const schema = {
  type: 'object',
  properties: {
    uid: { type: 'string' },
    decision: { type: 'string', enum: ['confirm', 'reject', 'hold_back'] },
    rationale: { type: 'string' },
    count: { type: 'integer' },
    is_open: { type: 'boolean' },
    names: { type: 'array', items: { type: 'string' } },
    state: { $ref: '#/$defs/State' },
    limit: { type: 'integer' },
  },
  $defs: { State: { type: 'string', enum: ['OPEN', 'CLOSED'] } },
}
const fill = (message: string, required: readonly string[] = []) => {
  const { input, missing } = fillArguments(listFields({ ...schema, required }), readValues(message))
  return { input, missing: missing.map(({ name }) => name) }
}

describe('a field is filled by', () => {
  test.each([
    [
      'its name',
      'rationale="it is old" count=7 is_open=yes names=a,b',
      [],
      { rationale: 'it is old', count: 7, is_open: true, names: ['a', 'b'] },
    ],
    ['a listed value in the words', 'list the open ones, hold back', [], { state: 'OPEN', decision: 'hold_back' }],
    ['an id', 'show sig_1', ['uid'], { uid: 'sig_1' }],
    ['a quoted text', 'close sig_1 "it is old"', ['uid', 'rationale'], { uid: 'sig_1', rationale: 'it is old' }],
    ['a number', 'wait for 3 of them', ['count'], { count: 3 }],
    ['a number of items', 'the first 3', [], { limit: 3 }],
  ])('%s', (_, message, required, input) => {
    expect(fill(message, required)).toEqual({ input, missing: [] })
  })
})

test.each([
  ['a value of another type', 'count=many is_open=perhaps', ['count', 'is_open'], {}, ['count', 'is_open']],
  ['two listed values', 'confirm or reject', ['decision'], {}, ['decision']],
  ['a value that is not listed', 'decision=explode', ['decision'], {}, ['decision']],
  ['one id for two fields', 'sig_1', ['uid', 'rationale'], { uid: 'sig_1' }, ['rationale']],
  ['no value', 'show it', ['uid'], {}, ['uid']],
  ['an optional field', 'sig_1 "quoted" 5', [], {}, []],
])('%s fills nothing', (_, message, required, input, missing) => {
  expect(fill(message, required)).toEqual({ input, missing })
})

test.each([undefined, null, [], 'text', { properties: 7 }, { properties: { a: 7, b: null }, required: [1] }])(
  'the schema %j of a foreign service is read without an error',
  (input_schema) => {
    expect(listFields(input_schema).every(({ isRequired }) => !isRequired)).toBe(true)
  },
)

test('a foreign schema with a thousand fields is read up to a bound', () => {
  const properties = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`f${at}`, { type: 'string' }]))
  expect(listFields({ properties })).toHaveLength(64)
})
