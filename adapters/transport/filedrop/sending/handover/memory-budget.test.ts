// What room promises: never more than there is, nobody forgotten, nobody overtaken.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memoryBudget } from './memory-budget.ts'

test('never lets in more than there is, and everybody in the order of asking', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 150 }), { maxLength: 40 }), async (wishes) => {
      const { reserve } = memoryBudget(100)
      const entered: number[] = []
      let held = 0
      const all = wishes.map(async (wish, index) => {
        const leave = await reserve(wish)
        entered.push(index)
        held += Math.min(wish, 100)
        expect(held).toBeLessThanOrEqual(100)
        await Promise.resolve()
        held -= Math.min(wish, 100)
        leave()
        leave()
      })
      await Promise.all(all)
      expect(entered).toEqual(wishes.map((_, index) => index))
    }),
  )
})
