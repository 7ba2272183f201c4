// Keeps the public list of token keys in step with the private ones, and finds the key that a signer may use.
import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { StoredKey } from '../../../adapters/keys/jose/key-files.ts'
import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { readTokenKeys, type TokenKey, tokenKey, writeTokenKeys } from '../../../adapters/keys/jose/token-keys.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import { identityLockFile, type SiteFolder, tokenKeysFile } from '../storage/site-folder.ts'
import { waitForLock } from '../storage/wait-for-lock.ts'

/** Subject of the service identity of a role. */
export function roleSubject(role: string): string {
  return `role:${role}`
}

/** The list as it is; empty where there is none. Throws `Refusal('unavailable')` for one that cannot be read. */
export function readListedKeys(folder: SiteFolder): TokenKey[] {
  const file = tokenKeysFile(folder)
  return existsSync(file) ? readTokenKeys(file) : []
}

/**
 * Changes the list, and brings it up to what the key folder says: an earlier change may have been cut short between
 * the two. The keys of roles stand in the list alone, since nobody else can read their private halves. Durable when it
 * resolves. Throws `Refusal('conflict')` while another process is at it for longer than a few seconds.
 */
export async function updateKeyList(folder: SiteFolder, change: (listed: readonly TokenKey[]) => readonly TokenKey[]) {
  await withIdentityLock(folder, async () => {
    const listed = readListedKeys(folder)
    const wanted = mergeWithKeyFolder(folder, change(listed))
    if (!isDeepStrictEqual(wanted, listed)) writeTokenKeys(tokenKeysFile(folder), wanted)
  })
}

const timeout_ms = 5_000

/**
 * Keeps every other process from changing what the site trusts meanwhile. Throws `Refusal('conflict')` while another one
 * does for longer than a few seconds.
 */
export async function withIdentityLock<T>(folder: SiteFolder, act: () => Promise<T>): Promise<T> {
  const otherwise = 'another process is changing the keys'
  const lock = await waitForLock(folder, identityLockFile(folder), { timeout_ms, refusal_message: otherwise })
  try {
    return await act()
  } finally {
    lock.release()
  }
}

/** Repairs the list without another change; takes no lock when nothing is to be repaired. */
export async function repairKeyList(folder: SiteFolder): Promise<void> {
  const listed = readListedKeys(folder)
  if (!isDeepStrictEqual(mergeWithKeyFolder(folder, listed), listed)) await updateKeyList(folder, (latest) => latest)
}

/** A key that the list marks as revoked is revoked, also where its file differs: the list changes first. */
function mergeWithKeyFolder(folder: SiteFolder, listed: readonly TokenKey[]): TokenKey[] {
  const revoked = new Set(listed.filter(({ status }) => status === 'revoked').map(({ fingerprint }) => fingerprint))
  const own = listKeys(folder.keys).filter(({ use }) => use === 'token')
  const current = own.map((key) => tokenKey.parse(revoked.has(key.fingerprint) ? { ...key, status: 'revoked' } : key))
  return [...current, ...listed.filter(({ only_subject }) => only_subject !== undefined)]
}

/**
 * The newest private key whose public half is listed as active: for the site's own tokens, or with `subject` for those
 * of that role. A key that verifiers do not know of yet, or any more, signs nothing.
 */
export function findSigner(
  stored: readonly StoredKey[],
  listed: readonly TokenKey[],
  subject?: string,
): StoredKey | undefined {
  const active = listed.filter(({ status, only_subject }) => status === 'active' && only_subject === subject)
  const usable = new Set(active.map(({ fingerprint }) => fingerprint))
  const canSign = ({ status, fingerprint }: PublicKey) => status === 'active' && usable.has(fingerprint)
  return stored.findLast((key) => (key.private_jwk ?? key.private_jwe) !== undefined && canSign(key.public_key))
}
