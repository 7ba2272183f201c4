// A divided site: each role runs as its own user, the users share a group, and only its user can access a role's files.
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
  /** Id of the group of all users of the site. */
  readonly group: number
  /** User id of each role. */
  readonly users: ReadonlyMap<string, number>
}

const division_remedy = 'run `platform site divide` as root'

/** The division; undefined for a site of one user. Requires settings that `findDivisionProblems` accepts. */
export function resolveDivision(resolved: ResolvedSettings): SiteDivision | undefined {
  const { os_group, os_users } = getSettings(resolved, platformSettings)
  const group = os_group === undefined ? undefined : groupId(os_group)
  if (group === undefined) return undefined
  const users = Object.entries(os_users).map(([role, user]) => [role, userId(user)] as const)
  return { group, users: new Map(users.filter((entry): entry is [string, number] => entry[1] !== undefined)) }
}

/** Problems of the division in the profile: each of the roles, and the site role in any case, must have a user. */
export function findDivisionProblems(resolved: ResolvedSettings, roles: readonly string[]): ProfileProblem[] {
  const { os_group, os_users } = getSettings(resolved, platformSettings)
  if (os_group === undefined) {
    if (Object.keys(os_users).length === 0) return []
    return [
      { path: 'platform.os_group', message: 'platform.os_users is set, so the group that the users share is required' },
    ]
  }
  const unassigned = [...new Set([siteOwner, ...roles])].filter((role) => !Object.hasOwn(os_users, role))
  const unknownUsers = Object.entries(os_users).filter(([, user]) => !userId(user))
  return [
    ...(groupId(os_group)
      ? []
      : [{ path: 'platform.os_group', message: `the group ${os_group} does not exist on this machine` }]),
    ...unassigned.map((role) => ({ path: `platform.os_users.${role}`, message: 'no user is set for this role' })),
    ...unknownUsers.map(([role, user]) => ({
      path: `platform.os_users.${role}`,
      message: `the user ${user} does not exist on this machine, or a role may not run as it`,
    })),
  ]
}

/** Roles that the user of this process may not run, since their files belong to another user or are not divided yet. */
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
  for (const folderPath of [roleDataFolder(folder, role), roleRunFolder(folder, role), roleKeysFolder(folder, role)]) {
    const stats = statPath(folderPath) ?? (division ? undefined : statPath(folder.data))
    if (stats === 'closed') return `this user (${userName(uid ?? 0)}) may not enter the site’s folders`
    if (stats && stats.uid !== uid) {
      return `its files belong to ${userName(stats.uid)}; this process runs as ${userName(uid ?? 0)}: run it as ${userName(stats.uid)}`
    }
    if (!stats) return division && `${folderPath} is missing: ${division_remedy}`
  }
  if (division && typeof run === 'object' && (run.gid !== division.group || (run.mode & 0o777) !== 0o750)) {
    return `its folders do not have the owners and modes of a divided site: ${division_remedy}`
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
