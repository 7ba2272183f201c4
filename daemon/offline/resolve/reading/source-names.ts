// Names the sources of a command: each file is one, and results name a record by its source and id.
import { basename } from 'node:path'
import { OfflineCommandError } from '../../offline-command-error.ts'

/** The word for standard input in place of a file. */
export const standard_input = '-'

/** The source of a file, which has its name without folders. */
export function nameSource(file: string): string {
  return file === standard_input ? 'stdin' : basename(file)
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
      'the file name identifies a source: rename one of them',
    )
}
