// Finds the data files that a command names: files, landed datasets, the data files of folders, patterns, and standard input.
import { globSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inferDataKind, isMedia, readableExtensions } from '../../../../adapters/platform/data-file/data-kinds.ts'
import { isLandedFolder } from '../../../../adapters/platform/data-file/landed-folder.ts'
import { runAsInvoker } from '../../../boot/host/act-as-owner.ts'
import { OfflineCommandError } from '../../offline-command-error.ts'
import { standard_input } from './source-names.ts'

/** Each file is one source. */
const max_files = 10_000

/**
 * Returns the files in the order of the words; those of a folder or a pattern by name. `onRemark` receives what a folder has that
 * is not read. Throws `OfflineCommandError`: 1 for a folder or a pattern without data files, 2 for standard input twice.
 */
export function findDataFiles(words: readonly string[], onRemark: (remark: string) => void): string[] {
  if (words.filter((word) => word === standard_input).length > 1)
    throw new OfflineCommandError(2, 'standard input can be read once', `name ${standard_input} once`)
  const files = words.flatMap((word) => runAsInvoker(() => findFiles(word, onRemark)))
  if (files.length > max_files)
    throw new OfflineCommandError(1, `there are ${files.length} data files; at most ${max_files} are read together`)
  return files
}

function findFiles(word: string, onRemark: (remark: string) => void): string[] {
  if (word === standard_input) return [word]
  const kind = kindOf(word)
  if (kind === 'folder') return isLandedFolder(word) ? [word] : listFolder(word, onRemark)
  // A file may have the characters of patterns in its name.
  return kind !== undefined || !/[*?[{]/.test(word) ? [word] : findMatches(word)
}

function findMatches(pattern: string): string[] {
  const files = globSync(pattern)
    .filter((file) => kindOf(file) !== 'folder')
    .sort()
  if (files.length > 0) return files
  throw new OfflineCommandError(1, `no file matches ${pattern}`, 'name the files, or their folder')
}

/** Programs that edit a file keep a lock beside it under such a name. */
const lock_prefix = '~$'

/** Endings of files that a folder is read for. */
const folderExtensions = readableExtensions.filter((extension) => !['.json', '.xml', '.zip'].includes(extension))

function listFolder(folder: string, onRemark: (remark: string) => void): string[] {
  const names = readNames(folder)
    .filter((name) => !name.startsWith('.') && !name.startsWith(lock_prefix))
    .sort()
  const kinds = new Map(
    names.map((name): [string, PathKind | 'link' | undefined] => {
      const file = join(folder, name)
      return [name, isForeignLink(file) ? 'link' : kindOf(file)]
    }),
  )
  const ofKind = (...wanted: (PathKind | 'link' | undefined)[]) =>
    names.filter((name) => wanted.includes(kinds.get(name)))
  // A document beside data usually describes it.
  const documents = ofKind('file').filter((name) => ['json', 'xml'].includes(inferDataKind(name) ?? ''))
  // Any files may be in an archive.
  const archives = ofKind('file').filter((name) => /\.zip$/i.test(name))
  const apart = [...documents, ...archives]
  const readable = ofKind('file').filter((name) => inferDataKind(name) !== undefined && !apart.includes(name))
  const tables = readable.filter((name) => !hasMedia(name))
  // Images and documents are read of a folder that has nothing else.
  const media = tables.length > 0 ? readable.filter((name) => hasMedia(name)) : []
  const data = tables.length > 0 ? tables : readable
  const remark = (left: readonly string[], why: string) => {
    if (left.length > 0)
      onRemark(`of ${folder}, ${listNames(left)} ${left.length === 1 ? 'is' : 'are'} not read: ${why}`)
  }
  remark(
    ofKind('file').filter((name) => !readable.includes(name) && !apart.includes(name)),
    `the format cannot be inferred from the ending (${folderExtensions.join(', ')} do); name the file itself`,
  )
  remark(documents, 'a document of JSON or XML; name the file itself if it has records')
  remark(archives, 'an archive; name the file itself if it has a shapefile')
  remark(media, 'an image or a document beside data; name the file itself')
  remark(ofKind('folder'), 'a folder; name it too')
  remark(ofKind('link'), 'a link of another user, which may lead anywhere; name the file itself')
  remark(ofKind('special', undefined), 'not a file')
  if (data.length > 0) return data.map((name) => join(folder, name))
  throw new OfflineCommandError(
    1,
    `${folder} has no data file`,
    `data files in a folder end with ${folderExtensions.join(', ')}`,
  )
}

function hasMedia(name: string): boolean {
  const kind = inferDataKind(name)
  return kind !== undefined && isMedia(kind)
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    throw new OfflineCommandError(1, `${folder} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

type PathKind = 'file' | 'folder' | 'special'

/** Of what a link leads to; undefined for nothing. Does not open it: a pipe would block, and a device act. */
function kindOf(file: string): PathKind | undefined {
  try {
    const stats = statSync(file, { throwIfNoEntry: false })
    if (!stats) return undefined
    return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'special'
  } catch {
    return undefined
  }
}

/** Whoever can write into the folder could have the command read a file that only its user may. */
function isForeignLink(file: string): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  return stats?.isSymbolicLink() === true && stats.uid !== process.geteuid?.()
}

const max_named = 5

function listNames(names: readonly string[]): string {
  const others = names.length - max_named
  return `${names.slice(0, max_named).join(', ')}${others > 0 ? ` and ${others} more` : ''}`
}
