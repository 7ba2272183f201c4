// Opens data files that a request names: regular files below the folder of the tenant, without following links.
import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { type DataFile, DataFileError, openDataDescriptor } from './data-file.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants

/** A data file that cannot be opened. The message is a full sentence without a path. */
export class TenantDataFileError extends Error {
  /** False where the system, not the file, is at fault: another attempt may succeed. */
  readonly isFinal: boolean
  constructor(message: string, isFinal = true) {
    super(message)
    this.isFinal = isFinal
  }
}

/** Names that the file system would read as a path, or refuse. */
function isPlainName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name)
}

/**
 * Opens folder by folder, each relative to the one before, so that a path cannot be swapped meanwhile. Throws
 * `TenantDataFileError` where the file does not exist, is or is behind a link, has a second name, or cannot be read. The
 * caller closes the file.
 */
export function openTenantDataFile(data_folder: string | undefined, tenant_id: string, name: string): DataFile {
  const names = [tenant_id, ...name.split('/')]
  if (data_folder === undefined) throw new TenantDataFileError('this site has no folder of data files')
  if (!names.every(isPlainName)) throw new TenantDataFileError(missing_file)
  const file = names.pop() ?? ''
  let folder = convertOpenErrors(() => openSync(data_folder, O_RDONLY | O_DIRECTORY), {})
  try {
    for (const folderName of names) {
      const subfolder = convertOpenErrors(
        () => openSync(descriptorPath(folder, folderName), O_RDONLY | O_DIRECTORY | O_NOFOLLOW),
        reasonsByCode,
      )
      closeSync(folder)
      folder = subfolder
    }
    return openPlainFile(descriptorPath(folder, file))
  } finally {
    closeSync(folder)
  }
}

/** Opens a regular file with one name, and no link. Throws `TenantDataFileError`. */
export function openPlainFile(file: string): DataFile {
  // Opening a pipe must not block.
  const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
  return requirePlainFile(convertOpenErrors(() => openSync(file, flags), reasonsByCode))
}

const missing_file = 'the data file does not exist'
const denied_file = 'the service may not read this data file'
const second_name = 'the data file has a second name (a hard link); copy it into the folder instead'
const not_a_file = 'the data file is a folder, a pipe or a device, not a regular file'
const reasonsByCode: Readonly<Record<string, string>> = {
  ...{ ENOENT: missing_file, ENOTDIR: missing_file, ELOOP: missing_file, ENAMETOOLONG: missing_file },
  ...{ EACCES: denied_file, EPERM: denied_file, ENXIO: not_a_file, ENODEV: not_a_file },
}

function convertOpenErrors(open: () => number, reasons: Readonly<Record<string, string>>): number {
  try {
    return open()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    const reason = reasons[code]
    throw new TenantDataFileError(
      reason ?? `the folder of data files of this site cannot be read (${code})`,
      reason !== undefined,
    )
  }
}

function descriptorPath(folder: number, name: string): string {
  return join('/proc/self/fd', String(folder), name)
}

function requirePlainFile(descriptor: number): DataFile {
  // A user who may write in the folder can give a name there to any file on the same disk that the service may read.
  if (fstatSync(descriptor).isFile() && fstatSync(descriptor).nlink !== 1) {
    closeSync(descriptor)
    throw new TenantDataFileError(second_name)
  }
  try {
    return openDataDescriptor(descriptor)
  } catch (error) {
    throw error instanceof DataFileError ? new TenantDataFileError(not_a_file) : error
  }
}
