// Notices changes in a folder at once; the periodic rescan finds whatever a watcher misses.
import { type FSWatcher, watch } from 'chokidar'

export type Watching = { close(): Promise<void> }

/** Calls for every change directly in these folders. A watcher that fails is told once, and only makes things slower. */
export function watchFolders(
  folders: readonly string[],
  onChange: () => void,
  onError: (error: unknown) => void,
): Watching {
  const watcher: FSWatcher = watch([...folders], {
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
