// The queue is bounded, keeps its order, and counts exactly.
import { expect, test } from 'vitest'
import { type EntryOffer, max_queue_bytes, ObservationQueue } from './queue.ts'

const offerOf = (service: string, bytes = 1, now = 0) =>
  ({ entry: { kind: 'observation', observation: { service } }, service, bytes, now }) as unknown as EntryOffer

test('beyond its bound every entry is dropped and counted', () => {
  const queue = new ObservationQueue(10)
  const taken = Array.from({ length: 25 }, (_, at) => queue.offer(offerOf(at % 2 ? 'maps' : 'charts')))
  expect(taken.filter(Boolean)).toHaveLength(10)
  expect(Object.fromEntries(queue.counts)).toEqual({
    charts: { accepted: 5, dropped: 8 },
    maps: { accepted: 5, dropped: 7 },
  })
  expect(queue.depth).toBe(10)
})

test('what is taken makes room, and the order is kept over many rounds', () => {
  const queue = new ObservationQueue(3_000)
  const seen: number[] = []
  let next = 0
  for (let round = 0; round < 50; round++) {
    for (let at = 0; at < 100; at++) expect(queue.offer(offerOf('maps', 2, next++))).toBe(true)
    seen.push(...queue.take(90).map(({ now }) => now))
  }
  for (let batch = queue.take(90); batch.length > 0; batch = queue.take(90)) seen.push(...batch.map(({ now }) => now))
  expect(seen).toEqual(Array.from({ length: 5_000 }, (_, at) => at))
  expect([queue.depth, queue.bytes]).toEqual([0, 0])
})

test('a batch is bounded by its bytes, and has one entry at least', () => {
  const queue = new ObservationQueue(100)
  for (const bytes of [50, 50, 1, 500, 500]) queue.offer(offerOf('maps', bytes))
  const sizes = () => queue.take(4, 100).map(({ bytes }) => bytes)
  expect([sizes(), sizes(), sizes(), sizes(), sizes()]).toEqual([[50, 50], [1], [500], [500], []])
  expect([queue.depth, queue.bytes]).toEqual([0, 0])
})

test('its bytes are bounded too', () => {
  const queue = new ObservationQueue(100)
  expect([1, 2, 3].map(() => queue.offer(offerOf('maps', max_queue_bytes / 2)))).toEqual([true, true, false])
  queue.take(1)
  expect(queue.offer(offerOf('maps', 1))).toBe(true)
})
