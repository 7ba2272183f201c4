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
  const assignment: OwnerAssignment = { division, changes: 0 }
  const parts = [folder.keys, folder.identity, folder.peers, folder.data, folder.filedrop, folder.run]
  for (const home of new Set([dirname(folder.data), dirname(folder.profile)])) {
    const partsInHome = [folder.profile, ...parts].filter((part) => dirname(part) === home)
    const descriptor = openFolder(home, home)
    try {
      assignOwner(assignment, descriptor, [], 'folder')
      for (const part of partsInHome) assignEntry(assignment, descriptor, [basename(part)], part)
    } finally {
      fs.closeSync(descriptor)
    }
  }
  return assignment.changes
}

/** Opens paths relative to the open folder, so that no part of the path can be exchanged. `path`: for messages. */
function assignEntry(assignment: OwnerAssignment, parent: number, names: readonly string[], path: string): void {
  const descriptorPath = resolveDescriptorPath(parent, names.at(-1) ?? '')
  const stats = fs.lstatSync(descriptorPath)
  if (stats.isDirectory()) assignFolder(assignment, descriptorPath, names, path)
  // No role runs, so a killed process left this socket.
  else if (stats.isSocket()) fs.unlinkSync(descriptorPath)
  else if (stats.isFile() && stats.nlink !== 1) refuseHardLink(path)
  else if (isLockFile(names)) assignOwnerByName(assignment, descriptorPath, names, stats)
  else if (stats.isFile()) assignFile(assignment, descriptorPath, names, path)
  else if (names.length <= 2)
    throw new OfflineCommandError(
      3,
      `${path} is neither a folder nor a regular file`,
      'replace it with the original folder or file',
    )
}

function assignFile(assignment: OwnerAssignment, descriptorPath: string, names: readonly string[], path: string): void {
  const descriptor = fs.openSync(descriptorPath, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    // Checked again, since the name may refer to another file meanwhile.
    if (fs.fstatSync(descriptor).nlink !== 1) refuseHardLink(path)
    assignOwner(assignment, descriptor, names, 'file')
  } finally {
    fs.closeSync(descriptor)
  }
}

function refuseHardLink(path: string): never {
  throw new OfflineCommandError(
    3,
    `${path} has more than one hard link`,
    'remove the link that does not belong to the site',
  )
}

function assignFolder(
  assignment: OwnerAssignment,
  descriptorPath: string,
  names: readonly string[],
  path: string,
): void {
  const descriptor = openFolder(descriptorPath, path)
  try {
    assignOwner(assignment, descriptor, names, 'folder')
    for (const name of fs.readdirSync(resolveDescriptorPath(descriptor, '')))
      assignEntry(assignment, descriptor, [...names, name], `${path}/${name}`)
  } finally {
    fs.closeSync(descriptor)
  }
}

function openFolder(descriptorPath: string, path: string): number {
  try {
    return fs.openSync(descriptorPath, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  } catch {
    throw new OfflineCommandError(3, `${path} is not a folder`)
  }
}

function resolveDescriptorPath(folder: number, name: string): string {
  return `/proc/self/fd/${folder}/${name}`
}

function assignOwner(
  assignment: OwnerAssignment,
  descriptor: number,
  names: readonly string[],
  kind: SitePathKind,
): void {
  const { uid, gid, mode } = findExpectedOwnership(names, kind, assignment.division)
  const stats = fs.fstatSync(descriptor)
  if (stats.uid === uid && stats.gid === gid && (stats.mode & 0o7777) === mode) return
  assignment.changes += 1
  // Closed before the owner changes, opened afterwards.
  fs.fchmodSync(descriptor, mode & 0o700)
  fs.fchownSync(descriptor, uid, gid)
  fs.fchmodSync(descriptor, mode)
}

/** Skips lock files: this process holds the locks of the roles, and would lose one by opening and closing its file. */
function isLockFile([part, , name, ...deeper]: readonly string[]): boolean {
  return part === 'run' && name === 'lock' && deeper.length === 0
}

function assignOwnerByName(
  assignment: OwnerAssignment,
  descriptorPath: string,
  names: readonly string[],
  stats: fs.Stats,
): void {
  const { uid, gid } = findExpectedOwnership(names, 'file', assignment.division)
  if (stats.uid === uid && stats.gid === gid) return
  assignment.changes += 1
  fs.lchownSync(descriptorPath, uid, gid)
}
