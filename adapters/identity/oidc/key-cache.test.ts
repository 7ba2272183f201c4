// Look-ups during a key fetch: keys older than the look-up never deny it, and cause at most one more fetch.
import { expect, test } from 'vitest'
import { keyCache } from './key-cache.ts'

type ProviderKeyFixture = { readonly kid: string; readonly fingerprint: string }

/** Fetches that the test completes, in the order in which they began. */
function createKeyCache(min_interval_ms: number) {
  const fetches: PromiseWithResolvers<readonly ProviderKeyFixture[]>[] = []
  const clock = { now: 0 }
  const cache = keyCache<ProviderKeyFixture>({
    fetchKeys() {
      const fetch = Promise.withResolvers<readonly ProviderKeyFixture[]>()
      fetches.push(fetch)
      return fetch.promise
    },
    refresh_ms: 1_000,
    max_age_ms: 10_000,
    min_interval_ms,
    monotonic: () => clock.now,
  })
  return { cache, fetches, clock }
}

const namedKeys = (...kids: string[]) => kids.map((kid) => ({ kid, fingerprint: kid }))
const unavailable = { code: 'unavailable' }

test('a look-up that joins a fetch receives its keys, or a refusal with a retry time for an absent key', async () => {
  const { cache, fetches, clock } = createKeyCache(100)
  const first = cache.find('no key')
  const [old, fresh] = [cache.find('old'), cache.find('new')]
  fetches[0]?.resolve(namedKeys('old'))
  // This look-up started the fetch: the provider has no such key.
  expect(await first).toBeUndefined()
  expect(await old).toMatchObject({ kid: 'old' })
  await expect(fresh).rejects.toMatchObject({ ...unavailable, retry_after_s: 1 })
  clock.now += 100
  const again = cache.find('new')
  fetches[1]?.resolve(namedKeys('old', 'new'))
  expect(await again).toMatchObject({ kid: 'new' })
  expect(fetches).toHaveLength(2)
})

test('without a minimum interval, any number of joined look-ups cause one more fetch', async () => {
  const { cache, fetches } = createKeyCache(0)
  const first = cache.find('old')
  const fresh = cache.find('new')
  const forged = Array.from({ length: 50 }, (_, n) => cache.find(`forged-${n}`))
  fetches[0]?.resolve(namedKeys('old'))
  await first
  await expect.poll(() => fetches.length).toBe(2)
  fetches[1]?.resolve(namedKeys('old', 'new'))
  expect(await fresh).toMatchObject({ kid: 'new' })
  expect(new Set(await Promise.all(forged))).toEqual(new Set([undefined]))
  expect(fetches).toHaveLength(2)
})

test('a failed fetch refuses all waiting look-ups with a retry time', async () => {
  const { cache, fetches } = createKeyCache(100)
  const waiting = [cache.find('old'), cache.find('new')]
  fetches[0]?.reject(new Error('no connection'))
  for (const each of await Promise.allSettled(waiting)) expect(each).toMatchObject({ reason: unavailable })
  expect(fetches).toHaveLength(1)
})

test('a look-up that starts the refresh of expired keys is answered by that refresh', async () => {
  const { cache, fetches, clock } = createKeyCache(100)
  const first = cache.find('old')
  fetches[0]?.resolve(namedKeys('old'))
  await first
  clock.now += 1_000
  const lookUp = cache.find('new')
  fetches[1]?.resolve(namedKeys('old'))
  expect(await lookUp).toBeUndefined()
  expect(fetches).toHaveLength(2)
})
