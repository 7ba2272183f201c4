// Folders that workers and the site share by a group: where a folder has one for its entries (setgid), what is made in it is for that group.
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

const setgid = 0o2000

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
  try {
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o640)
    chmodSync(folder, setgid | 0o750)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
  }
}
