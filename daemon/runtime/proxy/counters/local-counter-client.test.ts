// Counting from a thread: one question a turn, answers in their order, and no answer is a failure and no wait for ever.
import { afterEach, expect, test, vi } from 'vitest'
import type { CounterIncrement } from '../threads/thread-messages.ts'
import { LocalCounterClient } from './local-counter-client.ts'

afterEach(() => void vi.useRealTimers())

test('the steps of a turn are one request, and each has its own result', async () => {
  const requests: [number, readonly CounterIncrement[]][] = []
  const counter = new LocalCounterClient((id, steps) => requests.push([id, steps]))
  const first = [counter.increment('a', 1, 10), counter.increment('b', 2, 10)]
  await Promise.resolve()
  const second = counter.increment('a', 1, 10)
  await Promise.resolve()
  expect(requests).toEqual([
    [
      1,
      [
        ['a', 1, 10],
        ['b', 2, 10],
      ],
    ],
    [2, [['a', 1, 10]]],
  ])
  counter.resolveCounts(2, [{ count: 9, left_ms: 1 }])
  counter.resolveCounts(1, [{ count: 1, left_ms: 10 }, undefined])
  expect(await second).toEqual({ count: 9, left_ms: 1 })
  expect(await first[0]).toEqual({ count: 1, left_ms: 10 })
  await expect(first[1]).rejects.toMatchObject({ code: 'unavailable' })
})

test('no answer in two seconds is a failure; what comes later is nobody’s', async () => {
  vi.useFakeTimers()
  const counter = new LocalCounterClient(() => undefined)
  const waiting = counter.increment('a', 1, 10)
  const refused = expect(waiting).rejects.toMatchObject({ code: 'unavailable' })
  await vi.advanceTimersByTimeAsync(2_000)
  await refused
  counter.resolveCounts(1, [{ count: 1, left_ms: 1 }])
})
