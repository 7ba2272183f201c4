// Finds out whether one user owns a whole site: root can then become that user for good.
import { lstatSync } from 'node:fs'
import { roleDataFolder, type SiteFolder } from '../../boot/storage/site-folder.ts'
import { roles } from '../../roles.ts'

/** Whether one user owns the profile and the data of every role. */
export function hasOneOwner(folder: SiteFolder): boolean {
  const paths = [folder.profile, ...roles.map(({ name }) => roleDataFolder(folder, name))]
  const uids = paths.flatMap((path) => lstatSync(path, { throwIfNoEntry: false })?.uid ?? [])
  return new Set(uids).size === 1
}
