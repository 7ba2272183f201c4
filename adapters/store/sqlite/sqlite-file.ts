// One database file as the store, the audit chain and the journal share it: one connection, one queue of writes.
import { chmodSync, closeSync, fsyncSync, openSync, rmSync } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import { syncFolder } from '../../platform/durable-file/sync-folder.ts'
import { loadSqliteAddon } from './addon.ts'
import { type DatabaseLocation, openConnection } from './connection.ts'
import { toRefusal } from './failure.ts'
import { GroupCommit, type WriteJob } from './group-commit.ts'

export type SqliteFile = {
  /** For preparing statements, and for tables made on first use; writes go through `write`. */
  readonly db: Database.Database
  /** Resolves once durable. Jobs may run more than once: see `WriteJob`. */
  write<T>(job: WriteJob<T>): Promise<T>
  /** Runs at once, between transactions; a failing disk is thrown as `Refusal('unavailable')`. */
  read<T>(job: WriteJob<T>): T
  /** Registers what to forget when a transaction is rolled back or another process has committed. */
  onReset(forget: () => void): void
  /** Registers a write that closes every transaction. */
  beforeCommit(last: () => void): void
  /** A consistent copy (0600), checked, to a path that must not exist. A copy by pages starts over
   * whenever another process writes; one of a busy daemon's file from outside must be made `whole`. */
  backup(to: string, steps?: 'paged' | 'whole'): Promise<void>
  /** Findings of SQLite's integrity check; empty when sound. */
  check(): string[]
  /** Commits queued writes first. */
  close(): Promise<void>
}

/** @throws when the file cannot be opened, or is not a database. */
export function sqliteFile(location: DatabaseLocation): SqliteFile {
  const db = openConnection(location)
  const writer = new GroupCommit(db)
  return {
    db,
    write: (job) => writer.write(job),
    read: (job) => writer.read(job),
    onReset: (forget) => writer.onReset(forget),
    beforeCommit: (last) => writer.beforeCommit(last),
    backup: (to, steps = 'paged') =>
      backupDatabase(db, to, location.addonDir, steps === 'whole' ? all_pages : backup_step_pages),
    check: () => writer.read(checkIntegrity),
    close: async () => writer.close(),
  }
}

function checkIntegrity(db: Database.Database): string[] {
  const found = db.prepare<[], string>('PRAGMA integrity_check').pluck().all()
  return found.filter((line) => line !== 'ok')
}

/** While pages are copied the event loop waits; between two steps it goes on. */
const backup_step_pages = 500
const all_pages = 2 ** 30

async function backupDatabase(db: Database.Database, to: string, addonDir: string, pages: number): Promise<void> {
  createEmptyFile(to)
  try {
    await db.backup(to, { progress: () => pages })
    const faults = checkCopy(to, addonDir)
    if (faults.length > 0) throw new Error(`the copy is not sound: ${faults[0]}`)
    syncFile(to)
  } catch (error) {
    rmSync(to, { force: true })
    throw toRefusal(error)
  }
}

/** Made by us, empty and private, so that an existing file is never overwritten and the copy is never readable. */
function createEmptyFile(to: string): void {
  try {
    closeSync(openSync(to, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new Refusal('already_exists', 'the target exists')
    throw error
  }
  chmodSync(to, 0o600)
}

function checkCopy(file: string, addonDir: string): string[] {
  const copy = new Database(file, { nativeBinding: loadSqliteAddon(addonDir), fileMustExist: true })
  try {
    return checkIntegrity(copy)
  } finally {
    copy.close()
  }
}

function syncFile(file: string): void {
  const handle = openSync(file, 'r+')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  syncFolder(path.dirname(file))
}
