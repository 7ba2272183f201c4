// JSON from outside is a value or undefined, and exact JSON is the one text of its value.
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { canonicalJson } from './canonical-json.ts'
import { parseExactJson, parseJson, parseJsonAs } from './parse-json.ts'

test.each([
  ['{"a":[1,null]}', { a: [1, null] }],
  [' null ', null],
  ['', undefined],
  ['{"a":1', undefined],
  ['\ufeff{}', undefined],
  ['{"decision":"non_match","decision":"match"}', undefined],
  ['{"a":[{"b":1,"\\u0062":2}]}', undefined],
  ['{"__proto__":1}', undefined],
  ['["\\ud800"]', undefined],
  [`${'['.repeat(129)}${']'.repeat(129)}`, undefined],
])('%j is read alike from text and from bytes', (text, value) => {
  expect(parseJson(text)).toEqual(value)
  expect(parseJson(Buffer.from(text))).toEqual(value)
})

test('bytes that are not UTF-8 are not JSON', () => {
  expect(parseJson(Uint8Array.of(0x22, 0xff, 0x22))).toBeUndefined()
})

test('a schema takes its values, and nothing that is not JSON', () => {
  const schema = z.strictObject({ a: z.int() })
  expect(parseJsonAs(schema, '{"a":1}')).toEqual({ a: 1 })
  expect(parseJsonAs(schema, '{"a":"1"}')).toBeUndefined()
  expect(parseJsonAs(z.unknown(), 'a')).toBeUndefined()
})

describe('exact JSON', () => {
  const parse = (text: string) => parseExactJson(Buffer.from(text), canonicalJson)

  test('is the text that the printer makes', () => {
    expect(parse('{"a":1,"b":"é"}')).toEqual({ a: 1, b: 'é' })
  })

  test.each([
    '{"b":1,"a":1}',
    '{"a":1,"a":1}',
    '{"__proto__":1}',
    '[1e999]',
    '{"a": 1}',
    '{"a":1.0}',
    '{"a":"\\u0061"}',
    '["\\ud800"]',
    '\ufeff{}',
    '{',
  ])('is not %s', (text) => {
    expect(parse(text)).toBeUndefined()
  })
})
