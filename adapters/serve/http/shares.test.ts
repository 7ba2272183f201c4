// Shares: all or none, one large amount alone, and everything back at the end.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Share, ShareLedger } from './shares.ts'

const all: Share = { name: 'all', most: 3 }
const own: Share = { name: 'own', most: 2 }

test('the share that is full is returned, and nothing is taken', () => {
  const ledger = new ShareLedger()
  expect([ledger.take([all, own], 1), ledger.take([all, own], 1)]).toEqual([undefined, undefined])
  expect(ledger.take([all, own], 1)).toBe(own)
  expect(ledger.take([all], 1)).toBeUndefined()
  expect(ledger.take([all], 1)).toBe(all)
  ledger.give([all, own], 1)
  expect(ledger.take([all, own], 1)).toBeUndefined()
})

test('an amount beyond a share is granted alone', () => {
  const ledger = new ShareLedger()
  expect(ledger.take([all], 9)).toBeUndefined()
  expect(ledger.take([all], 1)).toBe(all)
  expect(ledger.findFull([own, all])).toBe(all)
  ledger.give([all], 9)
  expect(ledger.findFull([own, all])).toBeUndefined()
})

test('more than one amount never exceeds the share, whatever the order', () => {
  const steps = fc.array(fc.record({ amount: fc.integer({ min: 1, max: 3 }), isTaken: fc.boolean() }))
  fc.assert(
    fc.property(steps, (order) => {
      const ledger = new ShareLedger()
      const held: number[] = []
      for (const { amount, isTaken } of order) {
        if (!isTaken) ledger.give([all], held.pop() ?? 0)
        else if (!ledger.take([all], amount)) held.push(amount)
        expect(held.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(all.most)
      }
    }),
  )
})
