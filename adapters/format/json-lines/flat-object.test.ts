// Lines that are read without a parser have the values that the parser gives, and every other line is left to it.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FlatObject } from './flat-object.ts'
import { formatJsonValue, parseJsonRecord } from './json-record.ts'

const names = ['a', 'ü', 'c"\\']

function readFlat(line: string): (string | undefined)[] | undefined {
  const bytes = Buffer.from(`${line}\n`)
  const flat = new FlatObject()
  flat.expect(names)
  if (!flat.read(bytes, 0, bytes.length - 1)) return undefined
  return names.map((_, at) =>
    flat.starts[at]! < 0 ? undefined : bytes.toString('utf8', flat.starts[at], flat.ends[at]),
  )
}

function parse(line: string): (string | undefined)[] | undefined {
  const record = parseJsonRecord(Buffer.from(line))
  if (typeof record === 'string' || Object.keys(record).some((name) => !names.includes(name))) return undefined
  return names.map((name) => {
    const value = record[name]
    const formatted = value === undefined ? { text: undefined } : formatJsonValue(value, '|')
    return 'text' in formatted ? formatted.text : 'not flat'
  })
}

const values = fc.oneof(
  fc.json({ maxDepth: 1 }),
  fc.double().map(String),
  fc.constantFrom(
    '1.0',
    '-0',
    '0.5',
    '1e5',
    '00',
    '01',
    '-',
    '.5',
    '1.',
    '0.000001',
    '0.0000001',
    '123456789012345',
    '1234567890123456',
  ),
  fc.constantFrom(
    '"',
    '"\u0001"',
    '"é"',
    'nul',
    'true',
    'falsey',
    'null',
    '-1.25',
    '0.1234567890123456',
    '12345678901234.5',
    'tru"e',
  ),
)
const member = fc
  .tuple(fc.constantFrom(...names.map((name) => JSON.stringify(name)), '"b"', 'a'), values)
  .map(([name, value]) => `${name}:${value}`)
const lines = fc.oneof(
  fc.array(member, { maxLength: 4 }).map((members) => `{${members.join(', ')}}`),
  fc.tuple(values, values, values).map(([a, b, c]) => ` { "a" : ${a},"ü":${b}\t, "c\\"\\\\": ${c}} \r`),
  fc.string({ unit: fc.constantFrom(...'{}":, a1', '\\') }),
)

test('whatever the line is', () => {
  fc.assert(
    fc.property(lines, (line) => {
      const flat = readFlat(line)
      if (flat !== undefined) expect(flat).toEqual(parse(line))
    }),
    { numRuns: 20_000 },
  )
})

test.each<[string, (string | undefined)[]]>([
  ['{"a": 1, "ü": "x y", "c\\"\\\\": true}', ['1', 'x y', 'true']],
  ['{"a":-12.25,"ü":null}', ['-12.25', undefined, undefined]],
  ['{"c\\"\\\\": false}\r', [undefined, undefined, 'false']],
])('usual lines need no parser: %s', (line, expected) => {
  expect(readFlat(line)).toEqual(expected)
})
