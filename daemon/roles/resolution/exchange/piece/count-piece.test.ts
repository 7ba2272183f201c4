// A piece counts once, also when it is sent twice or was counted by a process that ended before it stored the piece.
import { expect, test } from 'vitest'
import { isRefusal } from '../../../../kernel/error/errors.ts'
import type { StoredExchange } from '../model.ts'
import { countPiece } from './count-piece.ts'

const emptyExchange = { agreement: { max_set_bytes: 100 } } as unknown as StoredExchange
const buildPiece = (number: number, rows = 1) => ({
  round: 'records' as const,
  number,
  of: 3,
  items: 3,
  rows: Array.from({ length: rows }, () => ['id', 'value']),
})

function countPieces(...pieces: readonly [ReturnType<typeof buildPiece>, number][]): StoredExchange | string {
  let current: StoredExchange = emptyExchange
  for (const [piece, bytes] of pieces) {
    const next = countPiece(current, 'bravo', piece, bytes)
    if (isRefusal(next)) return next.code
    current = next
  }
  return current
}

test('records may have the agreed bytes, and not one more', () => {
  expect(countPieces([buildPiece(0), 50], [buildPiece(1), 50])).toMatchObject({
    coming: { 'bravo.records': { of: 3, items: 3 } },
  })
  expect(countPieces([buildPiece(0), 50], [buildPiece(1), 51])).toBe('over_budget')
})

test('a repeated piece counts once; of two pieces with one number the larger counts', () => {
  expect(countPieces([buildPiece(0), 60], [buildPiece(0), 60], [buildPiece(1), 40])).toMatchObject({ coming: {} })
  expect(countPieces([buildPiece(0), 60], [buildPiece(0), 10], [buildPiece(1), 41])).toBe('over_budget')
  const once = countPieces([buildPiece(0), 60])
  expect(typeof once === 'string' ? once : countPiece(once, 'bravo', buildPiece(0), 60)).toBe(once)
})

test('a set has at most the announced rows, and pieces of one announcement only', () => {
  expect(countPieces([buildPiece(0, 2), 1], [buildPiece(1, 1), 1])).toMatchObject({ coming: {} })
  expect(countPieces([buildPiece(0, 2), 1], [buildPiece(1, 2), 1])).toBe('invalid')
  expect(countPieces([buildPiece(0), 1], [{ ...buildPiece(1), of: 2 }, 1])).toBe('invalid')
  expect(countPieces([buildPiece(0), 1], [{ ...buildPiece(1), items: 4 }, 1])).toBe('invalid')
})

test('points are limited by their number, not by the agreed bytes', () => {
  const points = { ...buildPiece(0), round: 'points' as const }
  expect(isRefusal(countPiece(emptyExchange, 'bravo', points, 1_000_000))).toBe(false)
})
