// Jobs over a real cluster: leases of documents and of Redis, and seeded histories of processes that die, pause and are cut off.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest'
import { systemRandom } from '../../../adapters/host/random/system-random.ts'
import { redisKeyValue } from '../../../adapters/keyvalue/redis/redis-keyvalue.ts'
import { documentLeases } from '../../../adapters/lease/document/document-leases.ts'
import { keyValueLeases } from '../../../adapters/lease/keyvalue/keyvalue-leases.ts'
import { jobLeases, type Leases } from '../../../daemon/kernel/job/lease.ts'
import type { KeyValue } from '../../../daemon/kernel/store/key-value.ts'
import type { AnyCollection, Filter, Store } from '../../../daemon/kernel/store/store.ts'
import { leaseRequirements } from '../../conformance/leases.ts'
import { openClusterStore } from '../../conformance/opensearch-variant.ts'
import { runJobHistory } from '../../simulation/jobs/job-history.ts'
import { effects, works } from '../../simulation/jobs/work-job.ts'
import { type OpenSearch, opensearchRequirement } from '../../support/engines/opensearch.ts'
import { type Redis, redis, redisRequirement } from '../../support/engines/redis.ts'
import { sharedOpenSearch } from '../../support/engines/shared-servers.ts'
import { whenPresent } from '../../support/runner/requires.ts'
import { waitUntil } from '../../support/site/test-site.ts'

type Clock = { now(): number }

const random = systemRandom()
const hour_ms = 3_600_000
const whereBoth = whenPresent({
  isPresent: opensearchRequirement.isPresent && redisRequirement.isPresent,
  name: `${opensearchRequirement.name} and ${redisRequirement.name}`,
  hint: `${opensearchRequirement.hint}; ${redisRequirement.hint}`,
})

let cluster: OpenSearch
let server: Redis
let shared: KeyValue
let opened: ReturnType<typeof openClusterStore>
let [folder, prefix] = ['', '']

beforeAll(async () => {
  if (!opensearchRequirement.isPresent || !redisRequirement.isPresent) return
  cluster = sharedOpenSearch()
  server = await redis()
  await Promise.all([cluster.start(), server.start()])
  const { port, password } = server
  shared = redisKeyValue({
    ...{ host: '127.0.0.1', port, password, database: 0, prefix: 'jobs:', chance: () => 0.5 },
    onStateChange: () => undefined,
  })
  await waitUntil(async () => (await shared.health()).ok)
})
afterAll(async () => {
  await shared?.close()
  await server?.end()
  await cluster?.end()
})
beforeEach(() => {
  if (!cluster) return
  folder = mkdtempSync(path.join(tmpdir(), 'jobs-'))
  prefix = `jobs${randomUUID()}-`
  opened = openClusterStore(cluster.url, folder, prefix, 20_000, undefined, [works, effects, jobLeases])
})
afterEach(async () => {
  if (!cluster) return
  await opened.close()
  await cluster.request('DELETE', `/${prefix}*`)
  rmSync(folder, { recursive: true, force: true })
})

/** Redis whose values end by the clock of a history: the swaps are real, and the end of a life is part of the value. */
function timedKeyValue({ now }: Clock): Pick<KeyValue, 'swap'> {
  return {
    async swap(key, from, to, life_ms) {
      const name = `${prefix}${key}`
      const raw = await shared.get(name)
      const [value, until_ts] = raw === undefined ? [] : raw.split('\n')
      const live = Number(until_ts) > now() ? value : undefined
      if (live !== from) return false
      return await shared.swap(name, raw, to === undefined ? undefined : `${to}\n${now() + life_ms}`, hour_ms)
    },
  }
}

/** A cluster makes writes visible to searches once a second, of which simulated time knows nothing: here each count asks for it. */
function countingFresh(store: Store): Store {
  return new Proxy(store, {
    get(target, name: keyof Store) {
      if (name === 'countBy')
        return (from: AnyCollection, field: string, filter?: Filter) =>
          target.countBy(from, field, filter, { fresh: true })
      const member = target[name]
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

const leasesByKind: Readonly<Record<string, (clock: Clock) => Leases>> = {
  documents: ({ now }) => documentLeases({ store: opened.store, tenant_id: 'alpha', now, random }),
  Redis: (clock) => keyValueLeases(timedKeyValue(clock), 'test', random),
}

describe.each(Object.entries(leasesByKind))('with leases of %s', (_, open) => {
  for (const { id, description, verify } of leaseRequirements)
    whereBoth(`${id}: ${description}`, async () => {
      let now_ms = 1_000
      const clock = { now: () => now_ms }
      const advance = async (ms: number) => {
        now_ms += ms
      }
      await verify({ leases: open(clock), otherLeases: open(clock), advance })
    })

  whereBoth.for([8_001, 8_002])('history %i', { timeout: 600_000 }, async (seed) => {
    const counts = await runJobHistory({ seed, events: 25, store: countingFresh(opened.store), leases: open })
    expect(counts.completed).toBeGreaterThan(0)
    expect(counts.kills).toBeGreaterThan(0)
  })
})
