// A stop waits until work has ended, at most for its time limit.
import { expect, test, vi } from 'vitest'
import { waitAtMost } from './stop-limits.ts'

test('work that hangs holds a stop until the limit and no longer; work that ends holds it until then', async () => {
  vi.useFakeTimers()
  try {
    let isOver = false
    const waiting = waitAtMost(5_000, new Promise(() => undefined)).then(() => {
      isOver = true
    })
    await vi.advanceTimersByTimeAsync(4_999)
    expect(isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    await waiting
    await waitAtMost(5_000, Promise.resolve())
    await waitAtMost(5_000, undefined)
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})
