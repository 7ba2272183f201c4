// Names the sources of a command: each file is one, and results name a record by its source and id.
import { basename } from 'node:path'
import { OfflineCommandError } from '../../offline-command-error.ts'

/** The word for standard input in place of a file. */
export const standard_input = '-'

/** Names that a person gave to the sources of files, by file. */
export type SourceNames = ReadonlyMap<string, string>

/** The source of a file, which has its name without folders unless a person gave it another. */
export function nameSource(file: string, names?: SourceNames): string {
  return names?.get(file) ?? (file === standard_input ? 'stdin' : basename(file))
}

const max_name_bytes = 1_024

/** Assigns names to files, each as `NAME=FILE`, or `NAME` for a single file. Throws `OfflineCommandError` (2). */
export function assignSourceNames(files: readonly string[], words: readonly string[]): SourceNames {
  const names = new Map<string, string>()
  for (const word of words) {
    const [name, file] = parseSourceName(word, files)
    if (name === '' || /\p{Cc}/u.test(name) || Buffer.byteLength(name) > max_name_bytes)
      throw new OfflineCommandError(2, `--source ${JSON.stringify(word)} has no name of 1 to ${max_name_bytes} bytes`)
    if (names.has(file)) throw new OfflineCommandError(2, `--source names ${file} twice`)
    names.set(file, name)
  }
  refuseDuplicateSources(files.map((file) => nameSource(file, names)))
  return names
}

function parseSourceName(word: string, files: readonly string[]): readonly [name: string, file: string] {
  const [only] = files
  for (let at = word.lastIndexOf('='); at >= 0; at = at === 0 ? -1 : word.lastIndexOf('=', at - 1)) {
    const named = word.slice(at + 1)
    const found = files.filter((file) => file === named)
    const [file, other] = found.length > 0 ? found : files.filter((each) => basename(each) === named)
    if (file !== undefined && other === undefined) return [word.slice(0, at), file]
  }
  if (!word.includes('=') && only !== undefined && files.length === 1) return [word, only]
  const remedy = `write NAME=FILE with a file of ${files.slice(0, 5).join(', ')}`
  if (word.includes('=')) throw new OfflineCommandError(2, `--source ${word} names none of the data files`, remedy)
  throw new OfflineCommandError(2, '--source NAME needs a single data file: several files are several sources', remedy)
}

/** The file in messages. */
export function nameFile(file: string): string {
  return file === standard_input ? 'standard input' : file
}

/** Refuses two sources of one name, since results name a record by source and id. */
export function refuseDuplicateSources(names: readonly string[]): void {
  const duplicate = names.find((name, index) => names.indexOf(name) !== index)
  if (duplicate)
    throw new OfflineCommandError(
      1,
      `two files have the name ${duplicate}`,
      'the name identifies a source: rename one of them, or give it a name where the command has --source NAME=FILE',
    )
}
