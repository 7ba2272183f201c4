// Key sets in one line: a site's root and message keys, its versions, and signatures by whomever a test names.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { signWith, verifyJws } from '../../adapters/keys/jose/signatures.ts'
import { digestOf, type KeySet, keySetIn, no_key_set, payloadOf } from '../../daemon/kernel/key-set.ts'
import { follow, type Pinned } from '../../daemon/kernel/key-succession.ts'
import type { Jws, KeyAlgorithm, PublicKey } from '../../daemon/kernel/keys.ts'
import { newKey, noon } from './key-world.ts'

export const day_ms = 86_400_000
export const onDay = (day: number) => new Date(noon + day * day_ms).toISOString()

export type Kind = { readonly name: string; readonly algorithms: readonly KeyAlgorithm[] }

/** Every algorithm alone, and two that must both sign. */
export const kinds: readonly Kind[] = [
  { name: 'Ed25519', algorithms: ['Ed25519'] },
  { name: 'ES384', algorithms: ['ES384'] },
  { name: 'ML-DSA-87', algorithms: ['ML-DSA-87'] },
  { name: 'Ed25519 and ML-DSA-87, both needed', algorithms: ['Ed25519', 'ML-DSA-87'] },
]

/** A key that lies nowhere. */
export async function aKey(use: PublicKey['use'] = 'message', algorithm: KeyAlgorithm = 'Ed25519'): Promise<StoredKey> {
  const dir = mkdtempSync(join(tmpdir(), 'platform-keys-'))
  try {
    return await newKey(dir, use, algorithm)
  } finally {
    rmSync(dir, { recursive: true })
  }
}

export async function keysOf({ algorithms }: Kind, use: 'message' | 'root'): Promise<StoredKey[]> {
  return await Promise.all(algorithms.map((algorithm) => aKey(use, algorithm)))
}

export const as = (key: StoredKey, change: Partial<PublicKey>): StoredKey => ({
  ...key,
  public_key: { ...key.public_key, ...change },
})
export const revoked = (key: StoredKey) => as(key, { status: 'revoked' })

/** The version after `last` with these keys; every root key there is must sign unless told otherwise. */
export function setAfter(last: Jws | undefined, keys: readonly StoredKey[], more: Partial<KeySet> = {}): KeySet {
  const before = last && keySetIn(last)
  const version = (before?.version ?? 0) + 1
  const roots = keys.filter(({ public_key: { use, status } }) => use === 'root' && status === 'active').length
  return {
    v: 1,
    type: 'platform.keyset',
    site: 'bravo',
    tenant_id: 'tenant-b',
    version,
    previous: last ? digestOf(last) : no_key_set.digest,
    created: onDay(version),
    thresholds: { message: 1, root: Math.max(1, roots) },
    keys: keys.map(({ public_key }) => public_key as KeySet['keys'][number]),
    ...more,
  }
}

export async function signed(set: KeySet, by: readonly StoredKey[]): Promise<Jws> {
  return await signWith(by, 'keyset', payloadOf(set))
}

/** What people confirm when there is no set yet. */
export function pinnedByHand(keys: readonly StoredKey[], root_threshold: number): Pinned {
  const all = keys.map(({ public_key }) => public_key)
  return { ...no_key_set, site: 'bravo', tenant_id: 'tenant-b', root_threshold, keys: all, revoked: [] }
}

export async function following(pinned: Pinned, chain: readonly Jws[], earliest?: number) {
  return await follow(pinned, chain, { signatures: { verify: verifyJws }, earliest })
}

/** The version that is pinned after it, or why nothing changed; `fork` when a person must look. */
export async function outcome(pinned: Pinned, chain: readonly Jws[], earliest?: number): Promise<number | string> {
  const found = await following(pinned, chain, earliest)
  if ('pinned' in found) return found.pinned.version
  return found.forked ? 'fork' : found.refused.code
}
