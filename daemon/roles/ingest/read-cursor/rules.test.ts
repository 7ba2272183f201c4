// A cursor belongs to one run at a time, and moves along the datasets that were read from it.
import { expect, test } from 'vitest'
import type { StoredReadCursor } from './model.ts'
import { moveCursor, takeCursor } from './rules.ts'

const [of, elsewhere] = ['a'.repeat(64), 'b'.repeat(64)]
const [first, second] = ['1'.repeat(64), '2'.repeat(64)]
const [own, other] = [
  { run: 'pl_1.b', dataset: 'pl_1.b.5/read' },
  { run: 'pl_1.a', dataset: 'pl_1.a.4/read' },
]
const at = '2026-03-02T12:00:00Z'
const label = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'alpha' }
const provenance = { tenant_id: 'alpha', label, created_by: 'ann', created_at: at, updated_at: at }

function cursorOf(more: Partial<Pick<StoredReadCursor, 'landed' | 'holder'>> = {}): StoredReadCursor {
  return { ...provenance, pipeline: 'pl_1', task: 'read', of, ...more }
}

const landedAt = (digest: string) => ({ dataset: other.dataset, digest })

test('a free cursor is taken, and one that its run has stays with it', () => {
  expect(takeCursor(cursorOf(), own, undefined, undefined)).toEqual(cursorOf({ holder: own }))
  const held = cursorOf({ holder: own, landed: landedAt(first) })
  expect(takeCursor(held, own, own, undefined)).toBe(held)
})

test('a cursor that another run has taken meanwhile is not taken', () => {
  expect(takeCursor(cursorOf({ holder: other }), own, undefined, undefined)).toBeUndefined()
  expect(takeCursor(cursorOf(), own, other, undefined)).toBeUndefined()
})

test('what a dead holder has landed counts, where it was read from the cursor', () => {
  const landed = { ...landedAt(first), cursor: { of } }
  const taken = cursorOf({ holder: own, landed: landedAt(first) })
  expect(takeCursor(cursorOf({ holder: other }), own, other, landed)).toEqual(taken)
  const beyond = cursorOf({ holder: other, landed: landedAt(second) })
  expect(takeCursor(beyond, own, other, landed)).toEqual({ ...beyond, holder: own })
  const foreign = { ...landedAt(first), cursor: { of: elsewhere } }
  expect(takeCursor(cursorOf({ holder: other }), own, other, foreign)).toEqual(cursorOf({ holder: own }))
})

test('the cursor moves to what its holder has landed, once, and is free then', () => {
  const made = { dataset: own.dataset, digest: second, cursor: { of, after: first } }
  const held = cursorOf({ holder: own, landed: landedAt(first) })
  const moved = moveCursor(held, own, made)
  expect(moved).toEqual(cursorOf({ landed: { dataset: own.dataset, digest: second } }))
  expect(moveCursor(moved, own, made)).toBe(moved)
  const again = moveCursor({ ...moved, holder: own }, own, made)
  expect(again).toEqual(moved)
  const lost = cursorOf({ holder: other, landed: landedAt(first) })
  expect(moveCursor(lost, own, made)).toBe(lost)
})
