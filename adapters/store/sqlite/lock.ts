// A lock that dies with its process: an exclusive transaction held open on a small database file.
import { chmodSync, closeSync, existsSync, openSync } from 'node:fs'
import Database from 'better-sqlite3'
import { loadSqliteAddon } from './addon.ts'

/** Referenced for ever: the garbage collector closes an unreferenced database, and the lock would be gone with it. */
const openLocks = new Set<Database.Database>()

/** Takes the lock, or undefined when another process has it. Kept until released, or until the process ends, however. */
export function takeLock(file: string, addonDir: string): { release(): void } | undefined {
  // Only when it is not there: closing a file drops every lock that this very process holds on it.
  if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  const db = new Database(file, { nativeBinding: loadSqliteAddon(addonDir), timeout: 0 })
  try {
    db.pragma('journal_mode = DELETE')
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return undefined
    throw error
  }
  openLocks.add(db)
  return {
    release() {
      openLocks.delete(db)
      db.close()
    },
  }
}
