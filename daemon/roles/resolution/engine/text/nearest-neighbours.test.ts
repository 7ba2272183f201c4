// The nearest neighbours by cosine, by all terms and by the rarer ones.
import { expect, test } from 'vitest'
import { createRandom } from '../random.ts'
import { findNearestNeighbours } from './nearest-neighbours.ts'
import { buildTfidfVectors, computeCosine, type TfidfVectors } from './tfidf-vectors.ts'
import { createWordTokeniser } from './tokeniser.ts'

const k = 3

/** Texts of a few common words and one of many rare ones. */
function buildTexts(count: number, seed: number): string[] {
  const random = createRandom(seed)
  const pick = (words: number) => Math.floor(random() * words)
  return Array.from(
    { length: count },
    () => `common${pick(3)} often${pick(5)} rare${pick(count / 3)} seldom${pick(count / 2)}`,
  )
}

/** The cosines of the nearest rows, by comparing each pair. */
function compareAll(vectors: TfidfVectors, row: number, isOther: (other: number) => boolean): number[] {
  const others = Array.from({ length: vectors.rows }, (_, other) => other).filter(
    (other) => other !== row && isOther(other),
  )
  const cosines = others.map((other) => Math.fround(computeCosine(vectors, row, other))).filter((cosine) => cosine > 0)
  return cosines.sort((a, b) => b - a).slice(0, k)
}

test.each([1, 2, 3])('by all terms, each row has the most similar ones: seed %i', (seed) => {
  const vectors = buildTfidfVectors(buildTexts(60, seed), createWordTokeniser())
  const sources = Int32Array.from({ length: 60 }, (_, row) => (row < 25 ? 0 : 1))
  for (const sides of [undefined, sources]) {
    const { cosines } = findNearestNeighbours(vectors, k, sides)
    for (let row = 0; row < vectors.rows; row++) {
      const expected = compareAll(vectors, row, (other) => !sides || sides[other] !== sides[row])
      const found = [...cosines.subarray(row * k, row * k + expected.length)]
      for (const [at, cosine] of expected.entries()) expect(found[at]).toBeCloseTo(cosine, 5)
    }
  }
})

test('by rarer terms, the neighbours that share one are found, with the cosine of all terms', () => {
  const texts = buildTexts(300, 4)
  const vectors = buildTfidfVectors(texts, createWordTokeniser())
  const all = findNearestNeighbours(vectors, k)
  // The pairs of the common words alone exceed it, and those of all rare words do not.
  // More neighbours than rows share a rare word, so that none is lost in the order of their rare words alone.
  const wide = 12
  const rare = findNearestNeighbours(vectors, wide, undefined, 2_000)
  const rareWords = (row: number) => (texts[row] ?? '').split(' ').slice(2)
  let compared = 0
  for (let row = 0; row < vectors.rows; row++) {
    const [nearest = -1] = all.neighbours.subarray(row * k)
    if (!rareWords(row).some((word) => rareWords(nearest).includes(word))) continue
    compared++
    expect(rare.cosines[row * wide]).toBeCloseTo(all.cosines[row * k]!, 5)
    expect(rare.cosines[row * wide]).toBeCloseTo(computeCosine(vectors, row, rare.neighbours[row * wide]!), 6)
  }
  expect(compared).toBeGreaterThan(100)
})
