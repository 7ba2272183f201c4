// The text of a record in another script has the words of its Latin form too, and other texts stay as they are.
import { expect, test } from 'vitest'
import { DictionaryBuilder } from '../text/dictionary.ts'
import { findNearestNeighbours } from '../text/nearest-neighbours.ts'
import { buildTfidfVectors } from '../text/tfidf-vectors.ts'
import { createTrigramTokeniser } from '../text/tokeniser.ts'
import { joinRecordTexts } from './texts.ts'

function joinTitles(titles: readonly string[]): string[] {
  const builder = new DictionaryBuilder()
  const codes = Int32Array.from(titles, (title) => builder.add(title))
  const fields = [{ name: 'title', type: 'text' as const, column: { codes, dictionary: builder.finish() } }]
  return joinRecordTexts({ rows: titles.length, sources: new Int32Array(titles.length), fields })
}

test('texts of Latin letters stay as they are', () => {
  const titles = ['war and peace', 'l œuvre', 'søren']
  expect(joinTitles(titles)).toEqual(titles)
})

test('a title in another script is the nearest neighbour of its Latin spelling', () => {
  const texts = joinTitles(['преступление и наказание', 'voina i mir', 'prestuplenie i nakazanie', 'mertvye dushi'])
  const { neighbours } = findNearestNeighbours(buildTfidfVectors(texts, createTrigramTokeniser()), 1)
  expect([...neighbours].slice(0, 1)).toEqual([2])
  expect(neighbours[2]).toBe(0)
})
