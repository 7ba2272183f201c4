// Keeps the public list of token keys in step with the private ones, and finds the key that a signer may use.
import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { listKeys } from '../../adapters/keys/jose/key-life.ts'
import { readTokenKeys, type TokenKey, tokenKey, writeTokenKeys } from '../../adapters/keys/jose/token-keys.ts'
import type { PublicKey } from '../kernel/keys.ts'
import { patientLock } from './patient-lock.ts'
import { identityLockOf, type SiteFolder, tokenKeysOf } from './site-folder.ts'

/** The subject as which a role asks the others. */
export function subjectOf(role: string): string {
  return `role:${role}`
}

/** The list as it is; empty where there is none. Throws `Refused('unavailable')` for one that cannot be read. */
export function listedKeys(folder: SiteFolder): TokenKey[] {
  const file = tokenKeysOf(folder)
  return existsSync(file) ? readTokenKeys(file) : []
}

/**
 * Changes the list, and brings it up to what the key folder says: an earlier change may have been cut short between
 * the two. The keys of roles stand in the list alone, since nobody else can read their private halves. Durable when it
 * resolves. Throws `Refused('conflict')` while another process is at it for longer than a few seconds.
 */
export async function relist(folder: SiteFolder, change: (listed: readonly TokenKey[]) => readonly TokenKey[]) {
  await withIdentityLock(folder, async () => {
    const listed = listedKeys(folder)
    const wanted = inStep(folder, change(listed))
    if (!isDeepStrictEqual(wanted, listed)) writeTokenKeys(tokenKeysOf(folder), wanted)
  })
}

const patience_ms = 5_000

/**
 * Keeps every other process from changing what the site trusts meanwhile. Throws `Refused('conflict')` while another one
 * does for longer than a few seconds.
 */
export async function withIdentityLock<T>(folder: SiteFolder, act: () => Promise<T>): Promise<T> {
  const otherwise = 'another process is changing the keys'
  const lock = await patientLock(folder, identityLockOf(folder), { patience_ms, otherwise })
  try {
    return await act()
  } finally {
    lock.release()
  }
}

/** The same without a change of its own, and without the lock when there is nothing to mend. */
export async function mendList(folder: SiteFolder): Promise<void> {
  const listed = listedKeys(folder)
  if (!isDeepStrictEqual(inStep(folder, listed), listed)) await relist(folder, (latest) => latest)
}

/** A key that the list calls revoked is revoked, whatever its file says: the list is told first. */
function inStep(folder: SiteFolder, listed: readonly TokenKey[]): TokenKey[] {
  const revoked = new Set(listed.filter(({ status }) => status === 'revoked').map(({ fingerprint }) => fingerprint))
  const own = listKeys(folder.keys).filter(({ use }) => use === 'token')
  const current = own.map((key) => tokenKey.parse(revoked.has(key.fingerprint) ? { ...key, status: 'revoked' } : key))
  return [...current, ...listed.filter(({ only_subject }) => only_subject !== undefined)]
}

/**
 * The newest private key whose public half is listed as active: for the site's own tokens, or with `subject` for those
 * of that role. A key that verifiers do not know of yet, or any more, signs nothing.
 */
export function signerAmong(
  stored: readonly StoredKey[],
  listed: readonly TokenKey[],
  subject?: string,
): StoredKey | undefined {
  const active = listed.filter(({ status, only_subject }) => status === 'active' && only_subject === subject)
  const usable = new Set(active.map(({ fingerprint }) => fingerprint))
  const canSign = ({ status, fingerprint }: PublicKey) => status === 'active' && usable.has(fingerprint)
  return stored.findLast((key) => (key.private_jwk ?? key.private_jwe) !== undefined && canSign(key.public_key))
}
