// The byte normalisers give the same form as the text normalisers, or leave a value to them.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chooseByteNormaliser } from './byte-normaliser.ts'
import { normaliseCode, normaliseDate, normaliseEmail, normaliseWords } from './normalise.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const forms = { words: normaliseWords, code: normaliseCode, date: normaliseDate, email: normaliseEmail } as const

const plainText = fc.string({ unit: fc.constantFrom(...'aZ 09-_.@,\t\'"/\n\u00e9\u00df'), maxLength: 14 })
const dates = fc
  .tuple(fc.integer({ min: 0, max: 9_999 }), fc.integer({ min: 0, max: 99 }), fc.integer({ min: 0, max: 99 }))
  .chain(([year, month, day]) => {
    const padTwoDigits = (number: number) => String(number).padStart(2, '0')
    return fc
      .constantFrom('', '-', '/', ' ', 'T', '\u00e9')
      .map((sign) => [String(year).padStart(4, '0'), padTwoDigits(month), padTwoDigits(day)].join(sign))
  })

test.each(Object.keys(forms) as (keyof typeof forms)[])('%s', (name) => {
  const into = new Uint8Array(256)
  const normalise = chooseByteNormaliser([name])
  fc.assert(
    fc.property(fc.oneof(plainText, fc.string(), dates), (text) => {
      const bytes = encoder.encode(text)
      const length = normalise(bytes, 0, bytes.length, into)
      if (length >= 0) expect(decoder.decode(into.subarray(0, length))).toBe(forms[name](text))
      else expect(name === 'date' || bytes.some((byte) => byte >= 128)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('invalid UTF-8 is left to the text normaliser, which refuses it', () => {
  const into = new Uint8Array(64)
  const bytes = Uint8Array.of(50, 48, 48, 49, 0xff, 48, 49, 0xff, 48, 50)
  for (const name of ['words', 'code', 'email', 'date'] as const)
    expect(chooseByteNormaliser([name])(bytes, 0, 10, into)).toBe(-1)
})
