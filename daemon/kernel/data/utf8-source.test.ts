// Text of each encoding becomes UTF-8 for any reads; what is not of the encoding becomes bytes that are not UTF-8.
import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memorySource } from '../../../test/support/data/memory-source.ts'
import { openUtf8, type TextEncodingName } from './utf8-source.ts'

/** Reads with buffers of these sizes, again and again. */
async function convert(bytes: Uint8Array, encoding: TextEncodingName, sizes = [7, 1, 64]): Promise<Buffer> {
  const source = await openUtf8(memorySource(bytes, [1, 3, 4, 100]), encoding)
  const parts: Buffer[] = []
  for (let at = 0; ; at++) {
    const into = new Uint8Array(sizes[at % sizes.length] ?? 1)
    const read_count = await source.read(into)
    if (read_count === 0) return Buffer.concat(parts)
    parts.push(Buffer.from(into.subarray(0, read_count)))
  }
}

const encoders: Readonly<Record<TextEncodingName, (text: string) => Buffer>> = {
  'utf-8': (text) => Buffer.from(text),
  'utf-16le': (text) => Buffer.from(text, 'utf16le'),
  'utf-16be': (text) => Buffer.from(text, 'utf16le').swap16(),
  'latin-1': (text) => Buffer.from(text, 'latin1'),
  'windows-1252': (text) => Buffer.from(Array.from(text, (letter) => windows1252Letters.indexOf(letter))),
}

/** By byte; U+FFFF for the bytes that stand for no letter. From the table of the Unicode Consortium (CP1252.TXT). */
const windows1252Letters = Array.from({ length: 256 }, (_, byte) => {
  const upper = '€\uffff‚ƒ„…†‡ˆ‰Š‹Œ\uffffŽ\uffff\uffff‘’“”•–—˜™š›œ\uffffžŸ'
  return byte >= 0x80 && byte < 0xa0 ? (upper[byte - 0x80] ?? '') : String.fromCharCode(byte)
})

test.each(Object.keys(encoders) as TextEncodingName[])('%s', async (encoding) => {
  const units: Partial<Record<TextEncodingName, fc.Arbitrary<string>>> = {
    'latin-1': fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
    'windows-1252': fc.constantFrom(...windows1252Letters.filter((letter) => letter !== '\uffff')),
  }
  const unit = units[encoding] ?? ('grapheme' as const)
  await fc.assert(
    fc.asyncProperty(fc.string({ unit, maxLength: 300 }), async (text) => {
      const bytes = encoders[encoding](text)
      // Bytes that begin like a mark are one.
      fc.pre(!/^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)/.test(bytes.toString('latin1')) && !text.startsWith('\ufeff'))
      expect((await convert(bytes, encoding)).toString()).toBe(text)
    }),
    { numRuns: 200 },
  )
})

test('a byte order mark decides, whatever encoding is named, and is left out', async () => {
  for (const encoding of ['utf-8', 'utf-16le', 'utf-16be'] as const) {
    const bytes = encoders[encoding]('\ufeffé😀')
    expect((await convert(bytes, 'latin-1')).toString()).toBe('é😀')
  }
})

test('characters at the ends of pieces are whole', async () => {
  for (const before of [32_766, 32_767, 32_768]) {
    const text = `${'x'.repeat(before)}😀é`
    expect((await convert(encoders['utf-16be'](text), 'utf-16be', [50_000])).toString()).toBe(text)
  }
})

test('half a pair of surrogates and half a character are not UTF-8', async () => {
  for (const text of ['a\ud800b', 'a\udc00', '\ud800']) {
    expect(isUtf8(await convert(encoders['utf-16le'](text), 'utf-16le'))).toBe(false)
  }
  expect(isUtf8(await convert(Uint8Array.of(0x61, 0, 0x62), 'utf-16le'))).toBe(false)
})

test('the five bytes that Windows-1252 does not have are not UTF-8', async () => {
  for (const byte of [0x81, 0x8d, 0x8f, 0x90, 0x9d])
    expect(isUtf8(await convert(Uint8Array.of(0x61, byte, 0x62), 'windows-1252'))).toBe(false)
})
