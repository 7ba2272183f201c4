// Divides the files of a site between the users of its roles, by its profile; run by root, any number of times.
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { userName } from '../../../adapters/host/users/system-users.ts'
import { actAsOwnerOf, runAsInvoker } from '../../boot/host/act-as-owner.ts'
import { findDivisionProblems, resolveDivision, type SiteDivision } from '../../boot/host/site-division.ts'
import { readListedKeys, roleSubject } from '../../boot/identity/token-key-list.ts'
import { roleDataFolder, roleKeysFolder, roleRunFolder, type SiteFolder } from '../../boot/storage/site-folder.ts'
import { ProfileError } from '../../kernel/settings/profile-error.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { generateRoleKey } from '../keys/role-keys.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { lockAllRoles, releaseLocks } from '../store/role-locks.ts'
import { assignFileOwners } from './assign-file-owners.ts'
import { type EnvironmentVariables, readSiteSettings } from './site-profile.ts'

export type SiteDivisionResult = {
  readonly group: number
  readonly users: readonly { readonly role: string; readonly user: string; readonly uid: number }[]
  /** Number of files and folders whose owner or mode was changed. */
  readonly changes: number
}

/**
 * Assigns every role's files to its user. Throws `OfflineCommandError` (3) unless run by root, while the site runs, or
 * if its users could not reach it; ProfileError for invalid users. `now` in epoch milliseconds.
 */
export async function divideSite(
  folder: SiteFolder,
  env: EnvironmentVariables,
  now: number,
): Promise<SiteDivisionResult> {
  if (process.getuid?.() !== 0)
    throw new OfflineCommandError(3, 'only root can change the owner of files', 'run it as root')
  const { resolved, platform } = readSiteSettings(folder, env)
  if (platform.os_group === undefined) {
    throw new OfflineCommandError(
      3,
      'the profile names no users for the roles',
      'set platform.os_group and platform.os_users first',
    )
  }
  const problems = findDivisionProblems(resolved, platform.roles)
  const division = resolveDivision(resolved)
  if (problems.length > 0 || !division) throw new ProfileError(problems)
  requirePassableParents(folder, division)
  const locks = await lockAllRoles(folder)
  let changes: number
  try {
    for (const role of division.users.keys()) createRoleFolders(folder, role)
    changes = runAsInvoker(() => assignFileOwners(folder, division))
  } finally {
    await releaseLocks(locks)
  }
  actAsOwnerOf(folder.profile)
  await generateMissingKeys(folder, division, now)
  const users = [...division.users].map(([role, uid]) => ({ role, user: userName(uid), uid }))
  const detail = { group: division.group, users: Object.fromEntries(division.users), changes }
  await recordOperatorAction(folder, env, { action: 'site.folder.divide', target: platform.name, detail })
  return { group: division.group, users, changes }
}

/** Creates the folders as the owner of the site, so that each role finds its own and none can create another's. */
function createRoleFolders(folder: SiteFolder, role: string): void {
  for (const dir of [roleDataFolder(folder, role), roleRunFolder(folder, role), roleKeysFolder(folder, role)]) {
    fs.mkdirSync(dir, { recursive: true, mode: 0o700 })
  }
}

/** Creates keys of roles that the profile did not have when the site was created. */
async function generateMissingKeys(folder: SiteFolder, division: SiteDivision, now: number): Promise<void> {
  for (const role of division.users.keys()) {
    const isListed = readListedKeys(folder).some(
      ({ only_subject, status }) => only_subject === roleSubject(role) && status === 'active',
    )
    if (!isListed) await generateRoleKey(folder, role, { now })
  }
}

/** Folders above the site are not changed. */
function requirePassableParents(folder: SiteFolder, { group, users }: SiteDivision): void {
  for (const parent of findImpassableParents(dirname(folder.data), group, [...users.values()])) {
    throw new OfflineCommandError(3, `the users of the site cannot enter ${parent}`, `allow it: chmod a+x ${parent}`)
  }
}

/** Folders above the site that one of the users cannot enter. */
function findImpassableParents(base: string, group: number, uids: readonly number[]): string[] {
  const parent = dirname(base)
  if (parent === base) return []
  const { mode, gid, uid } = runAsInvoker(() => fs.statSync(parent))
  const canEnter = (user: number) => {
    if (user === uid) return (mode & 0o100) !== 0
    return (mode & (gid === group ? 0o010 : 0o001)) !== 0
  }
  return [...findImpassableParents(parent, group, uids), ...(uids.every(canEnter) ? [] : [parent])]
}
