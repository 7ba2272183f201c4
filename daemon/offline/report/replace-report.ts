// Writes a report, in the place of an earlier one: no other file is replaced.
import { closeSync, constants, existsSync, openSync, readSync } from 'node:fs'
import { writeDurably } from '../../../adapters/platform/durable-file/write-durably.ts'
import { runAsInvoker } from '../../boot/host/act-as-owner.ts'
import { mark_beginning } from '../../shared/report/page.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/** A report names itself within its head. */
const head_bytes = 2_048

/** Throws `OfflineCommandError`: 3 for a file that is not a report, 1 for one that cannot be read. */
export function requireReplaceable(file: string): void {
  const head = runAsInvoker(() => {
    try {
      return existsSync(file) ? readHead(file) : undefined
    } catch (error) {
      throw new OfflineCommandError(1, `${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
    }
  })
  if (head === undefined || head.includes(mark_beginning)) return
  throw new OfflineCommandError(3, `${file} already exists, and is not a report`, 'name another file with --out')
}

function readHead(file: string): string {
  // A pipe without a writer would keep the command waiting.
  const opened = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const bytes = Buffer.alloc(head_bytes)
    return bytes.toString('utf8', 0, readSync(opened, bytes, 0, head_bytes, 0))
  } finally {
    closeSync(opened)
  }
}

/** Writes the whole report or nothing. Throws `OfflineCommandError`: 3 for a file that is not a report, 1 if it cannot be written. */
export function replaceReport(file: string, html: string): void {
  try {
    runAsInvoker(() => writeDurably(file, html, { beforeRename: () => requireReplaceable(file) }))
  } catch (error) {
    if (error instanceof OfflineCommandError) throw error
    throw new OfflineCommandError(1, `${file} cannot be written: ${(error as NodeJS.ErrnoException).code}`)
  }
}
