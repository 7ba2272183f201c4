// Parts of texts have the numbers that telling them apart as strings would give.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTrigramTokeniser, createWordTokeniser, type Tokeniser } from './tokeniser.ts'

function tokeniseTexts(parts: Tokeniser, texts: readonly string[]): number[][] {
  return texts.map((text) => {
    const into = new Int32Array(text.length)
    return [...into.subarray(0, parts.tokenise(text, into))]
  })
}

function tokeniseByDefinition(texts: readonly string[], partsOf: (text: string) => string[]): number[][] {
  const known: string[] = []
  return texts.map((text) =>
    partsOf(text).map((part) => {
      if (!known.includes(part)) known.push(part)
      return known.indexOf(part)
    }),
  )
}

const splitWords = (text: string) => text.split(' ').filter((word) => word !== '')
const splitTrigrams = (text: string) =>
  splitWords(text).flatMap((word) => [...word].map((_, at) => ` ${word} `.slice(at, at + 3)))

const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '漢', ' '), maxLength: 12 }), {
  maxLength: 20,
})

test('words and trigrams are numbered in the order of their first appearance', () => {
  fc.assert(
    fc.property(texts, (given) => {
      expect(tokeniseTexts(createWordTokeniser(), given)).toEqual(tokeniseByDefinition(given, splitWords))
      expect(tokeniseTexts(createTrigramTokeniser(), given)).toEqual(tokeniseByDefinition(given, splitTrigrams))
    }),
  )
})

test('very many trigrams keep their numbers', () => {
  const given = Array.from({ length: 20_000 }, (_, at) =>
    String.fromCharCode(97 + (at % 200), 97 + Math.trunc(at / 200)),
  )
  const parts = createTrigramTokeniser()
  const first = tokeniseTexts(parts, given)
  expect(parts.size).toBe(new Set(first.flat()).size)
  expect(new Set(given.flatMap(splitTrigrams)).size).toBe(parts.size)
  expect(tokeniseTexts(parts, given)).toEqual(first)
})
