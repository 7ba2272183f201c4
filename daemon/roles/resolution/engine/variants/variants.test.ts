// Variants of one thing are told apart by words that take each other's place; spellings of one word are not variants.
import { expect, test } from 'vitest'
import { areConflictingTitles } from './conflicting-titles.ts'
import { findVariantWords } from './variant-words.ts'

/** Finds the variant words among all pairs of titles. */
function findVariants(titles: readonly string[]) {
  const words = titles.map((title) => title.split(' '))
  const lefts = words.flatMap((_, left) => words.slice(left + 1).map(() => left))
  const rights = words.flatMap((_, left) => words.slice(left + 1).map((_other, at) => left + 1 + at))
  return findVariantWords(words, {
    lefts: Int32Array.from(lefts),
    rights: Int32Array.from(rights),
    length: lefts.length,
  })
}

const families = ['nordic lamp', 'harbour speaker'].flatMap((name) =>
  ['black', 'silver', 'red'].map((colour) => `${name} ${colour}`),
)

test('colours of two families are variants, and a title with one does not match a title with another', () => {
  const variants = findVariants(families)
  expect([...(variants.get('black') ?? [])].sort()).toEqual(['red', 'silver'])
  const conflict = (a: string, b: string) => areConflictingTitles(a.split(' '), b.split(' '), variants)
  expect(conflict('castle kettle black', 'castle kettle silver 2l')).toBe(true)
  expect(conflict('castle kettle black', 'castle kettle')).toBe(false)
  expect(conflict('castle kettle black silver', 'castle kettle silver')).toBe(false)
})

test('one family is not enough: its titles may be duplicates with an error', () => {
  expect(findVariants(['nordic lamp black', 'nordic lamp silver', 'nordic lamp red']).size).toBe(0)
})

test('spellings and abbreviations that replace one word alone are not variants', () => {
  const titles = ['3 high', '9 mill', '7 park'].flatMap((name) => [`${name} street`, `${name} st`])
  expect(findVariants(titles).size).toBe(0)
  const synonyms = ['3 high', '9 mill', '7 park'].flatMap((name) => [`${name} house`, `${name} villa`])
  expect(findVariants(synonyms).size).toBe(0)
})

test("numbers of two families are variants, although two numbers alone take each other's place", () => {
  const variants = findVariants(['lamp a 4gb', 'lamp a 8gb', 'radio b 4gb', 'radio b 8gb'])
  expect([...(variants.get('4gb') ?? [])]).toEqual(['8gb'])
})

test('nearly equal codes are two things, unless the other title has the code in parts', () => {
  const conflict = (a: string, b: string) => areConflictingTitles(a.split(' '), b.split(' '), new Map())
  expect(conflict('camera sdrh40', 'camera sdrh41 silver')).toBe(true)
  expect(conflict('camera sdrh40', 'camera sdrh40 silver')).toBe(false)
  expect(conflict('camera sdrh4l', 'camera sdr h4l sdrh4x')).toBe(false)
  expect(conflict('camera sdrh40', 'camera wdp3')).toBe(false)
})
