// Names the sources of a command: each file is one, and results name a record by its source and id.
import { OfflineCommandError } from '../../offline-command-error.ts'

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
