// A chain of reads leaves the event loop to others before it continues.
import { beforeEach, expect, test } from 'vitest'
import { LoopShare } from './loop-share.ts'

let now_ms: number
let share: LoopShare
beforeEach(() => {
  now_ms = 0
  share = new LoopShare(() => now_ms)
})

/** As reads that take longer than the share of one turn. */
function occupyLoop(): void {
  now_ms += 20
}

test('reads that take their share of a turn wait for the next, and others run in between', async () => {
  expect(share.isUsedUp()).toBe(false)
  occupyLoop()
  expect(share.isUsedUp()).toBe(true)
  let hasOtherRun = false
  setImmediate(() => {
    hasOtherRun = true
  })
  await share.wait()
  expect(hasOtherRun).toBe(true)
  expect(share.isUsedUp()).toBe(false)
})

test('many readers that wait together share the turns: none reads on a used one', async () => {
  share.isUsedUp()
  occupyLoop()
  let turn = 0
  const countTurns = () => {
    turn++
    if (turn < 50) setImmediate(countTurns)
  }
  setImmediate(countTurns)
  const turns = await Promise.all(
    Array.from({ length: 3 }, async () => {
      await share.wait()
      occupyLoop()
      return turn
    }),
  )
  expect(new Set(turns).size).toBe(3)
})

test('a reader that leaves its turn continues after the timers and events of the next, though it has read little', async () => {
  const order: string[] = []
  // Immediates run at the end of a turn: one that such a callback sets runs at the end of the next.
  setImmediate(() => {
    order.push('this turn')
    setImmediate(() => void order.push('next turn'))
  })
  await share.leave()
  expect(order).toEqual(['this turn', 'next turn'])
})
