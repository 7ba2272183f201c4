// Names of several scripts, with particles and by nicknames, reach the levels that a person expects.
import { describe, expect, test } from 'vitest'
import { defaultNameOptions, type NameOptions } from '../../lens/phonetics.ts'
import { DictionaryBuilder } from '../text/dictionary.ts'
import { normaliseWords } from '../text/normalise.ts'
import type { FieldColumn } from './pair-comparer.ts'
import { createPairComparer } from './pair-comparer.ts'

/** Compares two values of a column that also has `others`; 0 for equal values. */
function compare(left: string, right: string, more: Partial<FieldColumn> = {}, others: readonly string[] = []): number {
  const builder = new DictionaryBuilder()
  const codes = Int32Array.from([left, right, ...others], (text) => builder.add(normaliseWords(text)))
  const field: FieldColumn = { name: 'name', type: 'name', column: { codes, dictionary: builder.finish() }, ...more }
  const levelOf = (a: number, b: number) =>
    createPairComparer([field]).compare(Int32Array.of(a), Int32Array.of(b), 0, 1).values[0]! - 1
  expect(levelOf(1, 0)).toBe(levelOf(0, 1))
  return levelOf(0, 1)
}

const [equal, near, alike, little, different] = [0, 1, 2, 4, 5]
const withNames = (names: Partial<NameOptions>) => ({ names: { ...defaultNameOptions, ...names } })

describe('scripts', () => {
  test.each([
    ['山田', '山田', equal],
    ['Ｙａｍａｄａ', 'Yamada', equal],
    ['ヤマダ', 'ﾔﾏﾀﾞ', equal],
    ['محمّد', 'محمد', equal],
    ['Иван Петров', 'Ivan Petrov', near],
    ['Γιώργος', 'Giorgos', near],
    ['Юлия', 'Yulia', near],
    ['Чайковский', 'Tchaikovsky', alike],
    ['김철수', 'Gim Cheolsu', near],
    ['محمد', 'Mohamed', alike],
    ['محمد', 'Muhammad', alike],
    ['שרה', 'Sarah', alike],
    ['शर्मा', 'Sharma', alike],
    ['王小明', 'Wang Xiaoming', near],
    ['Łukasz', 'Lukasz', near],
    ['Öz', 'Oz', equal],
    ['Иван', 'Olga', different],
    ['محمد', 'Khalid', different],
    // Both are read wang; as names in Han they differ.
    ['王', '汪', different],
    ['李明', '李强', little],
  ])('%s and %s are at level %i', (left, right, level) => {
    expect(compare(left, right)).toBe(level)
  })

  test('texts of two scripts are compared by their Latin forms', () => {
    const others = ['Белые ночи', 'Отцы и дети', 'Dead souls', 'Anna Karenina']
    expect(compare('Война и мир', 'Voina i mir', { type: 'text' }, others)).toBe(near)
    expect(compare('Война и мир', 'Dead souls', { type: 'text' }, others)).toBe(10)
  })

  test('a value in another script changes no other comparison', () => {
    for (const [left, right] of [
      ['Thompson', 'Tomson'],
      ['Anna', 'Annabel'],
      ['Søren', 'Sören'],
    ] as const)
      expect(compare(left, right, {}, ['Иван', '山田', 'محمد'])).toBe(compare(left, right))
  })

  test('a comparator of the lens reads Latin forms too', () => {
    const levels = [{ measure: 'jaro_winkler', least: 0.9, label: 'near', view: undefined } as const]
    expect(compare('Петров', 'Petrov', { levels })).toBe(near)
    expect(compare('Петров', 'Ivanov', { levels })).toBe(2)
  })
})

describe('sounds', () => {
  test.each([
    ['metaphone', 'Catherine', 'Kathryn', 'Stephen', 'Stefen'],
    ['cologne', 'Wagner', 'Waagnehr', 'Fischer', 'Vischer'],
    ['soundex', 'Ashcraft', 'Ashcroft', 'Tymczak', 'Tanjacek'],
    ['double_metaphone', 'Xavier', 'Zavyer', 'Caesar', 'Seezer'],
  ] as const)('by %s %s sounds like %s, and %s like %s', (phonetic, first, alikeFirst, second, alikeSecond) => {
    const levels = [{ measure: 'sound', least: 1, label: 'same sound', view: undefined } as const]
    const options = { levels, ...withNames({ phonetics: [phonetic] }) }
    expect(compare(first, alikeFirst, options)).toBe(near)
    expect(compare(second, alikeSecond, options)).toBe(near)
    expect(compare(first, second, options)).toBe(2)
  })

  test('any of several algorithms suffices', () => {
    expect(compare('Vischer', 'Fiszer')).toBeGreaterThan(alike)
    expect(compare('Vischer', 'Fiszer', withNames({ phonetics: ['metaphone', 'cologne'] }))).toBe(alike)
  })
})

describe('particles', () => {
  test.each([
    ['van der Berg', 'Vanderberg', near],
    ['van der Berg', 'Berg, van der', near],
    ["O'Brien", 'OBrien', near],
    ['MacDonald', 'McDonald', near],
    ['al-Hasan', 'Hasan', alike],
    ['De La Cruz', 'Cruz', alike],
    ['Delacruz', 'Cruz', alike],
    ['van der Berg', 'Berg', alike],
    ['van der Berg', 'de la Cruz', different],
  ])('%s and %s are at level %i', (left, right, level) => {
    expect(compare(left, right, withNames({ hasParticles: true }))).toBe(level)
  })
})

describe('nicknames', () => {
  const nicknames = ['Robert: Bob', 'Александр: Саша']
  test.each([
    ['Bob', 'Robert', alike],
    ['Bob Green', 'Robert Green', alike],
    ['Sasha', 'Александр', alike],
    ['Саша', 'Александр', alike],
    ['Bob', 'Alexander', different],
  ])('%s and %s are at level %i', (left, right, level) => {
    expect(compare(left, right, withNames({ nicknames }))).toBe(level)
  })

  test('without the list they are different', () => {
    expect(compare('Bob', 'Robert')).toBeGreaterThan(alike)
  })
})
