// Key sets in one line: a site's root and message keys, its versions, and signatures by whomever a test names.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { signWithKeys, verifyJws } from '../../adapters/keys/jose/signatures.ts'
import {
  digestKeySet,
  encodeKeySet,
  type KeySet,
  no_key_set,
  parseKeySet,
} from '../../daemon/kernel/cryptography/key-set.ts'
import type { Jws, KeyAlgorithm, PublicKey } from '../../daemon/kernel/cryptography/signatures.ts'
import { followKeySets, type PinnedKeySet } from '../../daemon/shared/key-set/key-succession.ts'
import { createKey, noon } from './key-fixture.ts'

export const day_ms = 86_400_000
export const formatDay = (day: number) => new Date(noon + day * day_ms).toISOString()

export type KeyAlgorithmCase = { readonly name: string; readonly algorithms: readonly KeyAlgorithm[] }

/** Every algorithm alone, and two that must both sign. */
export const keyAlgorithmCases: readonly KeyAlgorithmCase[] = [
  { name: 'Ed25519', algorithms: ['Ed25519'] },
  { name: 'ES384', algorithms: ['ES384'] },
  { name: 'ML-DSA-87', algorithms: ['ML-DSA-87'] },
  { name: 'Ed25519 and ML-DSA-87, both needed', algorithms: ['Ed25519', 'ML-DSA-87'] },
]

/** A key that lies nowhere. */
export async function createUnstoredKey(
  use: PublicKey['use'] = 'message',
  algorithm: KeyAlgorithm = 'Ed25519',
): Promise<StoredKey> {
  const dir = mkdtempSync(join(tmpdir(), 'platform-keys-'))
  try {
    return await createKey(dir, use, algorithm)
  } finally {
    rmSync(dir, { recursive: true })
  }
}

export async function createKeys({ algorithms }: KeyAlgorithmCase, use: 'message' | 'root'): Promise<StoredKey[]> {
  return await Promise.all(algorithms.map((algorithm) => createUnstoredKey(use, algorithm)))
}

export const changeKey = (key: StoredKey, change: Partial<PublicKey>): StoredKey => ({
  ...key,
  public_key: { ...key.public_key, ...change },
})
export const revokeKey = (key: StoredKey) => changeKey(key, { status: 'revoked' })

/** The version after `last` with these keys; every root key of it signs by default. */
export function buildNextKeySet(last: Jws | undefined, keys: readonly StoredKey[], more: Partial<KeySet> = {}): KeySet {
  const before = last && parseKeySet(last)
  const version = (before?.version ?? 0) + 1
  const roots = keys.filter(({ public_key: { use, status } }) => use === 'root' && status === 'active').length
  return {
    v: 1,
    type: 'platform.keyset',
    site: 'bravo',
    tenant_id: 'tenant-b',
    version,
    previous: last ? digestKeySet(last) : no_key_set.digest,
    created: formatDay(version),
    thresholds: { message: 1, root: Math.max(1, roots) },
    keys: keys.map(({ public_key }) => public_key as KeySet['keys'][number]),
    ...more,
  }
}

export async function signKeySet(set: KeySet, by: readonly StoredKey[]): Promise<Jws> {
  return await signWithKeys(by, 'keyset', encodeKeySet(set))
}

/** The record that people confirm before the first key set. */
export function pinByHand(keys: readonly StoredKey[], root_threshold: number): PinnedKeySet {
  const all = keys.map(({ public_key }) => public_key)
  return { ...no_key_set, site: 'bravo', tenant_id: 'tenant-b', root_threshold, keys: all, revoked: [] }
}

export async function followChain(pinned: PinnedKeySet, chain: readonly Jws[], earliest?: number) {
  return await followKeySets(pinned, chain, { signatures: { verify: verifyJws }, earliest })
}

/** The version that is pinned after it, or why nothing changed; `fork` when a person must look. */
export async function describeSuccession(
  pinned: PinnedKeySet,
  chain: readonly Jws[],
  earliest?: number,
): Promise<number | string> {
  const found = await followChain(pinned, chain, earliest)
  if ('pinned' in found) return found.pinned.version
  return found.forked ? 'fork' : found.refusal.code
}
