// Text from outside shows each of its characters on one line, and means the same inside JSON.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeLine } from './escape-line.ts'

const texts = fc.string({ unit: 'binary', maxLength: 40 })

test.each<[string, string, string]>([
  ['an escape sequence', '\u001b[2J', '\\u001b[2J'],
  ['a control of eight bits', '\u009b31m', '\\u009b31m'],
  ['a line end', 'a\nb\r\nc\u0085d', 'a\\nb\\r\\nc\\u0085d'],
  ['a separator of lines or paragraphs', '\u2028\u2029', '\\u2028\\u2029'],
  ['an override of the direction', '\u202etxt.exe\u2066', '\\u202etxt.exe\\u2066'],
  ['a character of no width', 'ad\u200bmin\u2060\ufeff\u00ad', 'ad\\u200bmin\\u2060\\ufeff\\u00ad'],
  ['a filler that shows nothing', '\u115f\u3164\uffa0\u034f\u2800', '\\u115f\\u3164\\uffa0\\u034f\\u2800'],
  ['a selector that carries hidden bytes', 'a\ufe01\u{e0101}', 'a\\ufe01\\udb40\\udd01'],
  ['a tag', '\u{e0041}', '\\udb40\\udc41'],
  ['half a surrogate pair', '\ud800x', '\\ud800x'],
  ['a character of no standard', '\ue0b0', '\\ue0b0'],
])('%s is shown as an escape', (_, text, shown) => {
  expect(escapeLine(text)).toBe(shown)
})

test('letters, marks and symbols of every script stay', () => {
  const plain = 'Łódź Ærø ‘quoted’ नमस्ते שלום عربى 日本語 €½ → 😀'
  expect(escapeLine(plain)).toBe(plain)
})

test('a line holds no character that hides, and escaping it again changes nothing', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const shown = escapeLine(text)
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u)
      expect(escapeLine(shown)).toBe(shown)
    }),
  )
})

test('JSON has the same value', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const json = JSON.stringify({ [text]: text })
      expect(JSON.parse(escapeLine(json))).toEqual(JSON.parse(json))
    }),
  )
})
