// The file system of the git library, whose writes are whole and on disk: it writes files in place and does not sync them.
import { randomBytes } from 'node:crypto'
import * as fsp from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFolderAsync } from '../../platform/durable-file/sync-folder.ts'
import { writeDurablyAsync } from '../../platform/durable-file/write-durably.ts'

/** Folders that were made get their own name to disk, too. */
async function makeFolder(folder: string): Promise<void> {
  await fsp.mkdir(folder, { mode: 0o700 })
  await syncFolderAsync(dirname(folder))
}

/** A draft has a name that git knows as one of an object that was never finished: its own clean-up removes it. */
async function writeFile(file: string, content: string | Uint8Array): Promise<void> {
  const draft = join(dirname(file), `tmp_obj_${randomBytes(6).toString('hex')}`)
  await writeDurablyAsync(file, content, { draft })
}

async function unlink(file: string): Promise<void> {
  await fsp.unlink(file)
  await syncFolderAsync(dirname(file))
}

const { readFile, rmdir, stat, lstat, readdir, readlink, symlink } = fsp
export const durableGitFiles = {
  promises: { readFile, writeFile, mkdir: makeFolder, rmdir, unlink, stat, lstat, readdir, readlink, symlink },
}

/**
 * Puts the names of objects on disk. The library writes no object that is there already: it may be that of a process whose folder
 * is not synced yet.
 */
export async function syncObjects(gitdir: string, ids: readonly string[]): Promise<void> {
  const objects = join(gitdir, 'objects')
  for (const folder of new Set(ids.map((id) => id.slice(0, 2)))) {
    // An object of a pack has no folder.
    await syncFolderAsync(join(objects, folder)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }
  await syncFolderAsync(objects)
}
