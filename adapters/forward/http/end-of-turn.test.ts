// Writes that are held until the end of a turn: all of them, in their order, and once.
import { expect, test } from 'vitest'
import { uncorkAtEndOfTurn } from './end-of-turn.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('writes go out in their order when the turn ends, and those that they cause in the next one', async () => {
  const order: string[] = []
  const hold = (name: string, then?: () => void) =>
    uncorkAtEndOfTurn({
      uncork() {
        order.push(name)
        then?.()
      },
    })
  hold('first', () => hold('caused'))
  hold('second')
  await Promise.resolve()
  expect(order).toEqual([])
  await nextTurn()
  expect(order).toEqual(['first', 'second'])
  await nextTurn()
  expect(order).toEqual(['first', 'second', 'caused'])
})
