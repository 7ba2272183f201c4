// Variants of one thing differ in words that take each other's place; spellings of one word are not variants.
import { expect, test } from 'vitest'
import { buildDictionary } from '../text/dictionary.ts'
import { createConflictTest } from './conflicting-titles.ts'
import { readTitleWords, type TitleWords } from './title-words.ts'
import { findVariantWords, type VariantWords } from './variant-words.ts'

function readTitles(titles: readonly string[]): TitleWords {
  const column = { codes: Int32Array.from(titles, (_, row) => row), dictionary: buildDictionary(titles) }
  const records = { rows: titles.length, sources: new Int32Array(titles.length), names: ['shop'] }
  const ids = { idOf: String, writeId: () => -1 }
  return readTitleWords({ ...records, ...ids, fields: [{ name: 'name', type: 'text', column }] })!
}

/** Finds the variant words among all pairs of titles. */
function findVariants(titles: readonly string[]): { readonly titleWords: TitleWords; readonly variants: VariantWords } {
  const rows = titles.map((_, row) => row)
  const pairs = rows.flatMap((left) => rows.slice(left + 1).map((right) => [left, right] as const))
  const titleWords = readTitles(titles)
  const variants = findVariantWords(titleWords, {
    lefts: Int32Array.from(pairs, ([left]) => left),
    rights: Int32Array.from(pairs, ([, right]) => right),
    length: pairs.length,
  })
  return { titleWords, variants }
}

/** The words that take the place of a word. */
function listVariants(titles: readonly string[], word: string): string[] {
  const { titleWords, variants } = findVariants(titles)
  const found = variants.get(titleWords.words.indexOf(word)) ?? []
  return [...found].map((number) => titleWords.words[number] ?? '').sort()
}

/** Whether two titles are variants, in a table with others. */
function areVariants(a: string, b: string, others: readonly string[] = []): boolean {
  const { titleWords, variants } = findVariants([a, b, ...others])
  return createConflictTest(titleWords, variants)(0, 1)
}

const families = ['nordic lamp', 'harbour speaker'].flatMap((name) =>
  ['black', 'silver', 'red'].map((colour) => `${name} ${colour}`),
)

test('colours of two families are variants, and a title with one does not match a title with another', () => {
  expect(listVariants(families, 'black')).toEqual(['red', 'silver'])
  expect(areVariants('castle kettle black', 'castle kettle silver 2l', families)).toBe(true)
  expect(areVariants('castle kettle black', 'castle kettle', families)).toBe(false)
  expect(areVariants('castle kettle black silver', 'castle kettle silver', families)).toBe(false)
})

test('one family is not enough: its titles may be duplicates with an error', () => {
  expect(findVariants(['nordic lamp black', 'nordic lamp silver', 'nordic lamp red']).variants.size).toBe(0)
})

test('spellings and abbreviations that replace one word alone are not variants', () => {
  const titles = ['3 high', '9 mill', '7 park'].flatMap((name) => [`${name} street`, `${name} st`])
  expect(listVariants(titles, 'st')).toEqual([])
  const synonyms = ['3 high', '9 mill', '7 park'].flatMap((name) => [`${name} house`, `${name} villa`])
  expect(listVariants(synonyms, 'house')).toEqual([])
})

test("numbers of two families are variants, although two numbers alone take each other's place", () => {
  expect(listVariants(['lamp a 4gb', 'lamp a 8gb', 'radio b 4gb', 'radio b 8gb'], '4gb')).toEqual(['8gb'])
})

test('nearly equal codes are two things, unless the other title has the code in parts', () => {
  expect(areVariants('camera sdrh40', 'camera sdrh41 silver')).toBe(true)
  expect(areVariants('camera sdrh40', 'camera sdrh40 silver')).toBe(false)
  expect(areVariants('camera sdrh4l', 'camera sdr h4l sdrh4x')).toBe(false)
  expect(areVariants('camera sdrh40', 'camera wdp3')).toBe(false)
})
