// Everything that a key-value store must keep, as data: each adapter is run against all of it.
import { expect } from 'vitest'
import type { KeyValue } from '../../daemon/kernel/store/key-value.ts'

export type KeyValueFixture = {
  readonly store: KeyValue
  /** Another client of the same store; the same one where there is only one process. */
  readonly otherClient: KeyValue
  /** Resolves when so much time has gone by for the store. */
  advance(ms: number): Promise<void>
}

export type KeyValueRequirement = {
  readonly id: string
  readonly description: string
  readonly verify: (world: KeyValueFixture) => Promise<void>
}

const minute_ms = 60_000

const requirement = (id: string, says: string, holds: KeyValueRequirement['verify']): KeyValueRequirement => ({
  id: `keyvalue/${id}`,
  description: says,
  verify: holds,
})

export const keyValueRequirements: readonly KeyValueRequirement[] = [
  requirement('absent', 'a key that was never put is absent', async ({ store }) => {
    expect(await store.get('nothing')).toBeUndefined()
  }),

  requirement('exact', 'a value comes back as it was put, for every client', async ({ store, otherClient }) => {
    const value = 'naïve 😀\r\n\u0000 "quoted" $5'
    expect(await store.swap('a key: with * ? [all] \n', undefined, value, minute_ms)).toBe(true)
    expect(await otherClient.get('a key: with * ? [all] \n')).toBe(value)
    expect(await store.swap('empty', undefined, '', minute_ms)).toBe(true)
    expect(await store.get('empty')).toBe('')
  }),

  requirement('swap', 'a value gives way only to who knows it', async ({ store, otherClient }) => {
    expect(await store.swap('lock', undefined, 'mine', minute_ms)).toBe(true)
    expect(await otherClient.swap('lock', undefined, 'theirs', minute_ms)).toBe(false)
    expect(await otherClient.swap('lock', 'theirs', undefined, minute_ms)).toBe(false)
    expect(await otherClient.swap('lock', '', 'theirs', minute_ms)).toBe(false)
    expect(await store.get('lock')).toBe('mine')
    expect(await store.swap('lock', 'mine', 'still mine', minute_ms)).toBe(true)
    expect(await store.swap('lock', 'still mine', undefined, minute_ms)).toBe(true)
    expect(await store.get('lock')).toBeUndefined()
    expect(await store.swap('lock', 'still mine', 'again', minute_ms)).toBe(false)
  }),

  requirement('one-winner', 'of many who swap at once, one wins', async ({ store, otherClient }) => {
    const tries = Array.from({ length: 50 }, (_, at) =>
      (at % 2 ? store : otherClient).swap('race', undefined, `${at}`, minute_ms),
    )
    expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1)
  }),

  requirement('end', 'a value ends when its time is over, and a swap gives it new time', async (world) => {
    const { store, advance } = world
    await store.swap('short', undefined, 'a', 3_000)
    await store.swap('longer', undefined, 'a', 3_000)
    expect(await store.swap('longer', 'a', 'b', minute_ms)).toBe(true)
    await advance(3_100)
    expect(await store.get('short')).toBeUndefined()
    expect(await store.swap('short', undefined, 'c', minute_ms)).toBe(true)
    expect(await store.get('longer')).toBe('b')
  }),

  requirement('count', 'increments of many clients are all counted', async ({ store, otherClient }) => {
    const all = Array.from({ length: 100 }, (_, at) => (at % 2 ? store : otherClient).increment('hits', 1, minute_ms))
    const counts = (await Promise.all(all)).map(({ count }) => count).sort((a, b) => a - b)
    expect(counts).toEqual(Array.from({ length: 100 }, (_, at) => at + 1))
    expect(await otherClient.increment('hits', 5, minute_ms)).toMatchObject({ count: 105 })
    expect(await store.increment('hits', 0, minute_ms)).toMatchObject({ count: 105 })
    expect(await store.increment('other hits', 0, minute_ms)).toMatchObject({ count: 0 })
  }),

  requirement(
    'count-end',
    'a count lives from its first increment, and then begins anew',
    async ({ store, advance }) => {
      const first = await store.increment('window', 1, 4_000)
      expect(first.count).toBe(1)
      expect(first.left_ms).toBeGreaterThan(0)
      expect(first.left_ms).toBeLessThanOrEqual(4_000)
      await advance(500)
      const second = await store.increment('window', 1, minute_ms)
      expect(second.count).toBe(2)
      expect(second.left_ms).toBeLessThanOrEqual(3_500)
      await advance(3_600)
      expect(await store.increment('window', 1, minute_ms)).toMatchObject({ count: 1 })
    },
  ),

  requirement('health', 'it says that it is well', async ({ store }) => {
    expect(await store.health()).toMatchObject({ ok: true })
  }),
]
