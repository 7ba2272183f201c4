// Texts of a value are collected whatever its shape and size are.
import { expect, test } from 'vitest'
import { collectTexts } from './collect-texts.ts'

test('names of fields, texts and numbers at every depth', () => {
  expect(collectTexts({ a: ['b', { c: null }], d: 1 }).sort()).toEqual(['1', 'a', 'b', 'c', 'd'])
})

test('a list or an object of very many values', () => {
  const names = Array.from({ length: 300_000 }, (_, at) => `n${at}`)
  expect(collectTexts(names)).toHaveLength(names.length)
  expect(collectTexts(Object.fromEntries(names.map((name) => [name, 1])))).toHaveLength(2 * names.length)
})
