// Limits concurrent tasks: the others wait in order, and a task that fails or is aborted does not block them.
import { expect, test } from 'vitest'
import { limitConcurrency } from './concurrency-limiter.ts'

const { signal } = new AbortController()

test('the limiter runs at most its number of tasks, in order of arrival, also after a failure', async () => {
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

test('an aborted task is skipped, and the next one runs', async () => {
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
