// Reads input files that are named on the command line.
import { readFileSync } from 'node:fs'
import { offline } from '../../daemon/offline/offline.ts'
import { CommandFailure } from '../program/command.ts'

/** Reads the whole file as text, with the rights of the invoking user. Throws `CommandFailure` (1). */
export function readInputFile(file: string): string {
  try {
    return offline.asInvoker(() => readFileSync(file, 'utf8'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reasons: Readonly<Record<string, string>> = { ENOENT: 'it does not exist', EISDIR: 'it is a folder' }
    throw new CommandFailure(1, `${file} cannot be read: ${reasons[code ?? ''] ?? 'this user may not read it'}`)
  }
}
