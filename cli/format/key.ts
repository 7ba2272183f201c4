// Keys as people read and compare them, with how long they have been used and still may be.
import type { PublicKey } from '../../daemon/kernel/cryptography/signatures.ts'

export const keyColumns = [
  ...['kid', 'use', 'algorithm', 'status', 'created', 'age_days', 'not_after', 'days_left', 'role', 'fingerprint'],
]

/** Those that `keys generate` makes; an authority comes with its certificate, by `keys ca init`. */
export const keyUses: readonly PublicKey['use'][] = ['message', 'token', 'personal', 'root']

const day_ms = 86_400_000

export type KeyWithAge<K> = K & { readonly age_days: number; readonly days_left?: number }

/** Whole days; none are left of a key that ends today. Without `days_left`: it has no end, or has come to one already. */
export function addKeyAge<K extends PublicKey>(keys: readonly K[], now: number): KeyWithAge<K>[] {
  const days = (from: number, to: number) => Math.max(0, Math.floor((to - from) / day_ms))
  return keys.map((key) => ({
    ...key,
    age_days: days(Date.parse(key.created), now),
    ...(key.status !== 'active' || key.not_after === undefined
      ? {}
      : { days_left: days(now, Date.parse(key.not_after)) }),
  }))
}
