// Names what is missing where the file system reported ENOENT: the first folder of the path that does not exist, and the remedy.
import { existsSync } from 'node:fs'
import { basename, dirname, isAbsolute } from 'node:path'

export type MissingPath = { readonly path: string; readonly message: string; readonly remedy: string }

/** Undefined for an error that does not name a missing file. */
export function findMissingPath(error: unknown): MissingPath | undefined {
  const { code, path } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
  if (code !== 'ENOENT' || path === undefined || !isAbsolute(path)) return undefined
  let missing = path
  while (!existsSync(dirname(missing))) missing = dirname(missing)
  // Removed between the error and this look: what is left to name is the file.
  const isFolder = missing !== path
  return { path: missing, message: `${missing} is missing`, remedy: isFolder ? restoreFolder(missing) : restore_file }
}

const restore_file = 'restore it from a backup, and repeat'

/** `run` holds locks and sockets of running processes alone, so that an empty one is as good as the lost one. */
export function restoreFolder(path: string): string {
  const create = `mkdir -m 700 ${path}`
  return basename(path) === 'run' ? `run: ${create}` : `restore it from a backup, or run: ${create}`
}
