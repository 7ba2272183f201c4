// Paths that root may follow: no part of them is a link, and no other user can exchange a part.
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { OfflineCommandError } from '../offline-command-error.ts'

/** The path below the root of the installation. */
export function placePath(root: string, path: string): string {
  return root === '/' ? path : join(root, path)
}

/**
 * Checks every folder above the path that exists. Since each belongs to root and only root may write there, the check holds until the
 * path is used. Throws `OfflineCommandError` (3).
 */
export function requireSafeParents(path: string): void {
  const parent = dirname(path)
  if (parent !== path) requireSafeParents(parent)
  const stats = fs.lstatSync(parent, { throwIfNoEntry: false })
  if (!stats) return
  if (stats.isSymbolicLink())
    throw new OfflineCommandError(3, `${parent} is a link, which is not followed`, 'name the folder that it leads to')
  if (!stats.isDirectory()) throw new OfflineCommandError(3, `${parent} is not a folder`)
  if (stats.uid !== 0 && stats.uid !== process.geteuid?.())
    throw new OfflineCommandError(
      3,
      `${parent} belongs to user ${stats.uid}, who could exchange what is in it`,
      `chown root ${parent}`,
    )
  // In a sticky folder only the owner of an entry can exchange it, and the entry is checked as well.
  if ((stats.mode & 0o022) !== 0 && (stats.mode & 0o1000) === 0)
    throw new OfflineCommandError(3, `other users may write in ${parent}`, `chmod go-w ${parent}`)
}

/** The entry at a path below the root, without following it; its parents are checked first. */
export function statPlaced(
  root: string,
  path: string,
): { readonly placed: string; readonly stats: fs.Stats | undefined } {
  const placed = placePath(root, path)
  requireSafeParents(placed)
  return { placed, stats: fs.lstatSync(placed, { throwIfNoEntry: false }) }
}

/**
 * Where a file or link is made before it is renamed: one name for each, and free. What a killed run left there is removed by the next
 * run, and by a removal.
 */
export function clearDraft(placed: string): string {
  const draft = join(dirname(placed), `.${basename(placed)}.draft`)
  fs.rmSync(draft, { force: true })
  return draft
}
