// Notices changes in a folder at once; the periodic rescan finds whatever a watcher misses.
import { type FSWatcher, watch } from 'chokidar'

export type Watching = { close(): Promise<void> }

/** Calls for every change directly in this folder. A watcher that fails only makes things slower. */
export function watchFolder(folder: string, onChange: () => void, onError: (error: unknown) => void): Watching {
  const watcher: FSWatcher = watch(folder, {
    depth: 0,
    ignoreInitial: true,
    followSymlinks: false,
    atomic: false,
    persistent: true,
  })
  watcher.on('all', onChange)
  // What came between the first scan and the watcher's start would otherwise wait for the next rescan.
  watcher.on('ready', onChange)
  watcher.on('error', onError)
  return { close: () => watcher.close() }
}
