// Texts with escapes, as services read them.
import { expect, test } from 'vitest'
import { decodeEscapes } from './decode-escapes.ts'

test.each([
  ['a%2Db', 'a-b'],
  ['pr%6Fject', 'project'],
  ['caf%C3%A9 %', 'café %'],
  ['%zz%4', '%zz%4'],
  ['%ff%41', '\ufffdA'],
  ['%2541', '%41'],
  ['', ''],
])('%s is read as %s', (text, read) => expect(decodeEscapes(text)).toBe(read))
