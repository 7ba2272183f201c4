// A lock that dies with its process: an exclusive transaction held open on a small database file.
import { chmodSync, closeSync, openSync } from 'node:fs'
import Database from 'better-sqlite3'
import { sqliteAddon } from './addon.ts'

/** Takes the lock, or undefined when another process has it. Kept until released, or until the process ends, however. */
export function takeLock(file: string, addonDir: string): { release(): void } | undefined {
  closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  const db = new Database(file, { nativeBinding: sqliteAddon(addonDir), timeout: 0 })
  try {
    db.pragma('journal_mode = DELETE')
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return undefined
    throw error
  }
  return { release: () => db.close() }
}
