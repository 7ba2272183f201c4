// Folders that workers and the site share by a group: where a folder has one for its entries (setgid), what is made in it is for that group.
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

const setgid = 0o2000
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

export function isForGroup(folder: string): boolean {
  return (statSync(folder).mode & setgid) !== 0
}

/** Makes it and its parents: for this user alone, or for the group of the folder that it is in. */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
    if (isForGroup(dirname(folder))) chmodSync(folder, setgid | 0o770)
  } catch (error) {
    // Another process was first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Lets the group read what has landed. Repeatable; what another user has landed is that user's to share. */
export function shareDataset(folder: string): void {
  if (!isForGroup(dirname(folder))) return
  for (const name of readdirSync(folder)) shareEntry(join(folder, name))
  shareEntry(folder)
}

/** Not what a link or a second name leads to: the group may make either of files that are for this user alone. */
function shareEntry(entry: string): void {
  let opened: number | undefined
  try {
    opened = openSync(entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const found = fstatSync(opened)
    if (found.isDirectory()) fchmodSync(opened, setgid | 0o750)
    else if (found.isFile() && found.nlink === 1) fchmodSync(opened, 0o640)
  } catch (error) {
    if (!['EPERM', 'EACCES', 'ELOOP', 'ENXIO'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    if (opened !== undefined) closeSync(opened)
  }
}
