// The key-value store on a real Redis: the requirements, TLS and password, and a server that dies and comes back.
import { setTimeout as passing } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { systemRandom } from '../../../adapters/host/random/system-random.ts'
import { type RedisOptions, redisKeyValue } from '../../../adapters/keyvalue/redis/redis-keyvalue.ts'
import { keyValueLeases } from '../../../adapters/lease/keyvalue/keyvalue-leases.ts'
import type { KeyValue } from '../../../daemon/kernel/store/key-value.ts'
import { keyValueRequirements } from '../../conformance/keyvalue.ts'
import { leaseRequirements } from '../../conformance/leases.ts'
import { type Redis, redis, redisRequirement } from '../../support/engines/redis.ts'
import { issueServerCertificates } from '../../support/engines/server-certificates.ts'
import { whenPresent } from '../../support/runner/requires.ts'

const test = whenPresent(redisRequirement)
const minute = 60_000

let server: Redis
const clients: KeyValue[] = []
const reportedStates: string[] = []

function createClient(to: Redis, more: Partial<RedisOptions> = {}): KeyValue {
  const { port, password } = to
  const client = redisKeyValue({
    ...{ host: '127.0.0.1', port, password, database: 0, prefix: `test-${clients.length}:`, chance: () => 0.5 },
    onStateChange: (state, detail) => void reportedStates.push(`${state} ${detail}`),
    ...more,
  })
  clients.push(client)
  return client
}

async function waitUntilReady(client: KeyValue): Promise<KeyValue> {
  await expect.poll(async () => (await client.health()).ok, { timeout: 60_000 }).toBe(true)
  return client
}

beforeAll(async () => {
  if (!redisRequirement.isPresent) return
  server = await redis()
  await server.start()
})
afterAll(async () => {
  for (const client of clients) await client.close()
  await server?.end()
})

describe('requirements', () => {
  for (const { id, description, verify } of keyValueRequirements) {
    test(`${id}: ${description}`, async () => {
      const prefix = `${id}:`
      const [store, other] = await Promise.all([
        waitUntilReady(createClient(server, { prefix })),
        waitUntilReady(createClient(server, { prefix })),
      ])
      await verify({ store, otherClient: other, advance: (ms) => passing(ms) })
    })
  }
})

describe('leases', () => {
  for (const { id, description, verify } of leaseRequirements) {
    test(`${id}: ${description}`, async () => {
      const open = async () => {
        const client = await waitUntilReady(createClient(server, { prefix: `${id}:` }))
        return keyValueLeases(client, 'resolution', systemRandom())
      }
      await verify({ leases: await open(), otherLeases: await open(), advance: (ms) => passing(ms) })
    })
  }
})

test('prefix and database keep sites apart', async () => {
  const one = await waitUntilReady(createClient(server, { prefix: 'one:' }))
  const two = await waitUntilReady(createClient(server, { prefix: 'two:' }))
  const elsewhere = await waitUntilReady(createClient(server, { prefix: 'one:', database: 1 }))
  await one.swap('key', undefined, 'mine', minute)
  expect(await two.get('key')).toBeUndefined()
  expect(await elsewhere.get('key')).toBeUndefined()
})

test('reports a value that is not a count, leaves it alone, and completes the others of its tick', async () => {
  const store = await waitUntilReady(createClient(server))
  await store.swap('text', undefined, 'no number', minute)
  const others = Array.from({ length: 300 }, (_, at) => store.increment(`count-${at % 200}`, 2, minute))
  await expect(store.increment('text', 1, minute)).rejects.toMatchObject({ code: 'unavailable' })
  expect((await Promise.all(others)).map(({ count }) => count)).toEqual(
    Array.from({ length: 300 }, (_, at) => (at < 200 ? 2 : 4)),
  )
  expect(await store.get('text')).toBe('no number')
})

test('a wrong password is refused, and appears nowhere', async () => {
  const store = createClient(server, { password: 'a-wrong-password' })
  await expect.poll(async () => (await store.health()).detail).toContain('password')
  const error = await store.get('key').catch((refused: unknown) => refused)
  expect(error).toMatchObject({ code: 'unavailable' })
  expect(JSON.stringify([error, String(error), reportedStates])).not.toContain('a-wrong-password')
})

test('a server that dies takes nothing with it that it had acknowledged', async () => {
  const store = await waitUntilReady(createClient(server))
  let counted = 0
  let isOver = false
  const load = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      const done = await store.increment('load', 1, 10 * minute).catch(() => undefined)
      if (done) counted += 1
      else await expect.poll(async () => (await store.health()).ok || isOver, { timeout: 60_000 }).toBe(true)
    }
  })
  await expect.poll(() => counted).toBeGreaterThan(200)
  await server.kill()
  const error = await store.get('load').catch((refused: unknown) => refused)
  expect(error).toMatchObject({ code: 'unavailable', retry_after_s: 1 })
  expect((await store.health()).ok).toBe(false)
  await server.start()
  const before = counted
  await expect.poll(() => counted, { timeout: 60_000 }).toBeGreaterThan(before + 200)
  isOver = true
  await Promise.all(load)
  const { count } = await store.increment('load', 1, minute)
  // An increment whose answer was lost may have been made.
  expect(count - 1).toBeGreaterThanOrEqual(counted)
  expect(count - 1).toBeLessThanOrEqual(counted + load.length)
  expect(reportedStates.some((line) => line.startsWith('lost'))).toBe(true)
})

test('gives up a silent server in time, and uses it again when it answers', async () => {
  const silent = await redis()
  await silent.start()
  try {
    const store = await waitUntilReady(createClient(silent))
    await store.increment('load', 1, minute)
    silent.freeze()
    const increments = Array.from({ length: 3 }, () => store.increment('load', 1, minute))
    for (const each of increments) await expect(each).rejects.toMatchObject({ code: 'unavailable' })
    expect((await store.health()).ok).toBe(false)
    silent.thaw()
    await waitUntilReady(store)
    // A silent server may have performed its requests.
    const { count } = await store.increment('load', 1, minute)
    expect([2, 3, 4, 5]).toContain(count)
  } finally {
    silent.thaw()
    await silent.end()
  }
})

test('TLS is verified: by the authority that is named, and by no other', async () => {
  const files = issueServerCertificates('server')
  const certificate = files.of('server')
  const safe = await redis(certificate)
  await safe.start()
  try {
    const store = await waitUntilReady(createClient(safe, { tls: { ca_file: certificate.ca } }))
    expect(await store.increment('hits', 1, minute)).toMatchObject({ count: 1 })
    const unverified = createClient(safe, { tls: {} })
    const plain = createClient(safe)
    await expect.poll(() => reportedStates.some((line) => /SELF_SIGNED|UNABLE_TO/.test(line))).toBe(true)
    for (const each of [unverified, plain]) expect((await each.health()).ok).toBe(false)
  } finally {
    await safe.end()
    files.dispose()
  }
})
