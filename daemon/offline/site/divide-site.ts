// Divides a site between the users of its roles, as its profile says: run by root, once or again.
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { userName } from '../../../adapters/host/users/system-users.ts'
import { actAsOwnerOf, runAsInvoker } from '../../boot/host/act-as-owner.ts'
import { findDivisionProblems, resolveDivision, type SiteDivision } from '../../boot/host/site-division.ts'
import { readListedKeys, roleSubject } from '../../boot/identity/token-key-list.ts'
import { ProfileError } from '../../boot/profile.ts'
import { roleDataFolder, roleKeysFolder, roleRunFolder, type SiteFolder } from '../../boot/storage/site-folder.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { generateRoleKey } from '../keys/role-keys.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { lockAllRoles } from '../store/store-restore.ts'
import { assignFileOwners } from './assign-file-owners.ts'
import { type EnvironmentVariables, readSiteSettings } from './site-profile.ts'

export type SiteDivisionResult = {
  readonly group: number
  readonly users: readonly { readonly role: string; readonly user: string; readonly uid: number }[]
  /** Files and folders whose owner or mode was another before. */
  readonly changes: number
}

/**
 * Gives every role's files to its user. Throws `OfflineCommandError` (3) for who is not root, for a site that runs, and for one
 * whose users could not come to it; ProfileError for users that cannot be. `now` in epoch milliseconds.
 */
export async function divideSite(
  folder: SiteFolder,
  env: EnvironmentVariables,
  now: number,
): Promise<SiteDivisionResult> {
  if (process.getuid?.() !== 0)
    throw new OfflineCommandError(3, 'only root can give files to other users', 'run it as root')
  const { resolved, platform } = readSiteSettings(folder, env)
  if (platform.os_group === undefined) {
    throw new OfflineCommandError(
      3,
      'the profile does not divide the site',
      'set platform.os_group and platform.os_users first',
    )
  }
  const problems = findDivisionProblems(resolved, platform.roles)
  const division = resolveDivision(resolved)
  if (problems.length > 0 || !division) throw new ProfileError(problems)
  requirePassableParents(folder, division)
  const locks = lockAllRoles(folder)
  let changes: number
  try {
    for (const role of division.users.keys()) createRoleFolders(folder, role)
    changes = runAsInvoker(() => assignFileOwners(folder, division))
  } finally {
    for (const lock of locks) lock.release()
  }
  actAsOwnerOf(folder.profile)
  await generateMissingKeys(folder, division, now)
  const users = [...division.users].map(([role, uid]) => ({ role, user: userName(uid), uid }))
  const detail = { group: division.group, users: Object.fromEntries(division.users), changes }
  await recordOperatorAction(folder, env, { action: 'site.folder.divide', target: platform.name, detail })
  return { group: division.group, users, changes }
}

/** By the owner of the site, who alone may make them: so that each role finds its own, and none makes another's. */
function createRoleFolders(folder: SiteFolder, role: string): void {
  for (const dir of [roleDataFolder(folder, role), roleRunFolder(folder, role), roleKeysFolder(folder, role)]) {
    fs.mkdirSync(dir, { recursive: true, mode: 0o700 })
  }
}

/** A role that the profile did not have when the site was made. */
async function generateMissingKeys(folder: SiteFolder, division: SiteDivision, now: number): Promise<void> {
  for (const role of division.users.keys()) {
    const isListed = readListedKeys(folder).some(
      ({ only_subject, status }) => only_subject === roleSubject(role) && status === 'active',
    )
    if (!isListed) await generateRoleKey(folder, role, { now })
  }
}

/** The folders above the site are not ours to open. */
function requirePassableParents(folder: SiteFolder, { group, users }: SiteDivision): void {
  for (const closed of findImpassableParents(dirname(folder.data), group, [...users.values()])) {
    throw new OfflineCommandError(
      3,
      `${closed} is closed to the users of the site`,
      `let them pass through: chmod a+x ${closed}`,
    )
  }
}

/** Folders above that one of the users cannot pass through. */
function findImpassableParents(base: string, group: number, uids: readonly number[]): string[] {
  const above = dirname(base)
  if (above === base) return []
  const { mode, gid, uid } = runAsInvoker(() => fs.statSync(above))
  const passes = (user: number) => {
    if (user === uid) return (mode & 0o100) !== 0
    return (mode & (gid === group ? 0o010 : 0o001)) !== 0
  }
  return [...findImpassableParents(above, group, uids), ...(uids.every(passes) ? [] : [above])]
}
