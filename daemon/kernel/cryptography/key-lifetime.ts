// Whether keys were in force when they signed: the one rule for statements, evidence and contributions.
import type { PublicKey } from './signatures.ts'

/** Whether every key signed what was created at this instant (RFC 3339) before its own expiry. */
export function isSignedInKeyLifetime(created: string, keys: readonly Pick<PublicKey, 'not_after'>[]): boolean {
  const created_ms = Date.parse(created)
  return keys.every(({ not_after }) => not_after === undefined || created_ms <= Date.parse(not_after))
}
