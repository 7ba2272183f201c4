// Opens the folders of a channel without following links, and reaches their files through these descriptors alone.
import * as fs from 'node:fs'
import { join } from 'node:path'
import {
  type ChannelFolderName,
  type ChannelFolders,
  channelFolderNames,
  channelFolderPaths,
  describeFolderFault,
  everyFolderPath,
} from './channel-folders.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = fs.constants

export type PinnedFolders = {
  /**
   * Paths through the descriptors once the folders are open: what takes a folder's place later is never read or written. Before
   * that, the plain paths.
   */
  readonly folders: ChannelFolders
  /** Opens the folders at the first call. Why they may not be used; undefined while each is the one that was opened. */
  fault(): string | undefined
  close(): void
}

type OpenFolder = { readonly descriptor: number; readonly identity: string }

/** `paths`: of the channel. The descriptors stay open until `close`, so that the file system cannot be unmounted meanwhile. */
export function pinnedFolders(paths: ChannelFolders): PinnedFolders {
  let open: ReadonlyMap<string, OpenFolder> | undefined
  const folders = { home: paths.home } as Record<ChannelFolderName | 'home', string>
  for (const name of channelFolderNames) {
    Object.defineProperty(folders, name, {
      enumerable: true,
      get: () => {
        const opened = open?.get(channelFolderPaths[name])
        return opened ? descriptorPath(opened.descriptor) : paths[name]
      },
    })
  }
  return {
    folders,
    fault() {
      if (open) return findReplaced(paths.home, open)
      const opened = openAll(paths.home)
      if (typeof opened === 'string') return opened
      open = opened
      return undefined
    },
    close() {
      if (open) closeAll(open)
      open = undefined
    },
  }
}

function openAll(home: string): ReadonlyMap<string, OpenFolder> | string {
  const open = new Map<string, OpenFolder>()
  for (const path of everyFolderPath) {
    const opened = openFolder(home, path)
    if (typeof opened === 'string') {
      closeAll(open)
      return describeFolderFault(path, opened)
    }
    open.set(path, opened)
  }
  return open
}

/**
 * Opens a folder below the one of a channel, each step relative to the one before, so that none can be swapped between two. The
 * error code where one of them is a link, not a folder, or may not be read.
 */
export function openFolder(home: string, path: string): OpenFolder | string {
  let descriptor: number | undefined
  try {
    for (const name of ['', ...path.split('/').filter((each) => each !== '')]) {
      const above: number | undefined = descriptor
      const next = above === undefined ? home : join(descriptorPath(above), name)
      descriptor = fs.openSync(next, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
      if (above !== undefined) fs.closeSync(above)
    }
  } catch (error) {
    if (descriptor !== undefined) fs.closeSync(descriptor)
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
  const opened = descriptor ?? -1
  return { descriptor: opened, identity: identityOf(fs.fstatSync(opened)) }
}

/** A path to the open folder, in this process alone. */
export function descriptorPath(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`
}

function findReplaced(home: string, open: ReadonlyMap<string, OpenFolder>): string | undefined {
  for (const [path, { identity }] of open) {
    const stat = fs.lstatSync(join(home, path), { throwIfNoEntry: false })
    if (!stat) return describeFolderFault(path, 'ENOENT')
    if (!stat.isDirectory()) return describeFolderFault(path, 'ENOTDIR')
    if (identityOf(stat) !== identity)
      return `the folder ${path || 'of the channel'} is not the one that was opened: ${replaced}`
  }
  return undefined
}

const replaced = 'find out what replaced it; after a deliberate change or a new mount, restart role site'

function identityOf({ dev, ino }: fs.Stats): string {
  return `${dev}:${ino}`
}

function closeAll(open: ReadonlyMap<string, OpenFolder>): void {
  for (const { descriptor } of open.values()) fs.closeSync(descriptor)
}
