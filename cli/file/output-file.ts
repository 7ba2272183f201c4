// Writes a result to a file that was named on the command line, for its owner alone and never over one that is there.
import { rmSync, writeFileSync } from 'node:fs'
import { offline } from '../../daemon/offline/offline.ts'
import { CommandFailure } from '../program/command.ts'

const write_error_reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'there is no such folder',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk is read-only',
}

/** As whoever typed the command; on disk when it returns. Throws `Failure`: 3 for a file that exists, 1 for no room. */
export function writeOutputFile(file: string, content: string): void {
  offline.asInvoker(() => {
    try {
      writeFileSync(file, content, { flag: 'wx', mode: 0o600, flush: true })
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EEXIST') {
        throw new CommandFailure(3, `${file} exists already`, 'name another file')
      }
      // Half a document is none.
      rmSync(file, { force: true })
      throw new CommandFailure(
        1,
        `${file} cannot be written: ${write_error_reasons[code ?? ''] ?? 'it may not be written by this user'}`,
      )
    }
  })
}
