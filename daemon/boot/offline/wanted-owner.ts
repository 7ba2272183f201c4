// Whose each path of a divided site is, and who else may do what with it: the rule that divides, and that is looked for.
import { roles } from '../../roles.ts'
import type { Division } from '../division.ts'

export type Kind = 'folder' | 'file' | 'socket'
export type Wanted = { readonly uid: number; readonly gid: number; readonly mode: number }

/** `path`: names below the site's folder; none for the folder itself. What no rule names is the site role's alone. */
export function wantedFor(path: readonly string[], kind: Kind, { group, users }: Division): Wanted {
  const { role, mode } = ruleFor(path, kind)
  const site = users.get('site')
  if (site === undefined) throw new TypeError('a divided site has a user for the site role')
  return { uid: users.get(role) ?? site, gid: group, mode }
}

type Rule = { readonly role: string; readonly mode: number }

function ruleFor([part, ...path]: readonly string[], kind: Kind): Rule {
  if (part === undefined || part === 'profile.yaml') return shared('site', kind)
  if (path.length === 0 && ['run', 'data', 'identity'].includes(part)) return shared('site', kind)
  if (part === 'run') return inRun(path, kind)
  if (part === 'data') return inData(path, kind)
  if (part === 'identity') return inIdentity(path, kind)
  return closed('site', kind)
}

/** For its owner alone. */
function closed(role: string, kind: Kind): Rule {
  return { role, mode: kind === 'folder' ? 0o700 : 0o600 }
}

/** For the group to read, or to pass through. */
function shared(role: string, kind: Kind): Rule {
  return { role, mode: kind === 'folder' ? 0o750 : 0o640 }
}

/** The others come to a role's socket, and to nothing beside it. */
function inRun([role = '', ...path]: readonly string[], kind: Kind): Rule {
  if (!isRole(role)) return closed('site', kind)
  if (kind === 'socket') return { role, mode: 0o660 }
  return path.length === 0 ? shared(role, kind) : closed(role, kind)
}

function inData([place = '', set, file]: readonly string[], kind: Kind): Rule {
  if (isRole(place)) return closed(place, kind)
  if (place !== 'backups') return closed('site', kind)
  if (set === undefined) return shared('site', kind)
  // While a set is made each role puts its copy there, and none may touch another's.
  if (file === undefined && set.endsWith('.part')) return { role: 'site', mode: 0o1770 }
  const role = /^(.+)\.db$/.exec(file ?? '')?.[1] ?? ''
  return closed(isRole(role) ? role : 'site', kind)
}

/** What tokens are judged by is for all to read; people and the lock are not. */
function inIdentity([name = '', role]: readonly string[], kind: Kind): Rule {
  const isPublic = role === undefined && ['roles', 'revoked.jsonl', 'token-keys.json'].includes(name)
  if (isPublic) return shared('site', kind)
  return closed(name === 'roles' && role !== undefined && isRole(role) ? role : 'site', kind)
}

function isRole(name: string): boolean {
  return roles.some((role) => role.name === name)
}
