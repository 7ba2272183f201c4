// Pieces of rows fit a message by bytes and by values, and join to the same rows again.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readStrictJson } from '../../../../kernel/encoding/strict-json.ts'
import { bodyLimits } from '../../../../kernel/messaging/body-limits.ts'
import { cutRows, max_piece_bytes, max_piece_values, parseRows } from './cut-pieces.ts'

const outcomeOf = (piece: string) => readStrictJson(piece, { ...bodyLimits, max_values: max_piece_values + 1 }).outcome

test('rows of a few letters are cut by values, and no piece is less than half full', () => {
  const rows = Array.from({ length: 100_000 }, (_, at) => [String(at), ''])
  const pieces = cutRows(rows)
  expect(pieces.map(outcomeOf).filter((outcome) => outcome !== 'value')).toEqual([])
  expect(pieces.length).toBe(Math.ceil((rows.length * 3) / max_piece_values))
  expect(parseRows(pieces)).toEqual(rows)
})

test('rows of any size are cut by both limits', () => {
  const row = fc.tuple(fc.integer({ min: 1, max: 14 }), fc.constantFrom(0, 1, 50, 20_000))
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 400 }), fc.constantFrom(1, 60), (shapes, times) => {
      const rows = Array(times)
        .fill(shapes)
        .flat()
        .map(([texts, letters]) => ['id', ...Array(texts).fill('x'.repeat(letters))])
      const pieces = cutRows(rows)
      expect(parseRows(pieces)).toEqual(rows)
      for (const piece of pieces) {
        expect(outcomeOf(piece)).toBe('value')
        expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(max_piece_bytes + 20_000)
      }
    }),
    { numRuns: 15, seed: 5 },
  )
})
