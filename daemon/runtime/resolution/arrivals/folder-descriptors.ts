// Opens a folder in which records arrive and the three folders of the service in it, each by a descriptor: a name that another
// user swaps meanwhile leads nowhere.
import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'

/** In the order in which a file goes through them. */
export const ownFolders = ['work', 'done', 'failed'] as const
export type OwnFolder = (typeof ownFolders)[number]

/** Those who may read the folder's group read the answers. */
export const folder_mode = 0o750

/** `path`: of a name in the folder of files, or in one of the service. */
export type FolderDescriptors = {
  readonly incoming: number
  path(of: 'incoming' | OwnFolder, ...names: string[]): string
  close(): void
}

/** A folder that cannot be used. The message continues a sentence after its name. */
export class ArrivalFolderError extends Error {}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants

type FolderOpening = { readonly createsFolders: boolean }

/** Throws `ArrivalFolderError`. Creates the folders of the service where they are missing. */
export function openFolderDescriptors(
  folder: string,
  opening: FolderOpening = { createsFolders: true },
): FolderDescriptors {
  const opened: Partial<Record<'incoming' | OwnFolder, number>> = {}
  const close = () => {
    for (const descriptor of Object.values(opened)) closeSync(descriptor)
  }
  try {
    opened.incoming = convertErrors('', () => openSync(folder, O_RDONLY | O_DIRECTORY))
    for (const name of ownFolders) {
      const descriptor = openOwnFolder(opened.incoming, name, opening)
      if (descriptor !== undefined) opened[name] = descriptor
    }
  } catch (error) {
    close()
    throw error
  }
  const { incoming } = opened
  return { incoming, path: (of, ...names) => join(descriptorPath(opened[of] ?? -1), ...names), close }
}

function descriptorPath(descriptor: number): string {
  return join('/proc/self/fd', String(descriptor))
}

/** Another user's folder of this name could be changed or read by that user. */
function openOwnFolder(incoming: number, name: OwnFolder, { createsFolders }: FolderOpening): number | undefined {
  const path = join(descriptorPath(incoming), name)
  if (!createsFolders && !lstatSync(path, { throwIfNoEntry: false })) return undefined
  convertErrors(`: its folder ${name}`, () => {
    try {
      if (createsFolders) mkdirSync(path, { mode: folder_mode })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  })
  const descriptor = convertErrors(`: its folder ${name}`, () => openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
  const { uid, mode } = fstatSync(descriptor)
  const isOwn = uid === process.geteuid?.()
  if (isOwn && (mode & 0o022) === 0) return descriptor
  closeSync(descriptor)
  const why = isOwn ? 'may be written by other users' : 'belongs to another user'
  throw new ArrivalFolderError(`: its folder ${name} ${why}; the service needs one of its own`)
}

const reasonsByCode: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not a folder',
  ELOOP: 'is a link',
  EACCES: 'may not be read and written by this user',
  EPERM: 'may not be read and written by this user',
  EROFS: 'is on a file system that is read-only',
  ENOSPC: 'is on a disk that is full',
  EDQUOT: 'is on a disk whose quota is used up',
}

export function describeFolderError(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException
  return reasonsByCode[code] ?? `cannot be used (${code})`
}

function convertErrors<T>(subject: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw new ArrivalFolderError(`${subject} ${describeFolderError(error)}`)
  }
}

/** Why the folder cannot be used now, to continue a sentence after its name; undefined where it can. */
export function findFolderFault(folder: string, opening?: FolderOpening): string | undefined {
  try {
    openFolderDescriptors(folder, opening).close()
    return undefined
  } catch (error) {
    if (error instanceof ArrivalFolderError) return error.message
    throw error
  }
}
