// Leases in a key-value store: one value for each lease, with the life that the store gives it.
import type { Lease, Leases } from '../../../daemon/kernel/job/lease.ts'
import type { KeyValue } from '../../../daemon/kernel/store/key-value.ts'

/** `role`: separates the leases of roles that share the store. `random`: bytes as hexadecimal. */
export function keyValueLeases(
  keyValue: Pick<KeyValue, 'swap'>,
  role: string,
  random: (bytes: number) => string,
): Leases {
  const nameOf = (key: string) => `lease/${role}/${key}`
  return {
    async take(key, life_ms) {
      const lease: Lease = { key, holder: random(16) }
      return (await keyValue.swap(nameOf(key), undefined, lease.holder, life_ms)) ? lease : undefined
    },
    renew: ({ key, holder }, life_ms) => keyValue.swap(nameOf(key), holder, holder, life_ms),
    async release({ key, holder }) {
      await keyValue.swap(nameOf(key), holder, undefined, 0)
    },
  }
}
