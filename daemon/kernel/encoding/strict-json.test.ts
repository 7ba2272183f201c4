// The strict parser beside JSON.parse: the same values, and refusals only where the format says so.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readStrictJson, strictJsonReading } from './strict-json.ts'

const parseBytes = (bytes: Buffer) => readStrictJson(bytes, { max_depth: 16 })
const parseStrict = (text: string) => parseBytes(Buffer.from(text))
/** Texts that the format refuses although JSON.parse takes them. */
const deliberateRefusals = /nested|surrogate|no object may have|out of range/

function parseLoosely(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

const fragments = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  '\\u12',
  '\\ud83d',
  '\\ude00',
  'true',
  'null',
  'fals',
  '-',
  '0',
  '1',
  '.',
  'e',
  '+',
  ' ',
  '\n',
  '\t',
  'a',
  'é',
  '😀',
  '\u0001',
  '"a":',
  '"b"',
  '1e999',
  '__proto__',
]

describe('against JSON.parse', () => {
  test('every value that it prints is read back, with any white space', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const text = JSON.stringify(value, undefined, space)
        const hasProto = text.includes('"__proto__"')
        const outcome = parseStrict(text)
        if (outcome.outcome !== 'value')
          return hasProto || deliberateRefusals.test('detail' in outcome ? outcome.detail : '')
        expect(outcome.value).toEqual(JSON.parse(text))
        return true
      }),
      { numRuns: 1_000, seed: 11 },
    )
  })

  test('any text is taken only if it takes it, and refused only if it does not, or for a reason of ours', () => {
    const texts = fc.oneof(
      fc.array(fc.constantFrom(...fragments), { maxLength: 14 }).map((pieces) => pieces.join('')),
      fc.tuple(fc.json(), fc.nat(), fc.constantFrom(...fragments)).map(([text, at, piece]) => {
        const place = at % (text.length + 1)
        return text.slice(0, place) + piece + text.slice(place)
      }),
      fc
        .tuple(fc.json(), fc.nat())
        .map(([text, at]) => text.slice(0, at % (text.length + 1)) + text.slice((at % (text.length + 1)) + 1)),
    )
    fc.assert(
      fc.property(texts, (text) => {
        const sound = text.isWellFormed() ? text : text.toWellFormed()
        const outcome = parseStrict(sound)
        const theirs = parseLoosely(sound)
        if (outcome.outcome === 'value') expect({ value: outcome.value }).toEqual(theirs)
        else if (outcome.outcome === 'incomplete') expect(theirs).toBeUndefined()
        else if (outcome.outcome === 'BAD_JSON' && !deliberateRefusals.test(outcome.detail))
          expect(theirs).toBeUndefined()
      }),
      { numRuns: 5_000, seed: 12 },
    )
  })

  test('every beginning of an object is incomplete, cut in the middle of a character too', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 4 })),
        fc.nat(),
        (value, at) => {
          const bytes = Buffer.from(JSON.stringify(value))
          if (parseBytes(bytes).outcome !== 'value') return
          expect(parseBytes(bytes.subarray(0, at % bytes.length)).outcome).toBe('incomplete')
        },
      ),
      { numRuns: 1_000, seed: 13 },
    )
  })

  test('any bytes get an answer', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(parseBytes(Buffer.from(bytes)).outcome).toMatch(/value|incomplete|BAD_JSON|DUP_KEY/)
      }),
      { numRuns: 2_000, seed: 14 },
    )
  })
})

test.each([
  ['DUP_KEY', '{"a":1,"a":2}'],
  ['DUP_KEY', '{"x":[{"a":1,"\\u0061":2}]}'],
  ['DUP_KEY', '{"":1,"":1}'],
  ['BAD_JSON', '{"__proto__":1}'],
  ['BAD_JSON', '{"\\u005f_proto__":1}'],
  ['BAD_JSON', '["\\ud800"]'],
  ['BAD_JSON', '["\\udc00\\ud800"]'],
  ['BAD_JSON', '["\\ud800\\u0041"]'],
  ['BAD_JSON', '[1e999]'],
  ['BAD_JSON', '[-1e999]'],
  ['BAD_JSON', '[01]'],
  ['BAD_JSON', '{} {}'],
  ['BAD_JSON', '{},'],
  ['BAD_JSON', '\ufeff{}'],
  ['BAD_JSON', `${'['.repeat(17)}${']'.repeat(17)}`],
  ['value', `${'['.repeat(16)}${']'.repeat(16)}`],
  ['value', '["\\ud83d\\ude00"]'],
  ['value', '{"a":{"a":1},"b":[{"a":1}]}'],
  ['incomplete', ''],
  ['incomplete', ' \n'],
  ['incomplete', '["\\ud83d\\u'],
  ['incomplete', '{"a":tr'],
  ['incomplete', '[1.'],
])('%s: %s', (outcome, text) => {
  expect(parseStrict(text).outcome).toBe(outcome)
})

test.each([
  ['a byte that no text has', [0x22, 0xff, 0x22], 'BAD_JSON'],
  ['an overlong encoding', [0x22, 0xc0, 0xaf, 0x22], 'BAD_JSON'],
  ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22], 'BAD_JSON'],
  ['a text that ends inside a character', [0x22, 0xf0, 0x9f, 0x98], 'incomplete'],
  ['a whole text with half a character behind it', [0x31, 0x20, 0xc3], 'BAD_JSON'],
])('%s', (_, bytes, outcome) => {
  expect(parseBytes(Buffer.from(bytes)).outcome).toBe(outcome)
})

describe('amounts', () => {
  const limits = { max_depth: 16, max_values: 100, max_names: 10 }
  const names = (count: number) => Array.from({ length: count }, (_, at) => `{"k${at}":0}`).join()
  test.each([
    ['as many values as allowed', `[${Array(99).fill('0')}]`, 'value'],
    ['one value more', `[${Array(100).fill('0')}]`, 'TOO_LARGE'],
    ['containers, which are values', `[${Array(50).fill('[{}]')}]`, 'TOO_LARGE'],
    ['commas and brackets in a text', JSON.stringify('[{,'.repeat(200)), 'value'],
    ['as many names as allowed', `[${names(10)}]`, 'value'],
    ['one name more', `[${names(11)}]`, 'TOO_LARGE'],
    ['one name many times', `[${Array(40).fill('{"a":0}')}]`, 'value'],
    ['one name in two spellings', `[${names(9)},{"a":0},{"\\u0061":0}]`, 'value'],
    ['too many values without an end', `[${Array(101).fill('0')},`, 'TOO_LARGE'],
    ['too many values behind another fault', `[01,${Array(100).fill('0')}]`, 'BAD_JSON'],
  ])('%s', (_, text, outcome) => {
    expect(readStrictJson(text, limits).outcome).toBe(outcome)
  })

  test('many values are read in many steps, and too many end the reading before any is parsed', () => {
    const countSteps = (text: string) => {
      const reading = strictJsonReading(text, { max_depth: 16, max_values: 20_000 })
      for (let steps = 1; ; steps++) if (reading.next().done) return steps
    }
    expect(countSteps(`[${Array(19_999).fill('0')}]`)).toBeGreaterThan(35)
    expect(countSteps(`[${Array(900_000).fill('0')}]`)).toBeLessThan(100)
  })
})

test('the path of a number out of range is known', () => {
  expect(parseStrict('{"a":[1,{"b":[0,0,-1e999]}]}')).toMatchObject({ number_path: 'a.1.b.2' })
  expect(parseStrict('1e999')).toMatchObject({ number_path: '' })
})
