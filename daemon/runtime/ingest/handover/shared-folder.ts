// Folders that workers and the site share by a group: where a folder has one for its entries (setgid), what is made in it is for that group.
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
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

/**
 * Makes `folder` within `root`: for this user alone, or for the group of the folder that it is in. Throws `ELOOP` for a link on the way:
 * others may write there, and what it leads to is not theirs.
 */
export function makeFolder(root: string, folder: string): void {
  if (isPlainFolder(root, folder)) return
  const parent = dirname(folder)
  if (folder === root) return void mkdirSync(root, { recursive: true, mode: 0o700 })
  makeFolder(root, parent)
  try {
    mkdirSync(folder, { mode: 0o700 })
    if (isForGroup(parent)) chmodSync(folder, setgid | 0o770)
  } catch (error) {
    // Another process was first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** False where it is not there. Throws `ELOOP` for a link within `root`, which may be one itself. */
export function isPlainFolder(root: string, folder: string): boolean {
  if (folder === root) return existsSync(root)
  if (!isPlainFolder(root, dirname(folder))) return false
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (found && !found.isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ELOOP', syscall: 'open' })
  return found !== undefined
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
