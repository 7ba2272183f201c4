// A divided site: its roles run as users of their own, who share a group, and each role's files are its user's alone.

import * as fs from 'node:fs'
import { groupId, userId, userName } from '../../../adapters/host/users/system-users.ts'
import type { Role } from '../../kernel/role/role.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { platformSettings } from '../../kernel/settings/platform-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { roleDataFolder, roleKeysFolder, roleRunFolder, type SiteFolder } from '../storage/site-folder.ts'
import { siteOwner } from './site-owner.ts'

export type SiteDivision = {
  /** Id of the group that all users of the site are in. */
  readonly group: number
  /** Role to the id of its user. */
  readonly users: ReadonlyMap<string, number>
}

export const division_remedy = 'root runs `platform site divide`'

/** Undefined for a site of one user. Only for settings without `findDivisionProblems`. */
export function resolveDivision(resolved: ResolvedSettings): SiteDivision | undefined {
  const { os_group, os_users } = getSettings(resolved, platformSettings)
  const group = os_group === undefined ? undefined : groupId(os_group)
  if (group === undefined) return undefined
  const users = Object.entries(os_users).map(([role, user]) => [role, userId(user)] as const)
  return { group, users: new Map(users.filter((entry): entry is [string, number] => entry[1] !== undefined)) }
}

/** Faults of the users and the group in the profile: each of these roles needs a user, and the owner of the site's files in any case. */
export function findDivisionProblems(resolved: ResolvedSettings, roles: readonly string[]): ProfileProblem[] {
  const { os_group, os_users } = getSettings(resolved, platformSettings)
  if (os_group === undefined) {
    if (Object.keys(os_users).length === 0) return []
    return [{ path: 'platform.os_group', message: 'the roles have users, and no group that they share' }]
  }
  const missing = [...new Set([siteOwner, ...roles])].filter((role) => !Object.hasOwn(os_users, role))
  const unknown = Object.entries(os_users).filter(([, user]) => !userId(user))
  return [
    ...(groupId(os_group) ? [] : [{ path: 'platform.os_group', message: `${os_group} is no group of this machine` }]),
    ...missing.map((role) => ({ path: `platform.os_users.${role}`, message: 'this role has no user' })),
    ...unknown.map(([role, user]) => ({
      path: `platform.os_users.${role}`,
      message: `${user} is no user of this machine that a role may run as`,
    })),
  ]
}

/** Why these roles may not be run by the user of this process: their files are another's, or not divided yet. */
export function findOwnershipProblems(
  folder: SiteFolder,
  starting: readonly Role[],
  division: SiteDivision | undefined,
): ProfileProblem[] {
  return starting.flatMap(({ name }) => {
    const message = findOwnershipFault(folder, name, division)
    return message === undefined ? [] : [{ path: name, message }]
  })
}

function findOwnershipFault(folder: SiteFolder, role: string, division: SiteDivision | undefined): string | undefined {
  const uid = process.getuid?.()
  const run = statPath(roleRunFolder(folder, role))
  for (const place of [roleDataFolder(folder, role), roleRunFolder(folder, role), roleKeysFolder(folder, role)]) {
    const found = statPath(place) ?? (division ? undefined : statPath(folder.data))
    if (found === 'closed') return `this user (${userName(uid ?? 0)}) may not enter the site’s folders`
    if (found && found.uid !== uid) {
      return `its files belong to ${userName(found.uid)}, and this is ${userName(uid ?? 0)}: run it as ${userName(found.uid)}`
    }
    if (!found) return division && `${place} is missing: ${division_remedy}`
  }
  if (division && typeof run === 'object' && (run.gid !== division.group || (run.mode & 0o777) !== 0o750)) {
    return `its folders are not those of a divided site: ${division_remedy}`
  }
  return undefined
}

function statPath(path: string): fs.Stats | 'closed' | undefined {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return 'closed'
  }
}
