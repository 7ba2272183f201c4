// Divides a site between the users of its roles, as its profile says: run by root, once or again.
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { userName } from '../../../adapters/host/users/system-users.ts'
import { actAsOwnerOf, asInvoker } from '../acting.ts'
import { type Division, divisionOf, divisionProblems } from '../division.ts'
import { listedKeys, subjectOf } from '../listed-keys.ts'
import { ProfileError } from '../profile.ts'
import { dataOf, roleKeysOf, runOf, type SiteFolder } from '../site-folder.ts'
import { record } from './deed.ts'
import { giveFiles } from './give-files.ts'
import { Objection } from './objection.ts'
import { generateForRole } from './role-keys.ts'
import { type Environment, siteSettings } from './site-profile.ts'
import { lockAll } from './store-restore.ts'

export type Divided = {
  readonly group: number
  readonly users: readonly { readonly role: string; readonly user: string; readonly uid: number }[]
  /** Files and folders whose owner or mode was another before. */
  readonly changes: number
}

/**
 * Gives every role's files to its user. Throws `Objection` (3) for who is not root, for a site that runs, and for one
 * whose users could not come to it; ProfileError for users that cannot be. `now` in epoch milliseconds.
 */
export async function divide(folder: SiteFolder, env: Environment, now: number): Promise<Divided> {
  if (process.getuid?.() !== 0) throw new Objection(3, 'only root can give files to other users', 'run it as root')
  const { resolved, platform } = siteSettings(folder, env)
  if (platform.os_group === undefined) {
    throw new Objection(3, 'the profile does not divide the site', 'set platform.os_group and platform.os_users first')
  }
  const problems = divisionProblems(resolved, platform.roles)
  const division = divisionOf(resolved)
  if (problems.length > 0 || !division) throw new ProfileError(problems)
  requireWay(folder, division)
  const locks = lockAll(folder)
  let changes: number
  try {
    for (const role of division.users.keys()) makeFolders(folder, role)
    changes = asInvoker(() => giveFiles(folder, division))
  } finally {
    for (const lock of locks) lock.release()
  }
  actAsOwnerOf(folder.profile)
  await makeMissingKeys(folder, division, now)
  const users = [...division.users].map(([role, uid]) => ({ role, user: userName(uid), uid }))
  const detail = { group: division.group, users: Object.fromEntries(division.users), changes }
  await record(folder, env, { action: 'site.folder.divide', target: platform.name, detail })
  return { group: division.group, users, changes }
}

/** By the owner of the site, who alone may make them: so that each role finds its own, and none makes another's. */
function makeFolders(folder: SiteFolder, role: string): void {
  for (const dir of [dataOf(folder, role), runOf(folder, role), roleKeysOf(folder, role)]) {
    fs.mkdirSync(dir, { recursive: true, mode: 0o700 })
  }
}

/** A role that the profile did not have when the site was made. */
async function makeMissingKeys(folder: SiteFolder, division: Division, now: number): Promise<void> {
  for (const role of division.users.keys()) {
    const isListed = listedKeys(folder).some(
      ({ only_subject, status }) => only_subject === subjectOf(role) && status === 'active',
    )
    if (!isListed) await generateForRole(folder, role, { now })
  }
}

/** The folders above the site are not ours to open. */
function requireWay(folder: SiteFolder, { group, users }: Division): void {
  for (const closed of wayTo(dirname(folder.data), group, [...users.values()])) {
    throw new Objection(3, `${closed} is closed to the users of the site`, `let them pass through: chmod a+x ${closed}`)
  }
}

/** Folders above that one of the users cannot pass through. */
function wayTo(base: string, group: number, uids: readonly number[]): string[] {
  const above = dirname(base)
  if (above === base) return []
  const { mode, gid, uid } = asInvoker(() => fs.statSync(above))
  const passes = (user: number) => {
    if (user === uid) return (mode & 0o100) !== 0
    return (mode & (gid === group ? 0o010 : 0o001)) !== 0
  }
  return [...wayTo(above, group, uids), ...(uids.every(passes) ? [] : [above])]
}
