// The prefetch count of a reader: high for small messages, bounded by memory for large ones.
import { expect, test } from 'vitest'
import { maxMessageBytes } from './message.ts'
import { prefetchCount } from './reader.ts'

const default_limits = { envelope_bytes: 65_536, body_bytes: 4_194_304 }

test('the messages of all peers fit in 40 MiB, with at least one message each', () => {
  expect([1, 2, 4, 15, 16, 100].map((peers) => prefetchCount(default_limits, peers))).toEqual([9, 4, 2, 1, 1, 1])
  for (const peers of [1, 2, 4, 9]) {
    expect(prefetchCount(default_limits, peers) * peers * maxMessageBytes(default_limits)).toBeLessThanOrEqual(
      41_943_040,
    )
  }
})

test('for small messages the prefetch count is 64', () => {
  expect(prefetchCount({ envelope_bytes: 65_536, body_bytes: 65_536 }, 4)).toBe(64)
})
