// Messages that are not complete, remembered by how their files look, so that none is opened again before it has changed.
import * as fs from 'node:fs'
import { type Item, pathOf } from './dropbox.ts'
import { kindOf } from './dropped-file.ts'
import type { Folders } from './layout.ts'
import { parts } from './names.ts'

/** `since`: when it was first seen so. `isSure`: it was opened long enough after that. Milliseconds. */
type Seen = { readonly look: string; readonly since: number; readonly isSure: boolean }

/** Whole pairs of names that waited with one scan, by stem. */
export type Incomplete = Map<string, Seen>

/** Longer than any file system's times of change are apart: what is written after that looks otherwise. */
const settled_ms = 3_000

/** Enters a pair that was found not to be complete. `now`: of the clock that never jumps. */
export function enterWaiting(item: Item, folders: Folders, before: Incomplete, after: Incomplete, now: number): void {
  if (!item.env || !item.body) return
  const look = lookOf(item, folders)
  const seen = before.get(item.stem)
  const isSame = seen?.look === look
  const since = isSame ? seen.since : now
  after.set(item.stem, { look, since, isSure: isSame && now - since >= settled_ms })
}

/** Whether it waits as it did before: a half that is a plain file, or a pair that nobody has touched since. */
export function stillWaits(item: Item, folders: Folders, before: Incomplete, after: Incomplete): boolean {
  if (parts.some((part) => item[part] === 'work')) return false
  try {
    if (!item.env || !item.body) return kindOf(pathOf(folders, item, item.env ? 'env' : 'body')) === undefined
    const seen = before.get(item.stem)
    if (!seen?.isSure || seen.look !== lookOf(item, folders)) return false
    after.set(item.stem, seen)
    return true
  } catch {
    // Whoever opens it meets the same, and tells.
    return false
  }
}

/** The time of change, which no sender sets, moves with whatever happens to a file, a second name of it too. */
function lookOf(item: Item, folders: Folders): string {
  const looks = parts.map((part) => {
    const stat = fs.lstatSync(pathOf(folders, item, part), { throwIfNoEntry: false })
    return [stat?.ino, stat?.size, stat?.ctimeMs].join(' ')
  })
  return looks.join(' ')
}
