// Runs each adapter of leases against each requirement; test/engines/redis runs them on Redis, test/engines/opensearch on a cluster.
import { describe, test } from 'vitest'
import { systemRandom } from '../../adapters/host/random/system-random.ts'
import { memoryKeyValue } from '../../adapters/keyvalue/memory/memory-keyvalue.ts'
import { documentLeases } from '../../adapters/lease/document/document-leases.ts'
import { keyValueLeases } from '../../adapters/lease/keyvalue/keyvalue-leases.ts'
import { jobLeases } from '../../daemon/kernel/job/lease.ts'
import { openTemporaryStore } from '../support/store/open-temporary-store.ts'
import { type LeaseFixture, leaseRequirements } from './leases.ts'

const random = systemRandom()

function simulateTime() {
  let now_ms = 1_000
  return {
    now: () => now_ms,
    async advance(ms: number) {
      now_ms += ms
    },
  }
}

const variants: Readonly<Record<string, () => LeaseFixture>> = {
  'documents in SQLite': () => {
    const { now, advance } = simulateTime()
    const { store } = openTemporaryStore(jobLeases)
    const open = () => documentLeases({ store, tenant_id: 'site', now, random })
    return { leases: open(), otherLeases: open(), advance }
  },
  'key-value store in memory': () => {
    const { now, advance } = simulateTime()
    const keyValue = memoryKeyValue(now)
    const open = () => keyValueLeases(keyValue, 'resolution', random)
    return { leases: open(), otherLeases: open(), advance }
  },
}

for (const [name, open] of Object.entries(variants))
  describe(name, () => {
    for (const { id, description, verify } of leaseRequirements) test(`${id}: ${description}`, () => verify(open()))
  })
