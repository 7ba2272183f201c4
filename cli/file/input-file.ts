// Reads a file that was named on the command line, or says plainly that it cannot.
import { readFileSync } from 'node:fs'
import { offline } from '../../daemon/offline/offline.ts'
import { CommandFailure } from '../program/command.ts'

/** The whole file as text. Throws `Failure` (1). */
export function readInputFile(file: string): string {
  try {
    return offline.asInvoker(() => readFileSync(file, 'utf8'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reasons: Readonly<Record<string, string>> = { ENOENT: 'there is no such file', EISDIR: 'it is a folder' }
    throw new CommandFailure(1, `${file} cannot be read: ${reasons[code ?? ''] ?? 'it may not be read by this user'}`)
  }
}
