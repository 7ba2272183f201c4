// Limits of the writes that wait for the cluster, for one document and in total.
import { expect, test } from 'vitest'
import { WriteBackpressure } from './write-backpressure.ts'

const limits = { each: { writes: 2, bytes: 100 }, all: { writes: 4, bytes: 150 } }

test('the limit of one document does not affect other documents', () => {
  const backpressure = new WriteBackpressure(limits)
  const release = backpressure.enter('a', 1)
  backpressure.enter('a', 1)
  expect(() => backpressure.enter('a', 1)).toThrow('too many writes wait for this document')
  backpressure.enter('b', 1)
  release()
  backpressure.enter('a', 1)
  expect(() => backpressure.enter('a', 1)).toThrow()
  expect(() => new WriteBackpressure(limits).enter('a', 1)).not.toThrow()
})

test('bytes are limited like writes, and the first write is accepted at any size', () => {
  const backpressure = new WriteBackpressure(limits)
  const release = backpressure.enter('a', 1_000)
  expect(() => backpressure.enter('a', 1)).toThrow('for this document')
  expect(() => backpressure.enter('b', 1)).toThrow('too many writes wait')
  release()
  backpressure.enter('a', 60)
  expect(() => backpressure.enter('a', 41)).toThrow('for this document')
  backpressure.enter('a', 40)
  expect(() => backpressure.enter('b', 51)).toThrow('too many writes wait')
  backpressure.enter('b', 50)
})

test('the total is limited, and a refusal does not count', () => {
  const backpressure = new WriteBackpressure(limits)
  const releases = ['a', 'b', 'c', 'd'].map((key) => backpressure.enter(key, 1))
  for (let n = 0; n < 9; n++) {
    expect(() => backpressure.enter('e', 1)).toThrow(expect.objectContaining({ effect: 'undone', retry_after_s: 5 }))
  }
  for (const release of releases) release()
  for (const key of ['e', 'f', 'g', 'h']) backpressure.enter(key, 1)
  expect(() => backpressure.enter('i', 1)).toThrow()
})
