// Canonical JSON reproduces the samples of RFC 8785, and digests those of their standards.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalDigest, canonicalJson, sha256, sha384 } from './canonical-json.ts'

function doubleFromHex(hex: string): number {
  return Buffer.from(hex, 'hex').readDoubleBE()
}

describe('RFC 8785', () => {
  test('section 3.2.3: literals, numbers and strings', () => {
    const value = JSON.parse(String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`)
    const expected = String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`
    expect(canonicalJson(value)).toBe(expected)
  })

  test('section 3.2.3: keys are sorted by UTF-16 code units', () => {
    const value = { '€': 1, '\r': 2, '\ufb33': 3, '1': 4, '😀': 5, '\u0080': 6, ö: 7 }
    expect(canonicalJson(value)).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}')
  })

  test.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('appendix B: the double %s is %s', (hex, text) => {
    expect(canonicalJson(doubleFromHex(hex))).toBe(text)
  })

  test.each([
    ['NaN', Number.NaN],
    ['infinity', doubleFromHex('7ff0000000000000')],
    ['a lone surrogate', '\ud800'],
    ['a lone surrogate as a key', { '\udc00': 1 }],
    ['nothing', undefined],
    ['a function', () => 1],
    ['a big integer', 1n],
  ])('%s has no canonical form', (_what, value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError)
    expect(() => canonicalJson([{ a: typeof value === 'undefined' ? () => 1 : value }])).toThrow(TypeError)
  })
})

describe('for any JSON value', () => {
  const json = fc.jsonValue({ stringUnit: 'binary' })

  test('the canonical form is JSON for the same value, and its own canonical form', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(JSON.parse(text))).toBe(text)
      }),
    )
  })

  test('the order of members does not matter', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), json), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse())
        expect(canonicalDigest(turned)).toBe(canonicalDigest(value))
      }),
    )
  })
})

test('objects that JSON.stringify treats specially are printed by their own members', () => {
  const odd = { date: new Date(0), none: Object.create(null), own: { toJSON: 1 }, holes: new Array(2) }
  expect(canonicalJson(odd)).toBe('{"date":{},"holes":[null,null],"none":{},"own":{"toJSON":1}}')
  expect(canonicalJson({ 10: 1, 9: 2 })).toBe('{"10":1,"9":2}')
  expect(canonicalJson({ __proto__: null, b: 1, a: -0 })).toBe('{"a":0,"b":1}')
})

test('undefined members are omitted, and undefined items are null', () => {
  expect(canonicalJson({ a: undefined, b: [undefined, 1] })).toBe('{"b":[null,1]}')
})

test('digests are those of FIPS 180-4 for "abc"', () => {
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(sha384(Buffer.from('abc'))).toBe(
    'cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7',
  )
  expect(canonicalDigest({ b: 1, a: 2 })).toBe(sha256('{"a":2,"b":1}'))
})
