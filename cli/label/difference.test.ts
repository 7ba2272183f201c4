// Words that differ are marked, and values fit into the lines that they get.
import { describe, expect, test } from 'vitest'
import { layOutParts, markDifferences, measureText } from './difference.ts'

const marked = (value: string, other: string) =>
  markDifferences(value, other).flatMap(({ text, differs }) => (differs ? [text.trim()] : []))

test.each([
  ['Canon EOS 40D, black', 'canon eos 50D black', ['40D,']],
  ['a a b', 'a b', ['a']],
  ['', 'x', []],
  ['Müller - Söhne', 'MÜLLER söhne', []],
])('of %j beside %j these words differ: %j', (value, other, words) => {
  expect(marked(value, other)).toEqual(words)
})

describe('a value in lines', () => {
  const layOut = (text: string, width: number, lines: number) =>
    layOutParts(markDifferences(text, ''), width, lines).map((line) => line.map((part) => part.text).join(''))

  test('breaks between words, cuts long ones, and ends with dots where it does not fit', () => {
    expect(layOut('one two three', 8, 3)).toEqual(['one two', 'three'])
    expect(layOut('abcdefghij', 4, 3)).toEqual(['abcd', 'efgh', 'ij'])
    expect(layOut('one two three four', 8, 2)).toEqual(['one two', 'three...'])
  })

  test.each([1, 4, 7, 20])('never exceeds a width of %i', (width) => {
    const text = 'an example 漢字漢字 of 👍👍 several words andalongonewithoutspaces e\u0301e\u0301'
    for (const line of layOut(text, Math.max(4, width), 4)) {
      expect(measureText(line)).toBeLessThanOrEqual(Math.max(4, width))
    }
  })
})
