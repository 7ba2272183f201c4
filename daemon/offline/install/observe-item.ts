// Observes one item of an installation as it is on the machine; changes nothing.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { groupId, userGroupId, userId } from '../../../adapters/host/users/system-users.ts'
import type { InstallationItem, InstallationItemOf } from './installation-items.ts'
import type { InstallationRecord } from './installation-record.ts'
import type { ItemObservation } from './installation-steps.ts'
import { layout } from './layout.ts'
import { observeDivision } from './observe-division.ts'
import { placePath, requireSafeParents, statPlaced } from './safe-path.ts'

export type InstallationPlace = {
  /** `/`, or the folder that stands for it. */
  readonly root: string
  readonly record: InstallationRecord | undefined
  /** Files that somebody changed are replaced. */
  readonly overwrites: boolean
}

/** Throws `OfflineCommandError` (3) for a path that root may not follow. */
export function observeItem(item: InstallationItem, place: InstallationPlace): ItemObservation {
  switch (item.kind) {
    case 'group':
      return groupId(item.name, placePath(place.root, '/etc')) === undefined ? { state: 'absent' } : { state: 'same' }
    case 'user':
      return observeUser(item, place)
    case 'folder':
      return observeFolder(item, place)
    case 'file':
      return observeFile(item.path, item.mode, createHash('sha256').update(item.content).digest('hex'), place)
    case 'copy':
      return observeFile(item.path, item.mode, item.sha256, place)
    case 'link':
      return observeLink(item, place)
    case 'site':
      return observeSite(item, place)
    case 'division':
      return observeDivision(item, place)
    case 'service':
      return spawnSync('systemctl', ['is-active', '--quiet', item.unit]).status === 0
        ? { state: 'same' }
        : { state: 'absent' }
  }
}

function observeUser({ name, group }: InstallationItemOf<'user'>, { root }: InstallationPlace): ItemObservation {
  const accounts = placePath(root, '/etc')
  const uid = userId(name, accounts)
  if (uid === undefined) return { state: 'absent' }
  if (uid !== 0 && userGroupId(name, accounts) === groupId(group, accounts)) return { state: 'same' }
  const detail = `the user ${name} exists, and its group is not ${group}`
  return { state: 'foreign', detail, remedy: `usermod --gid ${group} ${name}, or choose another users.prefix` }
}

function observeFolder(
  { path, mode, owner, is_shared }: InstallationItemOf<'folder'>,
  { root }: InstallationPlace,
): ItemObservation {
  const { placed, stats } = statPlaced(root, path)
  if (!stats) return { state: 'absent' }
  if (!stats.isDirectory()) return describeForeign(path, 'it is not a folder', 'move it away')
  // Its entries are written by root: the same rule as for every folder above.
  requireSafeParents(join(placed, 'x'.repeat(owner ? 0 : 1)))
  if (is_shared) return { state: 'same' }
  const accounts = placePath(root, '/etc')
  const [uid, gid] = owner ? [userId(owner.user, accounts), groupId(owner.group, accounts)] : [0, 0]
  if ((stats.mode & 0o7777) === mode && stats.uid === uid && stats.gid === gid) return { state: 'same' }
  return { state: 'different', detail: `it is ${(stats.mode & 0o7777).toString(8)} ${stats.uid}:${stats.gid}` }
}

/** Content first: a file with other content is replaced only if it is the installation's own. `mode`: undefined for any. */
export function observeFile(
  path: string,
  mode: number | undefined,
  sha256: string,
  { root, record, overwrites }: InstallationPlace,
): ItemObservation {
  const { placed, stats } = statPlaced(root, path)
  if (!stats) return { state: 'absent' }
  if (!stats.isFile()) return describeForeign(path, 'it is not a plain file', 'move it away')
  const found = digestFile(placed)
  if (found !== sha256) {
    const own = record?.files.filter((file) => file.path === path) ?? []
    if (own.some((file) => file.sha256 === found))
      return { state: 'different', detail: 'an earlier installation made it' }
    if (overwrites) return { state: 'different', detail: 'its content is replaced' }
    const detail = own.length > 0 ? 'it was changed since' : 'this installation did not make it'
    return describeForeign(path, detail, '--overwrite replaces it')
  }
  if (mode === undefined || ((stats.mode & 0o7777) === mode && stats.uid === 0)) return { state: 'same' }
  return { state: 'different', detail: `it is ${(stats.mode & 0o7777).toString(8)} of user ${stats.uid}` }
}

function observeLink(
  { path, target }: InstallationItemOf<'link'>,
  { root, record, overwrites }: InstallationPlace,
): ItemObservation {
  const { placed, stats } = statPlaced(root, path)
  if (!stats) return { state: 'absent' }
  if (!stats.isSymbolicLink()) return describeForeign(path, 'it is not a link', 'move it away')
  const found = fs.readlinkSync(placed)
  if (found === target) return { state: 'same' }
  if (path === layout.current)
    return describeForeign(
      path,
      `it leads to ${found}: another version is installed`,
      'use the executable of that version; or back up, then `platform uninstall`, which keeps the data, and install this one',
    )
  const isOwn = record?.links.some((link) => link.path === path && link.target === found) ?? false
  if (isOwn || overwrites) return { state: 'different', detail: `it leads to ${found}` }
  return describeForeign(path, `it leads to ${found}`, '--overwrite replaces it')
}

/** The profile is written last, so a folder with one is a whole site. */
function observeSite({ path }: InstallationItemOf<'site'>, { root }: InstallationPlace): ItemObservation {
  const { placed, stats } = statPlaced(root, path)
  if (!stats) return { state: 'absent' }
  if (!stats.isDirectory()) return describeForeign(path, 'it is not a folder', 'move it away')
  if (fs.lstatSync(join(placed, 'profile.yaml'), { throwIfNoEntry: false })?.isFile()) return { state: 'same' }
  if (fs.readdirSync(placed).length === 0) return { state: 'absent' }
  return describeForeign(path, 'it contains other files, and no site', 'move them away, or choose another site.folder')
}

function describeForeign(path: string, detail: string, remedy: string): ItemObservation {
  return { state: 'foreign', detail: `${path}: ${detail}`, remedy }
}

export function digestFile(path: string): string {
  const file = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW)
  try {
    const hash = createHash('sha256')
    const chunk = Buffer.alloc(1_048_576)
    for (let read = fs.readSync(file, chunk); read > 0; read = fs.readSync(file, chunk))
      hash.update(chunk.subarray(0, read))
    return hash.digest('hex')
  } finally {
    fs.closeSync(file)
  }
}
