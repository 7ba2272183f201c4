// Imported keys, kept: importing costs as much as verifying, and a site meets the same few keys all day.
import { type CryptoKey, importJWK } from 'jose'
import { LRUCache } from 'lru-cache'
import { readKeyMaterial } from '../../../daemon/kernel/cryptography/public-jwk.ts'
import type { PublicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import type { StoredKey } from './key-files.ts'
import { unwrapKey } from './wrapped-key.ts'

/** More keys than a coalition pins; beyond it the one used longest ago is imported again. */
const max_cached_keys = 1_024

const cachedKeys = new LRUCache<string, Promise<CryptoKey>>({ max: max_cached_keys })

/** The key to verify with, for a record whose fingerprint is its key's; undefined for any other record. */
export async function importVerifyingKey(record: PublicKey): Promise<CryptoKey | undefined> {
  const jwk = readKeyMaterial(record)
  if (!jwk) return undefined
  return importCached(`public.${record.fingerprint}`, record.algorithm, jwk).catch(() => undefined)
}

/**
 * The key to sign with. A key under a passphrase is opened once in a process, with a prompt. Throws when the file holds
 * no private half (a revoked key), and `KeyLockedError`.
 */
export async function importSigningKey(stored: StoredKey, passphrase?: () => string | undefined): Promise<CryptoKey> {
  const { kid, algorithm, fingerprint } = stored.public_key
  const { private_jwk, private_jwe } = stored
  if (private_jwk) return importCached(`private.${fingerprint}`, algorithm, private_jwk)
  if (private_jwe === undefined) throw new Error(`${kid} has no private key in this folder`)
  return cacheKey(`private.${fingerprint}`, async () => {
    const { private_jwk: opened } = await unwrapKey(stored, passphrase?.())
    return (await importJWK({ ...opened }, algorithm)) as CryptoKey
  })
}

function importCached(name: string, algorithm: string, jwk: Readonly<Record<string, unknown>>): Promise<CryptoKey> {
  return cacheKey(name, () => importJWK({ ...jwk }, algorithm) as Promise<CryptoKey>)
}

function cacheKey(name: string, make: () => Promise<CryptoKey>): Promise<CryptoKey> {
  const known = cachedKeys.get(name)
  if (known) return known
  const key = make()
  cachedKeys.set(name, key)
  // A failure is not kept: the next passphrase may be the right one.
  key.catch(() => cachedKeys.peek(name) === key && cachedKeys.delete(name))
  return key
}
