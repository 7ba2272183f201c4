// What comes is counted once, whatever is sent twice or was counted by a process that ended before it kept it.
import { expect, test } from 'vitest'
import { isRefused } from '../../../kernel/errors.ts'
import { counted } from './coming.ts'
import type { StoredExchange } from './model.ts'

const empty = { agreement: { max_set_bytes: 100 } } as unknown as StoredExchange
const piece = (number: number, rows = 1) => ({
  round: 'records' as const,
  number,
  of: 3,
  items: 3,
  rows: Array.from({ length: rows }, () => ['id', 'value']),
})

function after(...given: readonly [ReturnType<typeof piece>, number][]): StoredExchange | string {
  let now: StoredExchange = empty
  for (const [each, bytes] of given) {
    const next = counted(now, 'bravo', each, bytes)
    if (isRefused(next)) return next.code
    now = next
  }
  return now
}

test('up to what was agreed, and no byte more', () => {
  expect(after([piece(0), 50], [piece(1), 50])).toMatchObject({ coming: { 'bravo.records': { of: 3, items: 3 } } })
  expect(after([piece(0), 50], [piece(1), 51])).toBe('over_budget')
})

test('a piece that comes again counts once, and the larger of two with one number counts', () => {
  expect(after([piece(0), 60], [piece(0), 60], [piece(1), 40])).toMatchObject({ coming: {} })
  expect(after([piece(0), 60], [piece(0), 10], [piece(1), 41])).toBe('over_budget')
  const once = after([piece(0), 60])
  expect(typeof once === 'string' ? once : counted(once, 'bravo', piece(0), 60)).toBe(once)
})

test('rows as many as were told of; pieces of one set alone', () => {
  expect(after([piece(0, 2), 1], [piece(1, 1), 1])).toMatchObject({ coming: {} })
  expect(after([piece(0, 2), 1], [piece(1, 2), 1])).toBe('invalid')
  expect(after([piece(0), 1], [{ ...piece(1), of: 2 }, 1])).toBe('invalid')
  expect(after([piece(0), 1], [{ ...piece(1), items: 4 }, 1])).toBe('invalid')
})

test('points have their length by their number, and are bounded by that', () => {
  const points = { ...piece(0), round: 'points' as const }
  expect(isRefused(counted(empty, 'bravo', points, 1_000_000))).toBe(false)
})
