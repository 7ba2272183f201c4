// Looks into a copy of a journal, as a backup is one, for a body: nothing is written, so that the copy stays what it was.
import { existsSync, rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import { loadSqliteAddon } from '../addon.ts'

/** SHA-384 digests of bodies, or of the statements they belong to. Throws for a file that cannot be read as a database. */
export function copyContains(file: string, addonDir: string, digests: ReadonlySet<string>): boolean {
  const wasAlone = !existsSync(`${file}-wal`)
  const copy = new Database(file, { nativeBinding: loadSqliteAddon(addonDir), fileMustExist: true, readonly: true })
  try {
    if (!copy.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'journal_bytes'").get()) return false
    const rows = copy.prepare<[], { digest: string; body: string }>(
      `SELECT s.digest, b.body FROM journal_bytes b
       JOIN journal_sent s ON s.channel = b.channel AND s.epoch = b.epoch AND s.seq = b.seq`,
    )
    for (const { digest, body } of rows.iterate()) {
      if (digests.has(digest) || digests.has(sha384(body))) return true
    }
    return false
  } finally {
    copy.close()
    // Files that SQLite creates beside a file that it only reads.
    if (wasAlone) for (const beside of ['-wal', '-shm']) rmSync(`${file}${beside}`, { force: true })
  }
}
