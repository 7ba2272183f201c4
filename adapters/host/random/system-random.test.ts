// Checks that paged random bytes have the properties of direct ones.
import { expect, test } from 'vitest'
import { systemRandom } from './system-random.ts'

test('draws are hexadecimal of the requested length, across pages and beyond one page', () => {
  const random = systemRandom()
  for (const bytes of [1, 8, 16, 4_095, 4_096, 4_097, 10_000]) {
    expect(random(bytes)).toMatch(new RegExp(`^[0-9a-f]{${bytes * 2}}$`))
  }
})

test('no draw repeats', () => {
  const random = systemRandom()
  const draws = Array.from({ length: 20_000 }, () => random(16))
  expect(new Set(draws).size).toBe(draws.length)
  expect(draws).not.toContain('0'.repeat(32))
})

test('every bit is set about half the time', () => {
  const random = systemRandom()
  const draw_count = 8_000
  const ones = Array.from({ length: 64 }, () => 0)
  for (let i = 0; i < draw_count; i++) {
    const bits = BigInt(`0x${random(8)}`)
    for (let bit = 0; bit < 64; bit++) ones[bit] = (ones[bit] ?? 0) + Number((bits >> BigInt(bit)) & 1n)
  }
  const sigma = Math.sqrt(draw_count) / 2
  for (const count of ones) expect(Math.abs(count - draw_count / 2)).toBeLessThan(6 * sigma)
})

test('less than one byte is an error', () => {
  expect(() => systemRandom()(0)).toThrow(RangeError)
  expect(() => systemRandom()(1.5)).toThrow(RangeError)
})
