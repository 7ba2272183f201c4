// Changes a file that a person named: a crash leaves the old one or the new one, never a part.
import { randomBytes } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { offline } from '../../daemon/offline/offline.ts'

/** As whoever typed the command. */
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
