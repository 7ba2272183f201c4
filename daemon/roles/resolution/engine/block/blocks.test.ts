// Every pair that shares a block is given once, and what is too common alone counts together with another.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildBlocks, forEachPair } from './blocks.ts'
import type { BlockingKey } from './keys.ts'

function createKey(field: number, codes: readonly number[]): BlockingKey {
  const sizes = new Int32Array(Math.max(0, ...codes.map((code) => code + 1)))
  for (const code of codes) if (code >= 0) sizes[code] = (sizes[code] ?? 0) + 1
  return { field, name: `key ${field}`, codes: Int32Array.from(codes), sizes }
}

function listPairs(rows: number, keys: readonly BlockingKey[], cap: number, least = 0): string[] {
  const found: string[] = []
  forEachPair(rows, buildBlocks(keys, cap), least, undefined, (a, b) => found.push(`${a} ${b}`))
  return found
}

const rows = 12
const codes = fc.array(fc.integer({ min: -1, max: 3 }), { minLength: rows, maxLength: rows })

test('a pair is given once, if and only if a block of at most the cap holds both', () => {
  fc.assert(
    fc.property(codes, codes, codes, fc.integer({ min: 2, max: 6 }), (one, other, third, cap) => {
      const keys = [createKey(0, one), createKey(1, other), createKey(1, third)]
      const sizeOf = (key: BlockingKey, row: number) => key.sizes[key.codes[row] ?? -1] ?? 0
      const isShared = (key: BlockingKey, a: number, b: number) =>
        (key.codes[a] ?? -1) >= 0 && key.codes[a] === key.codes[b]
      const together = (x: BlockingKey, y: BlockingKey, a: number) =>
        Array.from({ length: rows }, (_, row) => row).filter((row) => isShared(x, a, row) && isShared(y, a, row)).length
      const wanted: string[] = []
      for (let a = 0; a < rows; a++) {
        for (let b = a + 1; b < rows; b++) {
          const alone = keys.some((key) => isShared(key, a, b) && sizeOf(key, a) <= cap)
          const both = keys.some((x) =>
            keys.some(
              (y) =>
                x.field < y.field &&
                [x, y].every((key) => isShared(key, a, b) && sizeOf(key, a) > cap) &&
                together(x, y, a) <= cap,
            ),
          )
          if (alone || both) wanted.push(`${a} ${b}`)
        }
      }
      expect(listPairs(rows, keys, cap).sort()).toEqual(wanted.sort())
    }),
    { numRuns: 300 },
  )
})

test('a pair for which its blocks say too little is left out', () => {
  const large = createKey(0, [0, 0, 0, 0, 0, -1, -1])
  const small = createKey(1, [0, 0, -1, -1, -1, 1, 1])
  expect(listPairs(7, [large, small], 9, 0.5)).toEqual(['0 1', '5 6'])
  expect(listPairs(7, [large, small], 9, 1.2)).toEqual(['0 1'])
})

test('rows that are given besides need no block', () => {
  const found: string[] = []
  forEachPair(
    4,
    buildBlocks([], 9),
    0.5,
    (row) => (row === 1 ? [3] : []),
    (a, b) => found.push(`${a} ${b}`),
  )
  expect(found).toEqual(['1 3'])
})
