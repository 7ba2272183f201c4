// Runs the embedded key-value store against each requirement; Redis is run by test/engines/redis.
import { describe, expect, test } from 'vitest'
import { memoryKeyValue } from '../../adapters/keyvalue/memory/memory-keyvalue.ts'
import { keyValueRequirements } from './keyvalue.ts'

describe('memory', () => {
  for (const { id, description, verify } of keyValueRequirements) {
    test(`${id}: ${description}`, async () => {
      let now = 1_000
      const store = memoryKeyValue(() => now)
      const pass = async (ms: number) => {
        now += ms
      }
      await verify({ store, otherClient: store, advance: pass })
    })
  }

  test('takes only so many values, and takes new ones when old ones have ended', async () => {
    let now = 0
    const store = memoryKeyValue(() => now)
    for (let at = 0; at < 100_000; at += 1) await store.increment(`key-${at}`, 1, at < 10 ? 10 : 60_000)
    await expect(store.swap('one more', undefined, 'x', 10)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await store.increment('key-5', 1, 10)).toMatchObject({ count: 2 })
    expect(await store.swap('key-6', '1', undefined, 10)).toBe(true)
    expect(await store.increment('key-6', 1, 10)).toMatchObject({ count: 1 })
    // Within a second.
    now = 1_000
    expect(await store.swap('one more', undefined, 'x', 10)).toBe(true)
  })
})
