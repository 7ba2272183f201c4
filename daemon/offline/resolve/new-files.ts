// Creates result files and folders; never overwrites an existing one.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/** Creates a private folder. Throws `OfflineCommandError`: 3 if it is not empty, 1 if it cannot be written. */
export function claimFolder(out: string): void {
  runAsInvoker(() => {
    try {
      mkdirSync(out, { recursive: true, mode: 0o700 })
      if (readdirSync(out).length > 0) throw new OfflineCommandError(3, `${out} is not empty`, 'name a new folder')
    } catch (error) {
      if (error instanceof OfflineCommandError) throw error
      throw new OfflineCommandError(1, `${out} cannot be written: ${(error as NodeJS.ErrnoException).code}`)
    }
  })
}

/** Creates a private file. Throws `OfflineCommandError`: 3 if it exists, 1 if it cannot be written. */
export function writeNewFile(file: string, text: string): void {
  try {
    runAsInvoker(() => writeFileSync(file, text, { flag: 'wx', mode: 0o600 }))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new OfflineCommandError(3, `${file} already exists`, 'name a new file')
    throw new OfflineCommandError(1, `${file} cannot be written: ${code}`)
  }
}
