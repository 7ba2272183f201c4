// Work of which so much goes on at a time: the rest in order, and what fails or is given up holds up nobody.
import { expect, test } from 'vitest'
import { limitConcurrency } from './concurrency-limiter.ts'

const { signal } = new AbortController()

test('no more than so many at a time, in the order in which they came, whatever becomes of each', async () => {
  const turn = limitConcurrency(2)
  const began: number[] = []
  const ends: (() => void)[] = []
  const all = [0, 1, 2, 3].map((at) =>
    turn(async () => {
      began.push(at)
      await new Promise<void>((resolve) => ends.push(resolve))
      if (at === 0) throw new Error('fails')
      return at
    }, signal).catch(() => 'failed'),
  )
  await Promise.resolve()
  expect(began).toEqual([0, 1])
  for (const next of [0, 1, 2, 3]) {
    ends[next]?.()
    await new Promise(setImmediate)
  }
  expect(await Promise.all(all)).toEqual(['failed', 1, 2, 3])
  expect(began).toEqual([0, 1, 2, 3])
})

test('who is wanted no more does nothing when the turn comes, and gives it on', async () => {
  const turn = limitConcurrency(1)
  const leaving = new AbortController()
  let end: () => void = () => undefined
  const first = turn(() => new Promise<void>((resolve) => (end = resolve)), signal)
  const second = turn(async () => 'done', leaving.signal)
  const third = turn(async () => 'done', signal)
  leaving.abort(new Error('not wanted'))
  end()
  await first
  await expect(second).rejects.toThrow('not wanted')
  expect(await third).toBe('done')
})
