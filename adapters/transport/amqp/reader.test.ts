// What a reader lets the broker hand over: much where messages are small, and no more memory where they are large.
import { expect, test } from 'vitest'
import { maxMessageBytes } from './message.ts'
import { prefetchCount } from './reader.ts'

const default_limits = { envelope_bytes: 65_536, body_bytes: 4_194_304 }

test('all peers together fill 40 MiB at most, with one message of each at least', () => {
  expect([1, 2, 4, 15, 16, 100].map((peers) => prefetchCount(default_limits, peers))).toEqual([9, 4, 2, 1, 1, 1])
  for (const peers of [1, 2, 4, 9]) {
    expect(prefetchCount(default_limits, peers) * peers * maxMessageBytes(default_limits)).toBeLessThanOrEqual(
      41_943_040,
    )
  }
})

test('where messages are small, 64 are read at once', () => {
  expect(prefetchCount({ envelope_bytes: 65_536, body_bytes: 65_536 }, 4)).toBe(64)
})
