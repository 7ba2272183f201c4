// A pair that alone holds two parts together is found, and no other.
import { expect, test } from 'vitest'
import { splitsAtOnePair } from './splits-at-one-pair.ts'

const triangle = (a: number, b: number, c: number): [number, number][] => [
  [a, b],
  [b, c],
  [a, c],
]

test.each<[string, [number, number][], boolean]>([
  ['two triangles that share one pair', [...triangle(1, 2, 3), ...triangle(4, 5, 6), [3, 4]], true],
  ['two triangles that share two pairs', [...triangle(1, 2, 3), ...triangle(4, 5, 6), [3, 4], [1, 6]], false],
  ['a triangle with one further row', [...triangle(1, 2, 3), [3, 4]], false],
  [
    'a star',
    [
      [1, 2],
      [1, 3],
      [1, 4],
      [1, 5],
    ],
    false,
  ],
  [
    'a chain of four',
    [
      [4, 2],
      [2, 9],
      [9, 1],
    ],
    true,
  ],
  [
    'a ring',
    [
      [1, 2],
      [2, 3],
      [3, 4],
      [4, 1],
    ],
    false,
  ],
  [
    'a triangle beside two triangles that share one pair',
    [...triangle(7, 8, 9), ...triangle(1, 2, 3), ...triangle(4, 5, 6), [3, 4]],
    true,
  ],
  ['no pair', [], false],
])('%s', (_, pairs, expected) => expect(splitsAtOnePair(pairs)).toBe(expected))

test('a chain of a hundred thousand rows', () => {
  const pairs = Array.from({ length: 100_000 }, (_, row): [number, number] => [row, row + 1])
  expect(splitsAtOnePair(pairs)).toBe(true)
})
