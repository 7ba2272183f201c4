// The memory budget: never exceeded, and every reservation is granted in order.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memoryBudget } from './memory-budget.ts'

test('never grants more than the budget, and grants all reservations in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 150 }), { maxLength: 40 }), async (sizes) => {
      const { reserve } = memoryBudget(100)
      const granted: number[] = []
      let reserved = 0
      const all = sizes.map(async (size, index) => {
        const release = await reserve(size)
        granted.push(index)
        reserved += Math.min(size, 100)
        expect(reserved).toBeLessThanOrEqual(100)
        await Promise.resolve()
        reserved -= Math.min(size, 100)
        release()
        release()
      })
      await Promise.all(all)
      expect(granted).toEqual(sizes.map((_, index) => index))
    }),
  )
})
