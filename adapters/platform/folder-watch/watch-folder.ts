// Watches a folder for changes. The periodic rescan finds the changes that a watcher misses.
import { type FSWatcher, watch } from 'chokidar'

export type FolderWatcher = { close(): Promise<void> }

/**
 * Calls `onChange` for every change directly in this folder. A watcher that fails only delays scans. Only events of the folder
 * are used: a watcher that tracks each file takes 3 KB per file, and an untrusted carrier can fill the folder.
 */
export function watchFolder(folder: string, onChange: () => void, onError: (error: unknown) => void): FolderWatcher {
  const watcher: FSWatcher = watch(folder, {
    ignored: (path) => path !== folder,
    depth: 0,
    ignoreInitial: true,
    followSymlinks: false,
    atomic: false,
    persistent: true,
  })
  watcher.on('raw', onChange)
  // Files that came between the first scan and the watcher's start would otherwise wait for the next rescan.
  watcher.on('ready', onChange)
  watcher.on('error', onError)
  return { close: () => watcher.close() }
}
