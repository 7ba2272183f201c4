// Opens data files that a request names: below the tenant's own folder, by no link, and nothing but plain files.
import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { fileOf, type OpenFile } from './data-bytes.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants

/** Names that the file system would read as a way, or not at all. */
function isPlainName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name)
}

/** A data file of the tenant; undefined where there is none of that name, or no folder of them. The caller closes it. */
export function openNamed(data_folder: string | undefined, tenant_id: string, name: string): OpenFile | undefined {
  const opened = data_folder === undefined ? undefined : openDataFile(data_folder, tenant_id, name)
  return opened === undefined ? undefined : fileOf(opened)
}

/**
 * Folder by folder, each from the one before, so that nothing can be put in the way meanwhile. Undefined when there is no such
 * file, or it is a link, or behind one. The caller closes it.
 */
function openDataFile(data_folder: string, tenant_id: string, name: string): number | undefined {
  const names = [tenant_id, ...name.split('/')]
  if (!names.every(isPlainName)) return undefined
  const file = names.pop() ?? ''
  let folder = openSync(data_folder, O_RDONLY | O_DIRECTORY)
  try {
    for (const each of names) {
      const next = openSync(within(folder, each), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
      closeSync(folder)
      folder = next
    }
    // A pipe must not hold up whoever opens it.
    return plainFile(openSync(within(folder, file), O_RDONLY | O_NOFOLLOW | O_NONBLOCK))
  } catch {
    return undefined
  } finally {
    closeSync(folder)
  }
}

function within(folder: number, name: string): string {
  return join('/proc/self/fd', String(folder), name)
}

function plainFile(opened: number): number | undefined {
  if (fstatSync(opened).isFile()) return opened
  closeSync(opened)
  return undefined
}
