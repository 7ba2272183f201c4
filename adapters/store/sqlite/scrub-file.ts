// Erases what was removed or replaced from a database file and its log: content must not stay in free pages.
import type Database from 'better-sqlite3'
import type { ScrubOutcome } from '../../../daemon/kernel/store/store.ts'

/** Rewriting takes this much memory at most, and about half a second in which nothing else runs. */
const max_rewrite_bytes = 64 * 1_048_576

/**
 * Connections overwrite deleted content with zeros, but SQLite may leave a copy of a row that it moved to another page: only a
 * new file is without them.
 */
export function scrubFile(db: Database.Database): ScrubOutcome {
  const bytes = Number(db.pragma('page_count', { simple: true })) * Number(db.pragma('page_size', { simple: true }))
  const isSmall = bytes <= max_rewrite_bytes
  if (isSmall) db.exec('VACUUM')
  const [log] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
  if (log?.busy !== 0) return 'busy'
  return isSmall ? 'rewritten' : 'zeroed'
}
