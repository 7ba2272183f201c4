// Opens data files that a request names: below the tenant's own folder, by no link, and nothing but plain files.
import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { FileFault, type OpenFile, openedFile } from './data-bytes.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants

/** Why there is no such file for whoever asks; a sentence of its own, without a path. */
export class DataFileFault extends Error {}

/** Names that the file system would read as a way, or not at all. */
function isPlainName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name)
}

/**
 * Folder by folder, each from the one before, so that nothing can be put in the way meanwhile. Throws `DataFileFault` when there
 * is no such file, or it is a link, or behind one, or none that can be read. The caller closes it.
 */
export function openDataFile(data_folder: string | undefined, tenant_id: string, name: string): OpenFile {
  const names = [tenant_id, ...name.split('/')]
  if (data_folder === undefined) throw new DataFileFault('this site has no folder of data files')
  if (!names.every(isPlainName)) throw new DataFileFault(missing)
  const file = names.pop() ?? ''
  let folder = opening(() => openSync(data_folder, O_RDONLY | O_DIRECTORY), {})
  try {
    for (const each of names) {
      const next = opening(() => openSync(within(folder, each), O_RDONLY | O_DIRECTORY | O_NOFOLLOW), reasons)
      closeSync(folder)
      folder = next
    }
    // A pipe must not hold up whoever opens it.
    return plainFile(opening(() => openSync(within(folder, file), O_RDONLY | O_NOFOLLOW | O_NONBLOCK), reasons))
  } finally {
    closeSync(folder)
  }
}

const missing = 'there is no such data file'
const denied = 'the service may not read this data file'
const none = 'it is a folder, a pipe or a device, and no file'
const reasons: Readonly<Record<string, string>> = {
  ...{ ENOENT: missing, ENOTDIR: missing, ELOOP: missing, ENAMETOOLONG: missing },
  ...{ EACCES: denied, EPERM: denied, ENXIO: none, ENODEV: none },
}

function opening(open: () => number, known: Readonly<Record<string, string>>): number {
  try {
    return open()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw new DataFileFault(known[code] ?? `the folder of data files of this site cannot be read (${code})`)
  }
}

function within(folder: number, name: string): string {
  return join('/proc/self/fd', String(folder), name)
}

function plainFile(opened: number): OpenFile {
  try {
    return openedFile(opened)
  } catch (error) {
    throw error instanceof FileFault ? new DataFileFault(none) : error
  }
}
