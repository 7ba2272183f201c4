// Parts of texts have the same numbers as parts compared as strings.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTrigramTokeniser, createWordTokeniser, type Tokeniser } from './tokeniser.ts'

function tokeniseTexts(tokeniser: Tokeniser, texts: readonly string[]): number[][] {
  return texts.map((text) => {
    const into = new Int32Array(text.length)
    return [...into.subarray(0, tokeniser.tokenise(text, into))]
  })
}

function tokeniseByDefinition(texts: readonly string[], partsOf: (text: string) => string[]): number[][] {
  const distinct: string[] = []
  return texts.map((text) =>
    partsOf(text).map((part) => {
      if (!distinct.includes(part)) distinct.push(part)
      return distinct.indexOf(part)
    }),
  )
}

const splitWords = (text: string) => text.split(' ').filter((word) => word !== '')
const splitTrigrams = (text: string) =>
  splitWords(text).flatMap((word) => [...word].map((_, at) => ` ${word} `.slice(at, at + 3)))

const arbitraryTexts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '漢', ' '), maxLength: 12 }), {
  maxLength: 20,
})

test('words and trigrams are numbered in the order of their first appearance', () => {
  fc.assert(
    fc.property(arbitraryTexts, (texts) => {
      expect(tokeniseTexts(createWordTokeniser(), texts)).toEqual(tokeniseByDefinition(texts, splitWords))
      expect(tokeniseTexts(createTrigramTokeniser(), texts)).toEqual(tokeniseByDefinition(texts, splitTrigrams))
    }),
  )
})

test('very many trigrams keep their numbers', () => {
  const texts = Array.from({ length: 20_000 }, (_, at) =>
    String.fromCharCode(97 + (at % 200), 97 + Math.trunc(at / 200)),
  )
  const tokeniser = createTrigramTokeniser()
  const first = tokeniseTexts(tokeniser, texts)
  expect(tokeniser.size).toBe(new Set(first.flat()).size)
  expect(new Set(texts.flatMap(splitTrigrams)).size).toBe(tokeniser.size)
  expect(tokeniseTexts(tokeniser, texts)).toEqual(first)
})
