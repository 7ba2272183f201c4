// Finds the users that own the data of roles, for commands that root runs: root itself opens nothing of theirs.
import { lstatSync } from 'node:fs'
import { roleDataFolder, type SiteFolder } from '../../boot/storage/site-folder.ts'
import { roles } from '../../roles.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

export type DataOwner = { readonly role: string; readonly uid: number; readonly gid: number }

/**
 * The owner of each role's data, if root runs the command and other users own some of it; undefined otherwise: this
 * process then reads what its user may read. Throws `OfflineCommandError` (3) for a role whose folder is a link.
 */
export function listDataOwners(folder: SiteFolder): DataOwner[] | undefined {
  if (process.getuid?.() !== 0) return undefined
  const owners = roles.flatMap(({ name: role }) => {
    const dir = roleDataFolder(folder, role)
    const stats = lstatSync(dir, { throwIfNoEntry: false })
    if (!stats) return []
    if (!stats.isDirectory()) throw new OfflineCommandError(3, `${dir} is not a folder`, 'move it away')
    return [{ role, uid: stats.uid, gid: stats.gid }]
  })
  return owners.some(({ uid }) => uid !== 0) ? owners : undefined
}

/** Whether one user owns the profile and the data of every role. */
export function hasOneOwner(folder: SiteFolder): boolean {
  const paths = [folder.profile, ...roles.map(({ name }) => roleDataFolder(folder, name))]
  const uids = paths.flatMap((path) => lstatSync(path, { throwIfNoEntry: false })?.uid ?? [])
  return new Set(uids).size === 1
}
