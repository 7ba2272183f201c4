// Opens one database file so that what is committed survives a power cut, and so that nobody else can read it.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { syncFolder } from '../../platform/durable-file/sync-folder.ts'
import { loadSqliteAddon } from './addon.ts'

/** `file`: the database. `addonDir`: a private folder of the site for native code (see `loadSqliteAddon`). */
export type DatabaseLocation = { readonly file: string; readonly addonDir: string }

/** A second process holds the lock for a commit only, so that waiting longer than this means that something is wrong. */
const busy_timeout_ms = 2_000

/** 4 KB pages. Larger than the default of 1,000: hot pages are then copied to the main file once for many commits. */
const checkpoint_pages = 16_000

/** Holds the pages that writers touch again and again; SQLite's own 2 MB would read them back for every commit. */
const page_cache_kib = 32_768

/**
 * Creates folder (0700) and file (0600) when missing, and closes an open file to others.
 * @throws SqliteError when the file is not a database, Error when it cannot be put in WAL mode.
 */
export function openConnection({ file, addonDir }: DatabaseLocation): Database.Database {
  ensurePrivateFile(file)
  const db = new Database(file, { nativeBinding: loadSqliteAddon(addonDir), timeout: busy_timeout_ms })
  try {
    prepareConnection(db)
  } catch (error) {
    db.close()
    throw error
  }
  return db
}

function prepareConnection(db: Database.Database): void {
  if (db.pragma('journal_mode = WAL', { simple: true }) !== 'wal') throw new Error('the database cannot use WAL')
  db.pragma('synchronous = FULL')
  db.pragma('locking_mode = NORMAL')
  // A failing disk must be an error code, not a SIGBUS.
  db.pragma('mmap_size = 0')
  db.pragma(`wal_autocheckpoint = ${checkpoint_pages}`)
  db.pragma('journal_size_limit = 67108864')
  db.pragma(`cache_size = -${page_cache_kib}`)
  db.pragma('temp_store = MEMORY')
  db.pragma('trusted_schema = OFF')
  db.pragma('cell_size_check = ON')
  // Deleted content is overwritten with zeros: what is erased must not stay in free pages.
  db.pragma('secure_delete = ON')
}

/** Made before SQLite opens it: SQLite gives the journal beside it the same mode. */
function ensurePrivateFile(file: string): void {
  const folder = path.dirname(file)
  const made = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (made) syncFolder(path.dirname(made))
  if (!existsSync(file)) {
    closeSync(openSync(file, 'a', 0o600))
    syncFolder(folder)
  }
  if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
}
