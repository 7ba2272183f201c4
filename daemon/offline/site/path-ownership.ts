// The owner of each path of a divided site, and the access of others: the rule for dividing and for checking.

import type { SiteDivision } from '../../boot/host/site-division.ts'
import { roles } from '../../roles.ts'

export type SitePathKind = 'folder' | 'file' | 'socket'
export type PathOwnership = { readonly uid: number; readonly gid: number; readonly mode: number }

/**
 * `path`: names below the site's folder; empty for the folder itself. Paths without a rule belong to the site role
 * only.
 */
export function findExpectedOwnership(
  path: readonly string[],
  kind: SitePathKind,
  { group, users }: SiteDivision,
): PathOwnership {
  const { role, mode } = selectOwnershipRule(path, kind)
  const site = users.get('site')
  if (site === undefined) throw new TypeError('a divided site has a user for the site role')
  return { uid: users.get(role) ?? site, gid: group, mode }
}

type OwnershipRule = { readonly role: string; readonly mode: number }

function selectOwnershipRule([part, ...path]: readonly string[], kind: SitePathKind): OwnershipRule {
  if (part === undefined || part === 'profile.yaml') return shareWithGroup('site', kind)
  if (path.length === 0 && ['run', 'data', 'identity'].includes(part)) return shareWithGroup('site', kind)
  if (part === 'run') return selectRunRule(path, kind)
  if (part === 'data') return selectDataRule(path, kind)
  if (part === 'identity') return selectIdentityRule(path, kind)
  return restrictToOwner('site', kind)
}

/** Accessible to the owner only. */
function restrictToOwner(role: string, kind: SitePathKind): OwnershipRule {
  return { role, mode: kind === 'folder' ? 0o700 : 0o600 }
}

/** Readable, or enterable, for the group. */
function shareWithGroup(role: string, kind: SitePathKind): OwnershipRule {
  return { role, mode: kind === 'folder' ? 0o750 : 0o640 }
}

/** Other roles can reach a role's socket, and nothing beside it. */
function selectRunRule([role = '', ...path]: readonly string[], kind: SitePathKind): OwnershipRule {
  if (!isRoleName(role)) return restrictToOwner('site', kind)
  if (kind === 'socket') return { role, mode: 0o660 }
  return path.length === 0 ? shareWithGroup(role, kind) : restrictToOwner(role, kind)
}

function selectDataRule([folderName = '', set, file]: readonly string[], kind: SitePathKind): OwnershipRule {
  if (isRoleName(folderName)) return restrictToOwner(folderName, kind)
  if (folderName !== 'backups') return restrictToOwner('site', kind)
  if (set === undefined) return shareWithGroup('site', kind)
  // While a backup set is made, each role puts its copy there, and none may touch another's.
  if (file === undefined && set.endsWith('.part')) return { role: 'site', mode: 0o1770 }
  const role = /^(.+)\.db$/.exec(file ?? '')?.[1] ?? ''
  return restrictToOwner(isRoleName(role) ? role : 'site', kind)
}

const groupReadable: ReadonlySet<string> = new Set([
  'roles',
  'revoked.jsonl',
  'token-keys.json',
  'role-authorities.pem',
])

/** All roles can read the lists that verify tokens, but neither people nor the lock. */
function selectIdentityRule([name = '', role]: readonly string[], kind: SitePathKind): OwnershipRule {
  const isPublic = role === undefined && groupReadable.has(name)
  if (isPublic) return shareWithGroup('site', kind)
  return restrictToOwner(name === 'roles' && role !== undefined && isRoleName(role) ? role : 'site', kind)
}

function isRoleName(name: string): boolean {
  return roles.some((role) => role.name === name)
}
