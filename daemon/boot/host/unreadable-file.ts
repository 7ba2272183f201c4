// Checks certificate authority files at the start, to report the setting: a later failure would name the file alone.
import { readFileSync } from 'node:fs'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'

/** Nothing is wrong with a file that is not named. */
export function findUnreadableFile(path: string, file: string | undefined): ProfileProblem[] {
  if (file === undefined) return []
  try {
    readFileSync(file)
    return []
  } catch {
    return [{ path, message: `${file} cannot be read: name a file of authorities in PEM` }]
  }
}
