// Writes output files that are named on the command line: readable by their owner only, never over an existing file.
import { rmSync, writeFileSync } from 'node:fs'
import { offline } from '../../daemon/offline/offline.ts'
import { CommandFailure } from '../program/command.ts'

const write_error_reasons: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder does not exist',
  ENOSPC: 'the disk is full',
  EROFS: 'the disk is read-only',
}

/** Writes durably, with the rights of the invoking user. Throws `CommandFailure`: 3 if the file exists, 1 if it cannot be written. */
export function writeOutputFile(file: string, content: string): void {
  offline.asInvoker(() => {
    try {
      writeFileSync(file, content, { flag: 'wx', mode: 0o600, flush: true })
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EEXIST') {
        throw new CommandFailure(3, `${file} already exists`, 'name a new file')
      }
      // An incomplete document must not stay.
      rmSync(file, { force: true })
      throw new CommandFailure(
        1,
        `${file} cannot be written: ${write_error_reasons[code ?? ''] ?? 'this user may not write it'}`,
      )
    }
  })
}
