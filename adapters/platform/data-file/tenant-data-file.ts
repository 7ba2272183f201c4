// Opens data files that a request names: regular files below the folder of the tenant, without following links.
import { closeSync, constants, fstatSync, openSync, readdirSync } from 'node:fs'
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
  const file = names.at(-1) ?? ''
  if (!isPlainName(file)) throw new TenantDataFileError(data_folder === undefined ? no_folder : missing_file)
  return withFolder(data_folder, names.slice(0, -1), (folder) => openPlainFile(descriptorPath(folder, file)))
}

/** The names in a folder, by the same rules; undefined where this is a file. Throws `TenantDataFileError`. */
export function listTenantDataFiles(
  data_folder: string | undefined,
  tenant_id: string,
  name: string,
): readonly string[] | undefined {
  const names = [tenant_id, ...name.split('/')]
  try {
    return withFolder(data_folder, names, (folder) =>
      convertOpenErrors(() => readdirSync(descriptorPath(folder, '.')), reasonsByCode),
    )
  } catch (error) {
    if (!(error instanceof TenantDataFileError) || !error.isFinal) throw error
    openTenantDataFile(data_folder, tenant_id, name).close()
    return undefined
  }
}

function withFolder<T>(data_folder: string | undefined, names: readonly string[], use: (folder: number) => T): T {
  if (data_folder === undefined) throw new TenantDataFileError(no_folder)
  if (!names.every(isPlainName)) throw new TenantDataFileError(missing_file)
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
    return use(folder)
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

const no_folder = 'this site has no folder of data files'
const missing_file = 'the data file does not exist'
const denied_file = 'the service may not read this data file'
const second_name = 'the data file has a second name (a hard link); copy it into the folder instead'
const not_a_file = 'the data file is a folder, a pipe or a device, not a regular file'
const reasonsByCode: Readonly<Record<string, string>> = {
  ...{ ENOENT: missing_file, ENOTDIR: missing_file, ELOOP: missing_file, ENAMETOOLONG: missing_file },
  ...{ EACCES: denied_file, EPERM: denied_file, ENXIO: not_a_file, ENODEV: not_a_file },
}

function convertOpenErrors<T>(open: () => T, reasons: Readonly<Record<string, string>>): T {
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
