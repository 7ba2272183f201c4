// Replaces a file that is named on the command line: after a crash it has the old or the new content, never a part.
import { randomBytes } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { offline } from '../../daemon/offline/offline.ts'

/** Replaces the file with the rights of the invoking user. */
export function replaceFile(file: string, content: string): void {
  const draft = `${file}.${randomBytes(6).toString('hex')}.tmp`
  offline.asInvoker(() => {
    try {
      writeFileSync(draft, content, { flag: 'wx', mode: 0o600, flush: true })
      renameSync(draft, file)
    } finally {
      rmSync(draft, { force: true })
    }
  })
}
