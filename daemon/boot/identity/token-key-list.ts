// Keeps the public list of token keys consistent with the private keys, and finds the key of a signer.
import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { StoredKey } from '../../../adapters/keys/jose/key-files.ts'
import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { readTokenKeys, type TokenKey, tokenKey, writeTokenKeys } from '../../../adapters/keys/jose/token-keys.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import { identityLockFile, type SiteFolder, tokenKeysFile } from '../storage/site-folder.ts'
import { waitForLock } from '../storage/wait-for-lock.ts'

/** Subject of a role's tokens. */
export function roleSubject(role: string): string {
  return `role:${role}`
}

/** The current list; empty if it does not exist. Throws `Refusal('unavailable')` if it cannot be read. */
export function readListedKeys(folder: SiteFolder): TokenKey[] {
  const file = tokenKeysFile(folder)
  return existsSync(file) ? readTokenKeys(file) : []
}

/**
 * Changes the list and merges it with the key folder, since an earlier change may have stopped between the two. Keys of
 * roles are only in the list, since only the role can read the private half. Durable once it resolves. Throws
 * `Refusal('conflict')` if another process holds the lock for more than a few seconds.
 */
export async function updateKeyList(folder: SiteFolder, change: (listed: readonly TokenKey[]) => readonly TokenKey[]) {
  await withIdentityLock(folder, async () => {
    const listed = readListedKeys(folder)
    const updated = mergeWithKeyFolder(folder, change(listed))
    if (!isDeepStrictEqual(updated, listed)) writeTokenKeys(tokenKeysFile(folder), updated)
  })
}

const timeout_ms = 5_000

/**
 * Runs the action while no other process can change the keys that the site trusts. Throws `Refusal('conflict')` if another
 * process holds the lock for more than a few seconds.
 */
export async function withIdentityLock<T>(folder: SiteFolder, action: () => Promise<T>): Promise<T> {
  const refusal_message = 'another process is changing the keys'
  const lock = await waitForLock(folder, identityLockFile(folder), { timeout_ms, refusal_message })
  try {
    return await action()
  } finally {
    lock.release()
  }
}

/** Merges the list with the key folder; takes the lock only if they differ. */
export async function repairKeyList(folder: SiteFolder): Promise<void> {
  const listed = readListedKeys(folder)
  if (!isDeepStrictEqual(mergeWithKeyFolder(folder, listed), listed)) await updateKeyList(folder, (latest) => latest)
}

/** A key that the list revokes is revoked whatever its file says, since a revocation updates the list first. */
function mergeWithKeyFolder(folder: SiteFolder, listed: readonly TokenKey[]): TokenKey[] {
  const revokedFingerprints = new Set(
    listed.filter(({ status }) => status === 'revoked').map(({ fingerprint }) => fingerprint),
  )
  const siteKeys = listKeys(folder.keys).filter(({ use }) => use === 'token')
  const current = siteKeys.map((key) =>
    tokenKey.parse(revokedFingerprints.has(key.fingerprint) ? { ...key, status: 'revoked' } : key),
  )
  return [...current, ...listed.filter(({ only_subject }) => only_subject !== undefined)]
}

/**
 * The newest private key whose public half is listed as active: for the site's own tokens, or with `subject` for those of
 * that role. Verifiers do not know other keys, so those never sign.
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
