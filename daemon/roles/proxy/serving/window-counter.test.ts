// Positions in a window: without gaps, in order, and one increment of the store for each key and turn.
import { expect, test } from 'vitest'
import { WindowCounter, type WindowPosition } from './window-counter.ts'

const countOne = (counter: WindowCounter, key: string) =>
  new Promise<WindowPosition | undefined>((resolve) => counter.count(key, resolve))

test('each request of a turn has its own position, and each source costs one increment', async () => {
  const increments: [string, number, number][] = []
  const counts = new Map<string, number>()
  const counter = new WindowCounter(
    async (key, by, life_ms) => {
      increments.push([key, by, life_ms])
      counts.set(key, (counts.get(key) ?? 0) + by)
      return { count: counts.get(key) ?? 0, left_ms: life_ms }
    },
    60_000,
    setImmediate,
  )
  const turn = await Promise.all(['a', 'b', 'a', 'a'].map((key) => countOne(counter, key)))
  expect(turn.map((position) => position?.position)).toEqual([1, 1, 2, 3])
  expect(increments).toEqual([
    ['a', 3, 60_000],
    ['b', 1, 60_000],
  ])
  expect(await countOne(counter, 'a')).toEqual({ position: 4, left_ms: 60_000 })
})

test('a failed increment leaves none of its requests counted, and does not affect the next turn', async () => {
  let isUnavailable = true
  const counter = new WindowCounter(
    async (_, by) => {
      if (isUnavailable) throw new Error('unavailable')
      return { count: by, left_ms: 1 }
    },
    60_000,
    setImmediate,
  )
  const turn = await Promise.all([countOne(counter, 'a'), countOne(counter, 'a'), countOne(counter, 'b')])
  expect(turn).toEqual([undefined, undefined, undefined])
  isUnavailable = false
  expect(await countOne(counter, 'a')).toEqual({ position: 1, left_ms: 1 })
})
