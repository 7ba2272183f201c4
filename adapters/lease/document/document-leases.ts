// Leases in the document store: one document for each lease, taken and renewed by compare-and-swap.
import { jobLeases, type Lease, type Leases } from '../../../daemon/kernel/job/lease.ts'
import type { Store } from '../../../daemon/kernel/store/store.ts'

/** Time until the document of a lease that ended without release is removed. */
const keep_ms = 86_400_000

export type DocumentLeaseOptions = {
  readonly store: Pick<Store, 'create' | 'update' | 'get' | 'remove'>
  /** The tenant of the site, to which the documents belong. */
  readonly tenant_id: string
  /** Epoch milliseconds; processes that share leases need clocks that agree within a few seconds. */
  readonly now: () => number
  readonly random: (bytes: number) => string
}

export function documentLeases({ store, tenant_id, now, random }: DocumentLeaseOptions): Leases {
  const buildLease = (holder: string, life_ms: number) => ({
    ...{ tenant_id, holder, until_ts: now() + life_ms },
    expires_ts: now() + life_ms + keep_ms,
  })
  return {
    async take(key, life_ms) {
      const lease: Lease = { key, holder: random(16) }
      const value = buildLease(lease.holder, life_ms)
      if ((await store.create(jobLeases, key, value)) !== 'exists') return lease
      const taken = await store.update(jobLeases, key, (current) =>
        current.value.until_ts > now() ? { answer: false } : { next: buildLease(lease.holder, life_ms), answer: true },
      )
      // A lease that was released meanwhile is free for the next attempt.
      return taken !== 'missing' && taken.answer ? lease : undefined
    },
    async renew({ key, holder }, life_ms) {
      const renewed = await store.update(jobLeases, key, ({ value }) =>
        value.holder === holder ? { next: buildLease(holder, life_ms), answer: true } : { answer: false },
      )
      return renewed !== 'missing' && renewed.answer
    },
    async release({ key, holder }) {
      const doc = await store.get(jobLeases, key)
      if (doc?.value.holder === holder) await store.remove(jobLeases, key, doc.version)
    },
  }
}
