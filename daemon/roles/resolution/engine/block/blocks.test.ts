// Every pair that shares a block is visited once, and values too common alone form blocks together with another value.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blockRule, buildBlocks, forEachPair } from './blocks.ts'
import type { BlockingKey } from './keys.ts'

function createKey(field: number, codes: readonly number[]): BlockingKey {
  const sizes = new Int32Array(Math.max(0, ...codes.map((code) => code + 1)))
  for (const code of codes) if (code >= 0) sizes[code] = (sizes[code] ?? 0) + 1
  return { field, name: `key ${field}`, codes: Int32Array.from(codes), sizes }
}

function listPairs(rows: number, keys: readonly BlockingKey[], cap: number, least = 0): string[] {
  const pairs: string[] = []
  forEachPair(rows, buildBlocks(keys, cap), least, undefined, (a, b) => pairs.push(`${a} ${b}`))
  return pairs
}

const rows = 12
const codes = fc.array(fc.integer({ min: -1, max: 3 }), { minLength: rows, maxLength: rows })

test('a pair is visited once, if and only if a block within the limit contains both', () => {
  fc.assert(
    fc.property(codes, codes, codes, fc.integer({ min: 2, max: 6 }), (first, second, third, cap) => {
      const keys = [createKey(0, first), createKey(1, second), createKey(1, third)]
      const sizeOf = (key: BlockingKey, row: number) => key.sizes[key.codes[row] ?? -1] ?? 0
      const isShared = (key: BlockingKey, a: number, b: number) =>
        (key.codes[a] ?? -1) >= 0 && key.codes[a] === key.codes[b]
      const countTogether = (x: BlockingKey, y: BlockingKey, a: number) =>
        Array.from({ length: rows }, (_, row) => row).filter((row) => isShared(x, a, row) && isShared(y, a, row)).length
      const expected: string[] = []
      for (let a = 0; a < rows; a++) {
        for (let b = a + 1; b < rows; b++) {
          const isInBlock = keys.some((key) => isShared(key, a, b) && sizeOf(key, a) <= cap)
          const isInJointBlock = keys.some((x) =>
            keys.some(
              (y) =>
                x.field < y.field &&
                [x, y].every((key) => isShared(key, a, b) && sizeOf(key, a) > cap) &&
                countTogether(x, y, a) <= cap,
            ),
          )
          if (isInBlock || isInJointBlock) expected.push(`${a} ${b}`)
        }
      }
      expect(listPairs(rows, keys, cap).sort()).toEqual(expected.sort())
    }),
    { numRuns: 300 },
  )
})

test('the rule of a pair has the smallest block that contains both', () => {
  fc.assert(
    fc.property(codes, codes, fc.integer({ min: 2, max: 6 }), (first, second, cap) => {
      const keys = [createKey(0, first), createKey(1, second)]
      const listBlock = (used: readonly BlockingKey[], a: number) =>
        Array.from({ length: rows }, (_, row) => row).filter((row) =>
          used.every(({ codes: codeOf }) => codeOf[a]! >= 0 && codeOf[a] === codeOf[row]),
        )
      const rules = [[0], [1], [0, 1]].map((used) => ({ rule: blockRule(2, used[0] ?? 0, used.at(-1)), used }))
      forEachPair(rows, buildBlocks(keys, cap), 0, undefined, (a, b, rule) => {
        const sizes = rules.flatMap(({ rule: number, used }) => {
          const usedKeys = used.map((key) => keys[key]!)
          const isBlock = usedKeys.every((key) => key.sizes[key.codes[a] ?? -1]! > cap === usedKeys.length > 1)
          const members = listBlock(usedKeys, a)
          return isBlock && members.includes(b) && members.length <= cap ? [{ number, size: members.length }] : []
        })
        const smallest = Math.min(...sizes.map(({ size }) => size))
        expect(sizes.find(({ number }) => number === rule)?.size).toBe(smallest)
      })
    }),
    { numRuns: 300 },
  )
})

test('a pair with too little evidence from its blocks is skipped', () => {
  const large = createKey(0, [0, 0, 0, 0, 0, -1, -1])
  const small = createKey(1, [0, 0, -1, -1, -1, 1, 1])
  expect(listPairs(7, [large, small], 9, 0.5)).toEqual(['0 1', '5 6'])
  expect(listPairs(7, [large, small], 9, 1.2)).toEqual(['0 1'])
})

test('extra rows are paired without a block', () => {
  const pairs: string[] = []
  forEachPair(
    4,
    buildBlocks([], 9),
    0.5,
    (row) => (row === 1 ? [3] : []),
    (a, b, rule) => pairs.push(`${a} ${b} by ${rule}`),
  )
  expect(pairs).toEqual(['1 3 by 0'])
})
