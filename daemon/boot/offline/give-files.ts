// Gives the files of a divided site to their users, as root: nothing is followed that such a user may have laid.
import * as fs from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Division } from '../division.ts'
import type { SiteFolder } from '../site-folder.ts'
import { Objection } from './objection.ts'
import { type Kind, wantedFor } from './wanted-owner.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = fs.constants

type Giving = { readonly division: Division; changes: number }

/**
 * How many owners and modes were changed: a repeat changes none. No role may run meanwhile. Throws `Objection` (3) for
 * a file with a second name, which might be a file of somebody else, and for a link in the place of a folder.
 */
export function giveFiles(folder: SiteFolder, division: Division): number {
  const giving: Giving = { division, changes: 0 }
  const parts = [folder.keys, folder.identity, folder.peers, folder.data, folder.filedrop, folder.run]
  for (const home of new Set([dirname(folder.data), dirname(folder.profile)])) {
    const within = [folder.profile, ...parts].filter((part) => dirname(part) === home)
    const opened = openFolder(home, home)
    try {
      give(giving, opened, [], 'folder')
      for (const part of within) entry(giving, opened, [basename(part)], part)
    } finally {
      fs.closeSync(opened)
    }
  }
  return giving.changes
}

/** Reached through the folder that is open, so that no part of the way can be exchanged. `path`: for what is said. */
function entry(giving: Giving, parent: number, names: readonly string[], path: string): void {
  const at = below(parent, names.at(-1) ?? '')
  const found = fs.lstatSync(at)
  if (found.isDirectory()) inFolder(giving, at, names, path)
  // Nobody listens, so it is what a killed process left.
  else if (found.isSocket()) fs.unlinkSync(at)
  else if (found.isFile() && found.nlink !== 1) refuseSecondName(path)
  else if (isLock(names)) giveByName(giving, at, names, found)
  else if (found.isFile()) giveFile(giving, at, names, path)
  else if (names.length <= 2) throw new Objection(3, `${path} is neither folder nor file`, 'put back what was there')
}

function giveFile(giving: Giving, at: string, names: readonly string[], path: string): void {
  const opened = fs.openSync(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    // Once more, since the name may have been given to another file meanwhile.
    if (fs.fstatSync(opened).nlink !== 1) refuseSecondName(path)
    give(giving, opened, names, 'file')
  } finally {
    fs.closeSync(opened)
  }
}

function refuseSecondName(path: string): never {
  throw new Objection(3, `${path} has a second name elsewhere`, 'remove it, if it is not the site’s')
}

function inFolder(giving: Giving, at: string, names: readonly string[], path: string): void {
  const opened = openFolder(at, path)
  try {
    give(giving, opened, names, 'folder')
    for (const name of fs.readdirSync(below(opened, ''))) entry(giving, opened, [...names, name], `${path}/${name}`)
  } finally {
    fs.closeSync(opened)
  }
}

function openFolder(at: string, path: string): number {
  try {
    return fs.openSync(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  } catch {
    throw new Objection(3, `${path} is no folder`)
  }
}

function below(folder: number, name: string): string {
  return `/proc/self/fd/${folder}/${name}`
}

function give(giving: Giving, opened: number, names: readonly string[], kind: Kind): void {
  const { uid, gid, mode } = wantedFor(names, kind, giving.division)
  const found = fs.fstatSync(opened)
  if (found.uid === uid && found.gid === gid && (found.mode & 0o7777) === mode) return
  giving.changes += 1
  // Closed before it changes hands, opened after.
  fs.fchmodSync(opened, mode & 0o700)
  fs.fchownSync(opened, uid, gid)
  fs.fchmodSync(opened, mode)
}

/** This process holds the locks of the roles, and would lose one by opening and closing its file. */
function isLock([part, , name, ...more]: readonly string[]): boolean {
  return part === 'run' && name === 'lock' && more.length === 0
}

function giveByName(giving: Giving, at: string, names: readonly string[], found: fs.Stats): void {
  const { uid, gid } = wantedFor(names, 'file', giving.division)
  if (found.uid === uid && found.gid === gid) return
  giving.changes += 1
  fs.lchownSync(at, uid, gid)
}
