// Requests under way of each client address.
import { expect, test } from 'vitest'
import { PeerShares } from './peer-shares.ts'

test('an address that has its share gets no more until one ends, and takes none from others', () => {
  const shares = new PeerShares(2)
  expect(['a', 'a', 'a', 'b'].map((address) => shares.take(address))).toEqual([true, true, false, true])
  shares.release('a')
  expect([shares.take('a'), shares.take('a')]).toEqual([true, false])
})
