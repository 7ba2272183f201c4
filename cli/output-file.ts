// Writes a result to a file that was named on the command line, for its owner alone and never over one that is there.
import { rmSync, writeFileSync } from 'node:fs'
import { offline } from '../daemon/boot/offline.ts'
import { Failure } from './command.ts'

/** As whoever typed the command; on disk when it returns. Throws `Failure` (3) for a file that exists. */
export function writeOutputFile(file: string, content: string): void {
  offline.asInvoker(() => {
    try {
      writeFileSync(file, content, { flag: 'wx', mode: 0o600, flush: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
        throw new Failure(3, `${file} exists already`, 'name another file')
      }
      // Half a document is none.
      rmSync(file, { force: true })
      throw error
    }
  })
}
