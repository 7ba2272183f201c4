// Places in a window: gapless, in order, and one step of the store for all of a turn.
import { expect, test } from 'vitest'
import { memoryKeyValue } from '../../../../adapters/keyvalue/memory/memory-keyvalue.ts'
import { WindowCounter, type WindowPosition } from './window-counter.ts'

const countOne = (tally: WindowCounter, key: string) =>
  new Promise<WindowPosition | undefined>((placed) => tally.count(key, placed))

test('each request of a turn has a place of its own, and each source one step', async () => {
  const steps: [string, number, number][] = []
  const store = memoryKeyValue(() => 5)
  const tally = new WindowCounter((key, by, life_ms) => {
    steps.push([key, by, life_ms])
    return store.increment(key, by, life_ms)
  }, 60_000)
  const turn = await Promise.all(['a', 'b', 'a', 'a'].map((key) => countOne(tally, key)))
  expect(turn.map((found) => found?.position)).toEqual([1, 1, 2, 3])
  expect(steps).toEqual([
    ['a', 3, 60_000],
    ['b', 1, 60_000],
  ])
  expect(await countOne(tally, 'a')).toEqual({ place: 4, left_ms: 60_000 })
})

test('a step that fails leaves none of its requests counted, and the next turn is its own', async () => {
  let isAway = true
  const tally = new WindowCounter(async (_, by) => {
    if (isAway) throw new Error('away')
    return { count: by, left_ms: 1 }
  }, 60_000)
  const turn = await Promise.all([countOne(tally, 'a'), countOne(tally, 'a'), countOne(tally, 'b')])
  expect(turn).toEqual([undefined, undefined, undefined])
  isAway = false
  expect(await countOne(tally, 'a')).toEqual({ place: 1, left_ms: 1 })
})
