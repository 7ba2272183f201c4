// Documents of the library of MongoDB as JSON: no value loses digits or letters, and bytes that are not a document are refused.
import fc from 'fast-check'
import {
  Binary,
  BSON,
  Code,
  DBRef,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp,
  UUID,
} from 'mongodb'
import { describe, expect, test } from 'vitest'
import { describeField, nameBsonType, readFields } from './bson-json.ts'

const decimal = (bytes: Buffer) => new Decimal128(bytes).toString()

function describeDocument(bytes: Uint8Array): string[] {
  return [...readFields(Buffer.from(bytes))].map((field) => `${field.name}=${describeField(field, decimal)}`)
}
const describeValue = (value: unknown) => describeDocument(BSON.serialize({ a: value }))[0]?.slice(2)

const oid = '0123456789abcdef01234567'

test.each([
  [new Int32(-7), '-7'],
  [Long.fromString('9223372036854775807'), '9223372036854775807'],
  [Long.fromString('-9223372036854775808'), '-9223372036854775808'],
  [new Double(0.1), '0.1'],
  [new Double(1e300), '1e+300'],
  [new Double(-0), '-0'],
  [Number.NaN, '"NaN"'],
  [Number.NEGATIVE_INFINITY, '"-Infinity"'],
  [Decimal128.fromString('12345678901234567890.12345'), '"12345678901234567890.12345"'],
  [Decimal128.fromString('NaN'), '"NaN"'],
  ['ž \u{1f600} "\n', '"ž \u{1f600} \\"\\n"'],
  [true, 'true'],
  [null, 'null'],
  [new Date('2024-02-29T13:00:00.5Z'), '"2024-02-29T13:00:00.500Z"'],
  [new Date(-1), '"1969-12-31T23:59:59.999Z"'],
  [new ObjectId(oid), `"${oid}"`],
  [new Binary(Buffer.from([0, 255, 10])), '"AP8K"'],
  [new Binary(Buffer.from([0, 255, 10]), 2), '"AP8K"'],
  [new UUID('00112233-4455-6677-8899-aabbccddeeff'), '"00112233-4455-6677-8899-aabbccddeeff"'],
  [/a"\/b/i, String.raw`"/a\"\\/b/i"`],
  [new Code('f()'), '"f()"'],
  [new Code('f()', { x: 1 }), '"{\\"code\\":\\"f()\\",\\"scope\\":{\\"x\\":1}}"'],
  [new Timestamp({ t: 5, i: 9 }), '"{\\"t\\":5,\\"i\\":9}"'],
  [new MinKey(), '"MinKey"'],
  [new MaxKey(), '"MaxKey"'],
  [[], '"[]"'],
  [{}, '"{}"'],
  [new DBRef('c', new ObjectId(oid)), `"{\\"$ref\\":\\"c\\",\\"$id\\":\\"${oid}\\"}"`],
])('%s is %s', (value, expected) => {
  expect(describeValue(value)).toBe(expected)
})

test('what has parts is a text of JSON, with all digits and in the order of the document', () => {
  const value = { b: [Long.fromString('9007199254740993'), { c: Decimal128.fromString('1.50') }], a: new Date(0) }
  expect(JSON.parse(describeValue(value) ?? '')).toBe(
    '{"b":[9007199254740993,{"c":"1.50"}],"a":"1970-01-01T00:00:00.000Z"}',
  )
  expect(JSON.parse(describeValue(JSON.parse('{"__proto__":{"a":1},"":2}')) ?? '')).toBe('{"__proto__":{"a":1},"":2}')
})

test('each text comes back as it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(JSON.parse(describeValue(text) ?? '')).toBe(text)
    }),
  )
})

/** A document of one field `a`, of bytes. */
function documentOf(type: number, ...value: number[]): Buffer {
  const body = Buffer.from([type, 0x61, 0, ...value, 0])
  const length = Buffer.alloc(4)
  length.writeInt32LE(body.length + 4)
  return Buffer.concat([length, body])
}

test('a date that no calendar of JavaScript has is its milliseconds, and bytes that are not text are base64', () => {
  expect(describeDocument(documentOf(9, 255, 255, 255, 255, 255, 255, 255, 127))).toEqual(['a=9223372036854775807'])
  expect(describeDocument(documentOf(2, 3, 0, 0, 0, 255, 254, 0))).toEqual(['a="//4="'])
  expect(nameBsonType(19)).toBe('decimal')
  // A pointer and an undefined value, which nobody writes any more.
  const pointer = [2, 0, 0, 0, 0x63, 0, ...Buffer.from(oid, 'hex')]
  expect(describeDocument(documentOf(12, ...pointer))).toEqual([`a="{\\"ref\\":\\"c\\",\\"id\\":\\"${oid}\\"}"`])
  expect(describeDocument(documentOf(6))).toEqual(['a=null'])
})

describe('is refused:', () => {
  const refusal = 'the server does not answer as a server of MongoDB does'
  const good = Buffer.from(BSON.serialize({ a: 'text', b: { c: [1, 2] }, d: new Binary(Buffer.alloc(3)), e: /x/ }))

  test('a document that is cut anywhere', () => {
    for (let length = 0; length < good.length; length++) {
      const cut = Buffer.from(good.subarray(0, length))
      expect(() => describeDocument(cut)).toThrow(refusal)
      if (length < 5) continue
      cut.writeInt32LE(length)
      cut[length - 1] = 0
      try {
        describeDocument(cut)
      } catch (error) {
        expect(error).toMatchObject({ message: refusal })
      }
    }
  })

  test('a length that leads elsewhere, and any change of a byte ends in words', () => {
    for (const type of [2, 3, 4, 5, 12, 13, 14, 15])
      for (const length of [-1, -2_147_483_648, 0, 2_147_483_647, 1_000]) {
        const bytes = Buffer.alloc(17)
        bytes.writeInt32LE(length)
        expect(() => describeDocument(documentOf(type, ...bytes))).toThrow(refusal)
      }
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(255), (at, byte) => {
        const changed = Buffer.from(good)
        changed[at] = byte
        try {
          describeDocument(changed)
        } catch (error) {
          expect(error).toMatchObject({ name: 'RowSourceError' })
        }
      }),
    )
  })

  test('a value above the limit, and one of too many levels', () => {
    const limit = 1_048_576
    expect(describeValue('x'.repeat(limit))).toHaveLength(limit + 2)
    const refused = 'a row has a value of more than 1048576 bytes: that of "a"'
    for (const value of ['x'.repeat(limit + 1), new Binary(Buffer.alloc(limit + 1)), { b: 'x'.repeat(limit) }])
      expect(() => describeValue(value)).toThrow(refused)
    let nested: object = {}
    for (let level = 0; level < 300; level++) nested = { nested }
    expect(() => describeValue(nested)).toThrow('a row has a value of more than 200 levels')
  })
})
