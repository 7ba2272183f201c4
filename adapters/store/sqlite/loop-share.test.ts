// A chain of reads leaves the event loop to others before it continues.
import { expect, test } from 'vitest'
import { LoopShare } from './loop-share.ts'

/** Occupies the event loop for longer than the share of one turn. */
function occupyLoop(): void {
  const end_ms = performance.now() + 20
  while (performance.now() < end_ms);
}

test('reads that take their share of a turn wait for the next, and others run in between', async () => {
  const share = new LoopShare()
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
  const share = new LoopShare()
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
