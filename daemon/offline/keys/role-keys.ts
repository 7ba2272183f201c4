// The key of each role, with which it authenticates to the site's other processes: created, listed, rotated, revoked.
import { generateKey, revokeKey, rotateKey } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { type TokenKey, tokenKey } from '../../../adapters/keys/jose/token-keys.ts'
import { runAsOwnerOf } from '../../boot/host/act-as-owner.ts'
import { readListedKeys, roleSubject, updateKeyList } from '../../boot/identity/token-key-list.ts'
import { roleKeysFolder, type SiteFolder } from '../../boot/storage/site-folder.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import { requireOwnership } from '../store/role-database.ts'
import type { KeyGenerationOptions } from './site-keys.ts'

export type RoleKey = PublicKey & { readonly role: string }

/**
 * Creates a key; the private half is on disk before the list names the key, so an interruption in between leaves a key
 * that signs nothing. Throws `OfflineCommandError` (3) if the role's files belong to another user.
 */
export async function generateRoleKey(
  folder: SiteFolder,
  role: string,
  terms: KeyGenerationOptions,
): Promise<PublicKey> {
  const key = await actAsRoleOwner(folder, role, (dir) => generateKey(dir, { use: 'token', ...terms }))
  await updateKeyList(folder, (listed) => [...listed, toRoleTokenKey(role, key)])
  return key
}

/** The keys in the key list. */
export function listRoleKeys(folder: SiteFolder): RoleKey[] {
  return readListedKeys(folder).flatMap(({ only_subject, ...key }) =>
    only_subject === undefined ? [] : [{ ...key, role: only_subject.slice(roleSubject('').length) }],
  )
}

export async function rotateRoleKey(folder: SiteFolder, role: string, kid: string, terms: KeyGenerationOptions) {
  const rotation = await actAsRoleOwner(folder, role, (dir) => rotateKey(dir, kid, terms))
  await updateKeyList(folder, (listed) => [
    ...listed.map((key): TokenKey => (key.kid === kid ? { ...key, status: 'retired' } : key)),
    toRoleTokenKey(role, rotation.created),
  ])
  return rotation
}

/** Deletes the private half; the caller marks the key as revoked in the list. */
export function revokeRoleKey(folder: SiteFolder, role: string, kid: string): PublicKey {
  return actAsRoleOwner(folder, role, (dir) => revokeKey(dir, kid))
}

/** Throws `OfflineCommandError` (3) if this user may not change the role's key. */
export function requireRoleKeyAccess(folder: SiteFolder, role: string): void {
  requireOwnership(roleKeysFolder(folder, role), `the key of ${role}`)
}

function actAsRoleOwner<T>(folder: SiteFolder, role: string, action: (dir: string) => T): T {
  requireRoleKeyAccess(folder, role)
  const dir = roleKeysFolder(folder, role)
  return runAsOwnerOf(dir, () => action(dir))
}

function toRoleTokenKey(role: string, key: PublicKey): TokenKey {
  return tokenKey.parse({ ...key, only_subject: roleSubject(role) })
}
