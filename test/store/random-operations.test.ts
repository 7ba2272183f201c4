// Replays random operations against the embedded store and against a map in memory: the answers must be the same.
import { expect, test } from 'vitest'
import { replayHistories } from '../conformance/random-operations.ts'
import { storeVariants } from '../conformance/store-variants.ts'

test.each(storeVariants)(
  'random operations on $name are answered as a map in memory answers them',
  async ({ open }) => {
    await replayHistories(open, { seed: 20260301, runs: 60, length: 60 })
    expect.hasAssertions()
  },
)
