// The memory of traces is bounded, and knows from which time on it has every trace.
import { expect, test } from 'vitest'
import { BoundedMemory } from './trace-memory.ts'

const scope = { tenant_id: 'alpha' }

function remember(max: number, ...used: readonly (readonly [string, number])[]) {
  const memory = new BoundedMemory<string>(max)
  for (const [id, at] of used) memory.open(scope, id, at, () => id)
  return memory
}

test('the one that was used longest ago goes first, and everything that began before its last use may be missing', () => {
  const memory = remember(2, ['a', 1], ['b', 2])
  expect([memory.size, memory.complete_ts]).toEqual([2, Number.NEGATIVE_INFINITY])
  memory.open(scope, 'a', 5, () => 'again')
  memory.open(scope, 'c', 6, () => 'c')
  expect([memory.size, memory.find(scope, 'a'), memory.has(scope, 'b'), memory.complete_ts]).toEqual([2, 'a', false, 2])
})

test('an event that comes late makes no entry look older than it is', () => {
  const memory = remember(1, ['a', 9], ['a', 3], ['b', 10])
  expect(memory.complete_ts).toBe(9)
})

test('after it was cleared, everything that began before may be missing', () => {
  const memory = remember(5, ['a', 1])
  memory.clear(7)
  memory.clear(4)
  expect([memory.size, memory.complete_ts]).toEqual([0, 7])
})

test('traces of another tenant or label are others', () => {
  const memory = remember(5, ['a', 1])
  expect(memory.has({ tenant_id: 'bravo' }, 'a')).toBe(false)
})
