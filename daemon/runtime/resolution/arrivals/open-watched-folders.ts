// Opens the folders of the profile in which records arrive, watches them, and finds those that cannot be used.
import { type FolderWatcher, watchFolder } from '../../../../adapters/platform/folder-watch/watch-folder.ts'
import { ObservedDependencies } from '../../../kernel/role/observed-dependencies.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import type { ProfileProblem } from '../../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../../kernel/settings/settings.ts'
import type { Log } from '../../../kernel/telemetry/log.ts'
import { folderDependency } from '../../../roles/resolution/arrival-folder/folder-setting.ts'
import type { WatchedFolders } from '../../../roles/resolution/arrival-folder/watched-folder.ts'
import { settings } from '../../../roles/resolution/settings.ts'
import { findSharedFolder } from './find-shared-folder.ts'
import { findFolderFault } from './folder-descriptors.ts'
import { openWatchedFolder } from './open-watched-folder.ts'
import { openRowReader } from './threaded-rows.ts'

export type OpenFolders = {
  readonly folders: WatchedFolders
  readonly dependencies: ObservedDependencies
  stop(): Promise<void>
}

export function openWatchedFolders(resolved: ResolvedSettings, log: Log): OpenFolders {
  const { arrival_folders } = getSettings(resolved, settings)
  const readRows = openRowReader(resolved)
  const watchers: FolderWatcher[] = []
  return {
    folders: {
      folders: new Map(arrival_folders.map(({ name, path }) => [name, openWatchedFolder(path, readRows)])),
      statuses: new Map(),
      watch(onChange) {
        if (watchers.length > 0) return
        for (const { name, path } of arrival_folders) {
          const onError = (error: unknown) =>
            log.warn('resolution.arrival-folder.not_watched', { folder: name, error: String(error) })
          watchers.push(watchFolder(path, onChange, onError))
        }
      },
    },
    dependencies: new ObservedDependencies(arrival_folders.map(({ name }) => folderDependency(name))),
    async stop() {
      await Promise.all(watchers.splice(0).map((watcher) => watcher.close()))
    },
  }
}

/** A folder that cannot be used at the start is a mistake of the profile; one that goes away later only waits. */
export function findFolderProblems(resolved: ResolvedSettings): ProfileProblem[] {
  return getSettings(resolved, settings).arrival_folders.flatMap((folder, at, all) => {
    const { path } = folder
    // First, since the other check creates the folders of the service.
    const fault = findSharedFolder(folder, all.slice(0, at)) ?? findFolderFault(path)
    return fault === undefined
      ? []
      : [{ path: `resolution.arrival_folders.${at}.path`, message: `the folder ${path}${fault}` }]
  })
}
