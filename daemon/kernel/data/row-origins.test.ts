// Ranges of origins as lines: each is read as it was written, and nothing else is one.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { max_range_bytes, OriginRangeReader, OriginRangeWriter } from './row-origins.ts'

type Range = readonly [rows: number, input: number, place: number]

/** As many rows as a dataset has at most. */
const greatest = 2_000_000_000
const number = fc.oneof(
  fc.integer({ min: 1, max: 9 }),
  fc.integer({ min: 1, max: greatest }),
  fc.nat(9).map((power) => 10 ** power),
)

function writeRanges(ranges: readonly Range[]): string[] {
  const writer = new OriginRangeWriter()
  const bytes = Buffer.alloc(max_range_bytes * ranges.length + 1, '#')
  let end = 1
  for (const [rows, input, place] of ranges) end = writer.write(bytes, end, rows, input, place)
  return bytes.toString('latin1', 1, end).split('\n').slice(0, -1)
}

function readLines(lines: readonly string[]) {
  const reader = new OriginRangeReader()
  return lines.map((line) => reader.read(line))
}

test('ranges are read as they were written', () => {
  const range = fc.tuple(number, fc.oneof(fc.nat(1), fc.nat(9_999)), fc.oneof(fc.constant(0), number))
  fc.assert(
    fc.property(fc.array(range, { maxLength: 20 }), (ranges) => {
      const expected = ranges.map(([rows, input, place]) => ({ rows, ...(place > 0 && { from: { input, place } }) }))
      expect(readLines(writeRanges(ranges))).toEqual(expected)
    }),
  )
})

test('a range behind the one before it has no input', () => {
  const ranges: Range[] = [
    ...([
      [3, 0, 2],
      [1, 0, 6],
      [2, 1, 2],
      [4, 0, 0],
      [1, 1, 4],
      [1, 1, 2],
    ] as const),
  ]
  expect(writeRanges(ranges)).toEqual(['[3,1]', '[1,1]', '[2,1,2]', '[4]', '[1,0]', '[1,1,2]'])
})

test.each(['', '[]', '[0]', '[1,0,0]', '[-1,0,1]', '[1,0,1', '[1, 0, 1]', '[1,0,1]x', '[1e3]', '[12345678901]'])(
  'a line of another form is not a range: %s',
  (line) => {
    expect(readLines([line])).toEqual([undefined])
  },
)
