// Lines of faults in JSON text.
import { expect, test } from 'vitest'
import { findJsonFlaw, findJsonLine } from './find-json-line.ts'

const text = `{
  "format": 1, "tasks": [
    { "name": "a", "params": {"x": "tasks.1: \\"[{,"} },
    {
      "name": "b",
      "after": [
        "a",
        "c"]
    }
  ]
}`

test.each([
  ['', 1],
  ['format', 2],
  ['tasks', 2],
  ['tasks.0', 3],
  ['tasks.0.params.x', 3],
  ['tasks.1', 4],
  ['tasks.1.name', 5],
  ['tasks.1.after.0', 7],
  ['tasks.1.after.1', 8],
  ['tasks.1.params.missing', 4],
  ['other', 1],
])('the field at "%s" is in line %i', (path, line) => expect(findJsonLine(text, path)).toBe(line))

test.each([
  ['[ ]', '0', 1],
  ['[\n[],\n{},\n{"a": [1,\n2 ] , "b\\u0063":\n3}]', '2.bc', 5],
  ['[\n[],\n{},\n{"a": [1,\n2 ] , "b\\u0063":\n3}]', '2.a.1', 5],
  ['{"a.b": 1,\n"a": {"b": {\n"c": "\\\\"}},\n"d": -1.5e3}', 'a.b.c', 3],
  ['{"a.b": 1,\n"a": {"b": {\n"c": "\\\\"}},\n"d": -1.5e3}', 'd', 4],
  ['{"a": {\n"10": [true,\nnull]}}', 'a.10.1', 3],
  ['{"a": {\n"10": [true,\nnull]}}', 'a.1', 1],
  ['"text"', 'a', 1],
])('in %j, the field at "%s" is in line %i', (text, path, line) => expect(findJsonLine(text, path)).toBe(line))

test.each([
  ['{\n"a": 1,\n}', 'a key is missing', 3],
  ['{\n"a": 1', 'it has no end', 2],
  ['{\n"a": 1\n', 'it has no end', 2],
  ['{\n"a": 1 "b"}', 'a comma or brace is missing in an object', 2],
  ['{\n"a": 1,\n"a": 2}', 'an object has a key twice', 3],
  ['format: 1', 'an unknown word', 1],
])('%j is not JSON: %s, in line %i', (text, reason, line) => expect(findJsonFlaw(text)).toEqual({ reason, line }))

test('JSON has no flaw', () => expect(findJsonFlaw(text)).toBeUndefined())
