// A followed feed prints a line for changes at once, and one an hour for a position that moved without any.
import { expect, test } from 'vitest'
import { createLineSchedule } from './line-schedule.ts'

const hour_ms = 3_600_000
const quiet = (next_since: string) => ({ items: [], next_since })

test('changes have a line at once, and a position that moves without any has one an hour', () => {
  const isPrinted = createLineSchedule(0)
  expect(isPrinted(quiet('a'), 1)).toBe(false)
  expect(isPrinted({ items: [{}], next_since: 'b' }, 2)).toBe(true)
  expect(isPrinted({ items: [{}], next_since: 'c' }, 3)).toBe(true)
  expect(isPrinted(quiet('d'), hour_ms)).toBe(false)
  expect(isPrinted(quiet('d'), hour_ms + 3)).toBe(true)
  expect(isPrinted(quiet('e'), hour_ms + 4)).toBe(false)
  expect(isPrinted(quiet('e'), 2 * hour_ms + 3)).toBe(true)
})

test('a position that stays has no further line', () => {
  const isPrinted = createLineSchedule(0)
  expect(isPrinted({ items: [{}], next_since: 'a' }, 1)).toBe(true)
  expect(isPrinted(quiet('a'), 9 * hour_ms)).toBe(false)
  expect(isPrinted(quiet('b'), 9 * hour_ms)).toBe(true)
})
