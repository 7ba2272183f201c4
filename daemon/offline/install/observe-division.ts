// Observes whether the files of a site belong to the users of its roles, by the folders of each role; `platform doctor` looks at all of them.
import * as fs from 'node:fs'
import { groupId, userId } from '../../../adapters/host/users/system-users.ts'
import { siteOwner } from '../../boot/host/site-owner.ts'
import { readProfile } from '../../boot/profile.ts'
import { roleDataFolder, roleKeysFolder, roleRunFolder, siteFolder } from '../../boot/storage/site-folder.ts'
import type { InstallationItemOf } from './installation-items.ts'
import type { ItemObservation } from './installation-steps.ts'
import type { InstallationPlace } from './observe-item.ts'
import { placePath } from './safe-path.ts'

/** Accounts as a profile names them: by number in an image, whose names this machine does not have. */
export function nameAccounts(
  { group, users }: InstallationItemOf<'division'>,
  root: string,
): { os_group: string | number; os_users: Record<string, string | number> } {
  if (root === '/') return { os_group: group, os_users: { ...users } }
  const accounts = placePath(root, '/etc')
  const byNumber = Object.entries(users).map(([role, user]) => [role, userId(user, accounts) ?? user])
  return { os_group: groupId(group, accounts) ?? group, os_users: Object.fromEntries(byNumber) }
}

export function observeDivision(
  item: InstallationItemOf<'division'>,
  { root, record }: Pick<InstallationPlace, 'root' | 'record'>,
): ItemObservation {
  const folder = siteFolder(placePath(root, item.path))
  if (!fs.lstatSync(folder.profile, { throwIfNoEntry: false })?.isFile()) return { state: 'absent' }
  const { os_group, os_users } = nameAccounts(item, root)
  const { platform = {} } = readProfile(folder.profile) as { platform?: Record<string, unknown> }
  const named = Object.entries((platform.os_users ?? {}) as Record<string, unknown>)
  const missing = Object.entries(os_users).filter(
    ([role, user]) => !named.some(([name, value]) => name === role && value === user),
  )
  if (platform.os_group !== os_group || missing.length > 0) {
    const wanted = `os_group: ${os_group}, os_users: { ${Object.entries(os_users)
      .map(([role, user]) => `${role}: ${user}`)
      .join(', ')} }`
    return {
      state: 'foreign',
      detail: `the profile of ${item.path} does not name the users of all roles`,
      remedy: `stop the site and set in section platform: ${wanted}`,
    }
  }
  if (record?.divided === false) return { state: 'different', detail: 'an earlier run did not finish it' }
  const accounts = placePath(root, '/etc')
  const uidOf = (role: string) => userId(item.users[role] ?? '', accounts)
  const expected = [
    ...Object.keys(item.users).flatMap((role) =>
      [roleDataFolder(folder, role), roleRunFolder(folder, role), roleKeysFolder(folder, role)].map(
        (path) => [path, uidOf(role)] as const,
      ),
    ),
    [folder.profile, uidOf(siteOwner)] as const,
    [folder.keys, uidOf(siteOwner)] as const,
  ]
  const wrong = expected.find(([path, uid]) => fs.lstatSync(path, { throwIfNoEntry: false })?.uid !== uid)
  return wrong ? { state: 'different', detail: `${wrong[0]} does not belong to its user` } : { state: 'same' }
}
