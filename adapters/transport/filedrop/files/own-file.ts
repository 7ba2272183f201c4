// Writes this site's own files: private, complete or absent, and durable after a power cut.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import * as fsp from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

const max_own_file_bytes = 65_536

/** Undefined when it is absent, no regular file, or larger than any of ours. */
export function readOwnFile(path: string): string | undefined {
  const found = fs.lstatSync(path, { throwIfNoEntry: false })
  if (!found?.isFile() || found.size > max_own_file_bytes) return undefined
  return fs.readFileSync(path, 'utf8')
}

/** Replaces the file by these bytes (0600); a crash leaves the old one or the new one. Throws when the disk says no. */
export function writeDurably(path: string, text: string | Buffer): void {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`)
  const file = fs.openSync(draft, 'wx', 0o600)
  try {
    fs.writeFileSync(file, text)
    fs.fsyncSync(file)
  } catch (error) {
    fs.rmSync(draft, { force: true })
    throw error
  } finally {
    fs.closeSync(file)
  }
  fs.renameSync(draft, path)
  syncFolder(dirname(path))
}

export function syncFolder(folder: string): void {
  const handle = fs.openSync(folder, 'r')
  try {
    fs.fsyncSync(handle)
  } finally {
    fs.closeSync(handle)
  }
}

export async function syncFolderAsync(folder: string): Promise<void> {
  const handle = await fsp.open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
