// Finds the files of a folder that can be taken, and the reasons why others stay where they are.
import { fstatSync, lstatSync, opendirSync } from 'node:fs'
import { setImmediate as pause } from 'node:timers/promises'
import { inferDataKind, readableExtensions } from '../../../../adapters/platform/data-file/data-kinds.ts'
import { openPlainFile, TenantDataFileError } from '../../../../adapters/platform/data-file/tenant-data-file.ts'
import type { FolderScan } from '../../../roles/resolution/arrival-folder/watched-folder.ts'
import { type FolderDescriptors, ownFolders } from './folder-descriptors.ts'

/** Names that one look holds: a folder of more is taken in several looks. */
const max_names = 1_000
/** Names between two turns of the event loop: whoever may write in the folder may fill it. */
const names_per_turn = 100
const max_left = 20
/** With the ends that are appended to it, a name of the file system has 255 bytes at most. */
const max_name_bytes = 200

/** A file that could not be taken, and the rights under which it could not. */
export type UnmovableFile = { readonly reason: string; readonly rights: string }

/** Changes where another attempt to take the file may succeed. */
export function describeRights(folder: FolderDescriptors, name: string): string {
  const { mode, uid, gid } = fstatSync(folder.incoming)
  const file = lstatSync(folder.path('incoming', name), { throwIfNoEntry: false })
  return [mode, uid, gid, file?.ino, file?.ctimeMs].join(' ')
}

/** `unmovable`: by name. Forgets those that are gone. */
export async function scanFolder(
  folder: FolderDescriptors,
  unmovable: Map<string, UnmovableFile>,
): Promise<FolderScan> {
  const waiting: string[] = []
  const left: { name: string; reason: string }[] = []
  const seen = new Set<string>()
  let left_count = 0
  await forEachName(folder.path('incoming'), (name) => {
    if (name.startsWith('.') || ownFolders.some((own) => own === name)) return true
    const refused = unmovable.get(name)
    const isUnmovable = refused !== undefined && refused.rights === describeRights(folder, name)
    if (isUnmovable) seen.add(name)
    const reason = findNameFault(name) ?? (isUnmovable ? refused.reason : findFileFault(folder, name))
    if (reason === undefined) waiting.push(name)
    else {
      left_count += 1
      if (left.length < max_left) left.push({ name, reason })
    }
    return waiting.length < max_names
  })
  for (const name of unmovable.keys()) if (!seen.has(name)) unmovable.delete(name)
  return { waiting: waiting.sort(), claims: await listClaims(folder), left, left_count }
}

/** Until `take` returns false. */
async function forEachName(path: string, take: (name: string) => boolean): Promise<void> {
  const entries = opendirSync(path)
  try {
    let count = 0
    for (let entry = entries.readSync(); entry; entry = entries.readSync()) {
      if (!take(entry.name)) return
      if (++count % names_per_turn === 0) await pause()
    }
  } finally {
    entries.closeSync()
  }
}

async function listClaims(folder: FolderDescriptors): Promise<string[]> {
  const claims: string[] = []
  await forEachName(folder.path('work'), (name) => {
    if (isClaimName(name)) claims.push(name)
    return claims.length < max_names
  })
  return claims.sort()
}

/** The name of a file and 64 random bits. */
function isClaimName(name: string): boolean {
  return /^.+\.[0-9a-f]{16}$/.test(name)
}

function findNameFault(name: string): string | undefined {
  // The replacement character stands for bytes that are not UTF-8, by which the file could not be opened.
  if (/[\p{C}\u{fffd}]/u.test(name)) return 'its name has control characters, or bytes that are not UTF-8; rename it'
  if (Buffer.byteLength(name) > max_name_bytes) return `its name has more than ${max_name_bytes} bytes; shorten it`
  if (inferDataKind(name)) return undefined
  return `its name does not end in one of ${readableExtensions.join(', ')}`
}

function findFileFault(folder: FolderDescriptors, name: string): string | undefined {
  try {
    openPlainFile(folder.path('incoming', name)).close()
    return undefined
  } catch (error) {
    if (error instanceof TenantDataFileError && error.isFinal) return error.message
    throw error
  }
}
