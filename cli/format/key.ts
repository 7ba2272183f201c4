// Columns of keys, for people to read and compare, with age and days left.
import type { PublicKey } from '../../daemon/kernel/cryptography/signatures.ts'

export const keyColumns = [
  ...['kid', 'use', 'algorithm', 'status', 'created', 'age_days', 'not_after', 'days_left', 'role', 'fingerprint'],
]

/** Uses that `keys generate` supports; `keys ca init` makes the key of an authority with its certificate. */
export const keyUses: readonly PublicKey['use'][] = ['message', 'token', 'personal', 'root']

const day_ms = 86_400_000

export type KeyWithAge<K> = K & { readonly age_days: number; readonly days_left?: number }

/** Adds age and days left, in whole days: 0 for a key that ends today. No `days_left`: it has no end, or has ended. */
export function addKeyAge<K extends Pick<PublicKey, 'created' | 'status' | 'not_after'>>(
  keys: readonly K[],
  now: number,
): KeyWithAge<K>[] {
  const countDays = (start: number, end: number) => Math.max(0, Math.floor((end - start) / day_ms))
  return keys.map((key) => ({
    ...key,
    age_days: countDays(Date.parse(key.created), now),
    ...(key.status !== 'active' || key.not_after === undefined
      ? {}
      : { days_left: countDays(now, Date.parse(key.not_after)) }),
  }))
}
