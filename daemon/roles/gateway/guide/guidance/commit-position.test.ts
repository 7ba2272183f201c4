// A reader of the feed has every record once, also one that appears late, and remembers a bounded number of them.
import { expect, test } from 'vitest'
import { CommitPosition, formatPosition, parsePosition } from './commit-position.ts'

const start = { value: 10_000, id: '' }

test('a record that appears behind a later one is read, once', () => {
  const position = new CommitPosition(start)
  expect(position.take({ value: 12_000, id: 'b' })).toBe(true)
  expect(position.nextStart(20_000)).toEqual(start)
  expect(position.take({ value: 11_000, id: 'a' })).toBe(true)
  expect([position.take({ value: 11_000, id: 'a' }), position.take({ value: 12_000, id: 'b' })]).toEqual([false, false])
})

test('records before the overlap are not read again', () => {
  const position = new CommitPosition(start)
  for (const value of [11_000, 12_000, 16_500]) position.take({ value, id: 'a' })
  expect(position.nextStart(20_000)).toEqual({ value: 11_000, id: 'a' })
  expect(position.take({ value: 12_000, id: 'a' })).toBe(false)
})

test('of very many records within the overlap, the oldest are forgotten', () => {
  const position = new CommitPosition(start)
  for (let at = 0; at < 1_500; at += 1) position.take({ value: 11_000 + at, id: 'a' })
  expect(position.nextStart(20_000)).toEqual({ value: 11_499, id: 'a' })
})

test('a record from a clock that was ahead keeps no later one from being read', () => {
  const position = new CommitPosition(start)
  expect(position.take({ value: 900_000, id: 'ahead' })).toBe(true)
  expect(position.nextStart(12_000)).toEqual(start)
  expect([position.take({ value: 12_500, id: 'a' }), position.take({ value: 900_000, id: 'ahead' })]).toEqual([
    true,
    false,
  ])
})

test('ids of events are places, and other ids are none', () => {
  const place = { value: 17, id: 'artifact_1.2' }
  expect(parsePosition(formatPosition(place))).toEqual(place)
  expect(parsePosition(formatPosition(start))).toEqual(start)
  for (const other of [undefined, '', '17', 'x.y', `17.${'a'.repeat(301)}`])
    expect(parsePosition(other)).toBeUndefined()
})
