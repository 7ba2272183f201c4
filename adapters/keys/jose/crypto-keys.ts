// Imported keys, kept: importing costs as much as verifying, and a site meets the same few keys all day.
import { type CryptoKey, importJWK } from 'jose'
import type { PublicKey } from '../../../daemon/kernel/keys.ts'
import type { StoredKey } from './key-files.ts'
import { materialOf } from './public-jwk.ts'

/** More keys than a coalition pins; beyond it the one imported first is imported again. */
const maxKept = 1_024

const kept = new Map<string, Promise<CryptoKey>>()

/** The key to verify with, for a record whose fingerprint is its key's; undefined for any other record. */
export async function verifyingKey(record: PublicKey): Promise<CryptoKey | undefined> {
  const jwk = materialOf(record)
  if (!jwk) return undefined
  return imported(`public.${record.fingerprint}`, record.algorithm, jwk).catch(() => undefined)
}

/** The key to sign with. Throws when the file holds no private half (a revoked key). */
export async function signingKey(stored: StoredKey): Promise<CryptoKey> {
  const { kid, algorithm, fingerprint } = stored.public_key
  if (!stored.private_jwk) throw new Error(`${kid} has no private key`)
  return imported(`private.${fingerprint}`, algorithm, stored.private_jwk)
}

function imported(name: string, algorithm: string, jwk: Readonly<Record<string, unknown>>): Promise<CryptoKey> {
  const known = kept.get(name)
  if (known) return known
  const oldest = kept.size >= maxKept ? kept.keys().next().value : undefined
  if (oldest !== undefined) kept.delete(oldest)
  const key = importJWK({ ...jwk }, algorithm) as Promise<CryptoKey>
  kept.set(name, key)
  return key
}
