// DER has one encoding for each value; every other encoding is refused.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeOid, decodeTime, iterateElements, parseDer, parseExtensions, tags } from './der.ts'

const parseHex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const listElements = (bytes: Buffer) => [...iterateElements(parseDer(bytes))]

test.each([
  ['nothing', ''],
  ['a tag alone', '30'],
  ['a length alone', '3001'],
  ['a cut value', '3003 020105'.slice(0, -3)],
  ['bytes after the end', '3000 00'],
  ['a length without end', '3080 0000'],
  ['a long form of a short length', '308103 020105'],
  ['a length with a leading zero', '30820003 020105'],
  ['a length of five bytes', '3085 0000000000'],
  ['a tag of two bytes', '1f8101 00'],
])('%s is not DER', (_, bytes) => {
  expect(() => listElements(parseHex(bytes))).toThrow('DER')
})

test('elements are returned unchanged', () => {
  const [first, second, ...more] = listElements(parseHex('3006 020105 0101ff'))
  expect([first?.tag, first?.content.toString('hex'), first?.whole.toString('hex')]).toEqual([2, '05', '020105'])
  expect([second?.tag, more]).toEqual([1, []])
  expect(parseDer(Buffer.concat([parseHex('048180'), Buffer.alloc(128)])).content).toHaveLength(128)
})

test('arbitrary bytes never cause an endless loop or a read beyond the end', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        listElements(Buffer.from(bytes))
      } catch (error) {
        expect((error as Error).message).toContain('DER')
      }
    }),
  )
})

// X.690 section 8.19.5; RFC 5280 for the others.
test.each([
  ['2.100.3', '0603 813403'],
  ['2.5.29.15', '0603 551d0f'],
  ['1.2.840.113549.1.1.11', '0609 2a864886f70d01010b'],
  ['1.3.101.112', '0603 2b6570'],
])('%s', (oid, bytes) => {
  expect(decodeOid(parseDer(parseHex(bytes)))).toBe(oid)
})

test('only times of RFC 5280 are decoded', () => {
  const time = (tag: number, text: string) => () =>
    decodeTime({ tag, content: Buffer.from(text), whole: Buffer.alloc(0) })
  expect(time(tags.utc_time, '491231235959Z')()).toBe(Date.parse('2049-12-31T23:59:59Z'))
  expect(time(tags.utc_time, '500101000000Z')()).toBe(Date.parse('1950-01-01T00:00:00Z'))
  expect(time(tags.generalized_time, '20500101000000Z')()).toBe(Date.parse('2050-01-01T00:00:00Z'))
  for (const text of ['4912312359Z', '491231235959', '491231235959+0100', '499931235959Z', '20500101000000Z', '']) {
    expect(time(tags.utc_time, text), text).toThrow()
  }
  expect(time(tags.generalized_time, '491231235959Z')).toThrow()
  expect(() => decodeTime(undefined)).toThrow()
})

test('an extension is critical when its critical field is true', () => {
  const [plain, critical] = parseExtensions(
    parseDer(parseHex('3018 3009 0603551d14 0402 0101 300b 0603551d1b 0101ff 0401 00')),
  )
  expect([plain?.oid, plain?.isCritical, plain?.value.toString('hex')]).toEqual(['2.5.29.20', false, '0101'])
  expect([critical?.oid, critical?.isCritical]).toEqual(['2.5.29.27', true])
})
