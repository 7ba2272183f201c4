// Checks files of authorities at the start, to report the setting; a later failure would name only the file.
import { readFileSync } from 'node:fs'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'

/** A problem if the file cannot be read; none if no file is named. */
export function findUnreadableFile(path: string, file: string | undefined): ProfileProblem[] {
  if (file === undefined) return []
  try {
    readFileSync(file)
    return []
  } catch {
    return [{ path, message: `${file} cannot be read: name a file of authorities in PEM` }]
  }
}
