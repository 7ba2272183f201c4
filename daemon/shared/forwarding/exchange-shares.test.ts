// Requests under way of each holder.
import { expect, test } from 'vitest'
import { ExchangeShares } from './exchange-shares.ts'

test('a holder that has its share gets no more until one ends, and takes none from others', () => {
  const shares = new ExchangeShares(2)
  expect(['a', 'a', 'a', 'b'].map((holder) => shares.take(holder))).toEqual([true, true, false, true])
  shares.release('a')
  expect([shares.take('a'), shares.take('a')]).toEqual([true, false])
})
