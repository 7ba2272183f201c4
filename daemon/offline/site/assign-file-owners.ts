// Assigns the files of a divided site to their users, as root; follows no path that such a user may have planted.
import * as fs from 'node:fs'
import { basename, dirname } from 'node:path'
import type { SiteDivision } from '../../boot/host/site-division.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { findExpectedOwnership, type SitePathKind } from './path-ownership.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = fs.constants

type OwnerAssignment = { readonly division: SiteDivision; changes: number }

/**
 * Returns the number of changed owners and modes; a repeat changes none. No role may run meanwhile. Throws
 * `OfflineCommandError` (3) for a file with several hard links, which might belong to another user, and for a link in
 * the place of a folder.
 */
export function assignFileOwners(folder: SiteFolder, division: SiteDivision): number {
  const giving: OwnerAssignment = { division, changes: 0 }
  const parts = [folder.keys, folder.identity, folder.peers, folder.data, folder.filedrop, folder.run]
  for (const home of new Set([dirname(folder.data), dirname(folder.profile)])) {
    const within = [folder.profile, ...parts].filter((part) => dirname(part) === home)
    const opened = openFolder(home, home)
    try {
      assignOwner(giving, opened, [], 'folder')
      for (const part of within) assignEntry(giving, opened, [basename(part)], part)
    } finally {
      fs.closeSync(opened)
    }
  }
  return giving.changes
}

/** Opens paths relative to the open folder, so that no part of the path can be exchanged. `path`: for messages. */
function assignEntry(giving: OwnerAssignment, parent: number, names: readonly string[], path: string): void {
  const at = resolveDescriptorPath(parent, names.at(-1) ?? '')
  const found = fs.lstatSync(at)
  if (found.isDirectory()) assignFolder(giving, at, names, path)
  // Nobody listens on it, so a killed process left it.
  else if (found.isSocket()) fs.unlinkSync(at)
  else if (found.isFile() && found.nlink !== 1) refuseHardLink(path)
  else if (isLockFile(names)) assignOwnerByName(giving, at, names, found)
  else if (found.isFile()) assignFile(giving, at, names, path)
  else if (names.length <= 2)
    throw new OfflineCommandError(
      3,
      `${path} is neither a folder nor a regular file`,
      'replace it with the original folder or file',
    )
}

function assignFile(giving: OwnerAssignment, at: string, names: readonly string[], path: string): void {
  const opened = fs.openSync(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    // Checked again, since the name may refer to another file meanwhile.
    if (fs.fstatSync(opened).nlink !== 1) refuseHardLink(path)
    assignOwner(giving, opened, names, 'file')
  } finally {
    fs.closeSync(opened)
  }
}

function refuseHardLink(path: string): never {
  throw new OfflineCommandError(
    3,
    `${path} has more than one hard link`,
    'remove the link that does not belong to the site',
  )
}

function assignFolder(giving: OwnerAssignment, at: string, names: readonly string[], path: string): void {
  const opened = openFolder(at, path)
  try {
    assignOwner(giving, opened, names, 'folder')
    for (const name of fs.readdirSync(resolveDescriptorPath(opened, '')))
      assignEntry(giving, opened, [...names, name], `${path}/${name}`)
  } finally {
    fs.closeSync(opened)
  }
}

function openFolder(at: string, path: string): number {
  try {
    return fs.openSync(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  } catch {
    throw new OfflineCommandError(3, `${path} is not a folder`)
  }
}

function resolveDescriptorPath(folder: number, name: string): string {
  return `/proc/self/fd/${folder}/${name}`
}

function assignOwner(giving: OwnerAssignment, opened: number, names: readonly string[], kind: SitePathKind): void {
  const { uid, gid, mode } = findExpectedOwnership(names, kind, giving.division)
  const found = fs.fstatSync(opened)
  if (found.uid === uid && found.gid === gid && (found.mode & 0o7777) === mode) return
  giving.changes += 1
  // Closed before the owner changes, opened afterwards.
  fs.fchmodSync(opened, mode & 0o700)
  fs.fchownSync(opened, uid, gid)
  fs.fchmodSync(opened, mode)
}

/** Skips lock files: this process holds the locks of the roles, and would lose one by opening and closing its file. */
function isLockFile([part, , name, ...more]: readonly string[]): boolean {
  return part === 'run' && name === 'lock' && more.length === 0
}

function assignOwnerByName(giving: OwnerAssignment, at: string, names: readonly string[], found: fs.Stats): void {
  const { uid, gid } = findExpectedOwnership(names, 'file', giving.division)
  if (found.uid === uid && found.gid === gid) return
  giving.changes += 1
  fs.lchownSync(at, uid, gid)
}
