// Holds the paged randomness to what unpaged randomness gives.
import { expect, test } from 'vitest'
import { systemRandom } from './system-random.ts'

test('draws are hexadecimal of the length asked for, across pages and beyond one', () => {
  const random = systemRandom()
  for (const bytes of [1, 8, 16, 4_095, 4_096, 4_097, 10_000]) {
    expect(random(bytes)).toMatch(new RegExp(`^[0-9a-f]{${bytes * 2}}$`))
  }
})

test('no draw repeats', () => {
  const random = systemRandom()
  const drawn = Array.from({ length: 20_000 }, () => random(16))
  expect(new Set(drawn).size).toBe(drawn.length)
  expect(drawn).not.toContain('0'.repeat(32))
})

test('every bit is set about half the time', () => {
  const random = systemRandom()
  const draws = 8_000
  const ones = Array.from({ length: 64 }, () => 0)
  for (let i = 0; i < draws; i++) {
    const bits = BigInt(`0x${random(8)}`)
    for (let bit = 0; bit < 64; bit++) ones[bit] = (ones[bit] ?? 0) + Number((bits >> BigInt(bit)) & 1n)
  }
  const sigma = Math.sqrt(draws) / 2
  for (const count of ones) expect(Math.abs(count - draws / 2)).toBeLessThan(6 * sigma)
})

test('less than one byte is an error', () => {
  expect(() => systemRandom()(0)).toThrow(RangeError)
  expect(() => systemRandom()(1.5)).toThrow(RangeError)
})
