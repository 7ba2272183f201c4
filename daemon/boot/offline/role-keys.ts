// The key of each role, with which it tells the site's other processes who it is: made, listed, rotated, revoked.
import { generateKey, revokeKey, rotateKey } from '../../../adapters/keys/jose/key-life.ts'
import { type TokenKey, tokenKey } from '../../../adapters/keys/jose/token-keys.ts'
import type { PublicKey } from '../../kernel/keys.ts'
import { asOwnerOf } from '../acting.ts'
import { listedKeys, relist, subjectOf } from '../listed-keys.ts'
import { roleKeysOf, type SiteFolder } from '../site-folder.ts'
import { requireOwn } from './role-database.ts'
import type { KeyTerms } from './site-keys.ts'

export type RoleKey = PublicKey & { readonly role: string }

/**
 * The private half is on disk before the list knows the key: cut short between the two, nothing is signed by it.
 * Throws `Objection` (3) when the role's files belong to another user.
 */
export async function generateForRole(folder: SiteFolder, role: string, terms: KeyTerms): Promise<PublicKey> {
  const key = await asRole(folder, role, (dir) => generateKey(dir, { use: 'token', ...terms }))
  await relist(folder, (listed) => [...listed, ofRole(role, key)])
  return key
}

/** As the list has them. */
export function listOfRoles(folder: SiteFolder): RoleKey[] {
  return listedKeys(folder).flatMap(({ only_subject, ...key }) =>
    only_subject === undefined ? [] : [{ ...key, role: only_subject.slice(subjectOf('').length) }],
  )
}

export async function rotateForRole(folder: SiteFolder, role: string, kid: string, terms: KeyTerms) {
  const done = await asRole(folder, role, (dir) => rotateKey(dir, kid, terms))
  await relist(folder, (listed) => [
    ...listed.map((key): TokenKey => (key.kid === kid ? { ...key, status: 'retired' } : key)),
    ofRole(role, done.created),
  ])
  return done
}

/** Takes the private half away; that the key is revoked is for the list to say. */
export function revokeForRole(folder: SiteFolder, role: string, kid: string): PublicKey {
  return asRole(folder, role, (dir) => revokeKey(dir, kid))
}

/** Throws `Objection` (3) for who may not change the role's key. */
export function requireRole(folder: SiteFolder, role: string): void {
  requireOwn(roleKeysOf(folder, role), `the key of ${role}`)
}

function asRole<T>(folder: SiteFolder, role: string, act: (dir: string) => T): T {
  requireRole(folder, role)
  const dir = roleKeysOf(folder, role)
  return asOwnerOf(dir, () => act(dir))
}

function ofRole(role: string, key: PublicKey): TokenKey {
  return tokenKey.parse({ ...key, only_subject: subjectOf(role) })
}
