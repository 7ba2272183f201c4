// Syncs a folder: names that were created, renamed or removed in it survive a power cut.
import * as fs from 'node:fs'
import * as fsp from 'node:fs/promises'

export function syncFolder(folder: string): void {
  const opened = fs.openSync(folder, 'r')
  try {
    fs.fsyncSync(opened)
  } finally {
    fs.closeSync(opened)
  }
}

export async function syncFolderAsync(folder: string): Promise<void> {
  const opened = await fsp.open(folder, 'r')
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}
