// Text from outside adds no mark-up to a document, and no second line.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeMarkup, formatCodeSpan } from './markup.ts'

const texts = fc.string({
  unit: fc.constantFrom('<', '>', '&', '"', "'", '`', '\n', '\u202e', '\0', '*', '[', 'a', ' '),
  maxLength: 20,
})

test('HTML and SVG hold the text and nothing that it begins', () => {
  expect(escapeMarkup(`</text><script x='"'>&\0`)).toBe('&lt;/text&gt;&lt;script x=&#39;&quot;&#39;&gt;&amp;\\u0000')
  fc.assert(
    fc.property(texts, (text) => {
      expect(escapeMarkup(text)).not.toMatch(/[<>"'\n\0\u202e]|&(?!(amp|lt|gt|quot|#39);)/)
    }),
  )
})

test('a code span ends where its text does', () => {
  expect(formatCodeSpan('plain')).toBe('`plain`')
  expect(formatCodeSpan('a`b``c')).toBe('``` a`b``c ```')
  fc.assert(
    fc.property(texts, (text) => {
      const [, fence = '', inside = ''] = /^(`+)(.*?)\1$/s.exec(formatCodeSpan(text)) ?? []
      expect(inside.match(/`+/g) ?? []).not.toContain(fence)
      expect(formatCodeSpan(text)).not.toMatch(/[\n\0\u202e]/)
    }),
  )
})
