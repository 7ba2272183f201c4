// Holds what may wait for the cluster to its bounds, behind one document and in all.
import { expect, test } from 'vitest'
import { WriteBackpressure } from './write-backpressure.ts'

const limits = { each: { writes: 2, bytes: 100 }, all: { writes: 4, bytes: 150 } }

test('behind one document wait so many, and others find room all the same', () => {
  const room = new WriteBackpressure(limits)
  const leave = room.enter('a', 1)
  room.enter('a', 1)
  expect(() => room.enter('a', 1)).toThrow('too many writes wait for this document')
  room.enter('b', 1)
  leave()
  room.enter('a', 1)
  expect(() => room.enter('a', 1)).toThrow()
  expect(() => new WriteBackpressure(limits).enter('a', 1)).not.toThrow()
})

test('bytes count as writes do, and the first finds room whatever its size', () => {
  const room = new WriteBackpressure(limits)
  const leave = room.enter('a', 1_000)
  expect(() => room.enter('a', 1)).toThrow('for this document')
  expect(() => room.enter('b', 1)).toThrow('too many writes wait')
  leave()
  room.enter('a', 60)
  expect(() => room.enter('a', 41)).toThrow('for this document')
  room.enter('a', 40)
  expect(() => room.enter('b', 51)).toThrow('too many writes wait')
  room.enter('b', 50)
})

test('in all wait so many, and a refusal takes no room', () => {
  const room = new WriteBackpressure(limits)
  const ways = ['a', 'b', 'c', 'd'].map((key) => room.enter(key, 1))
  for (let n = 0; n < 9; n++) {
    expect(() => room.enter('e', 1)).toThrow(expect.objectContaining({ effect: 'undone', retry_after_s: 5 }))
  }
  for (const leave of ways) leave()
  for (const key of ['e', 'f', 'g', 'h']) room.enter(key, 1)
  expect(() => room.enter('i', 1)).toThrow()
})
