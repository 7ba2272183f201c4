// The journal's tables: numbers and digests stay for ever, so they are kept small and apart from the messages' bytes.
import type Database from 'better-sqlite3'

/** `state` of `journal_sent` is a number, so that an index holds the few that are still on their way. */
export const sentStates = ['SPOOLED', 'PUBLISHED', 'PICKED_UP', 'ASSUMED', 'ACKNOWLEDGED', 'PURGED'] as const

/**
 * Bytes are dropped when the carrier has taken them; they live in the channel's folder `sent` from then on.
 * `journal_kept` names the messages whose files lie there or in `done`, so that what is old is found without a search.
 */
const schema = `
  CREATE TABLE IF NOT EXISTS journal_channel (
    channel TEXT PRIMARY KEY NOT NULL, peer TEXT NOT NULL, direction TEXT NOT NULL, state TEXT NOT NULL,
    epoch INTEGER NOT NULL, detail TEXT NOT NULL, inventory INTEGER NOT NULL DEFAULT 0,
    inventory_at INTEGER NOT NULL DEFAULT 0, sent INTEGER NOT NULL DEFAULT 0, received INTEGER NOT NULL DEFAULT 0, duplicates INTEGER NOT NULL DEFAULT 0) STRICT;
  CREATE TABLE IF NOT EXISTS journal_run (
    channel TEXT NOT NULL, epoch INTEGER NOT NULL, floor INTEGER NOT NULL, highest INTEGER NOT NULL,
    beyond INTEGER NOT NULL, PRIMARY KEY (channel, epoch)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS journal_sent (
    channel TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL, event_id TEXT NOT NULL, msg_id TEXT NOT NULL,
    kind TEXT NOT NULL, digest TEXT NOT NULL, at INTEGER NOT NULL, state INTEGER NOT NULL, not_after INTEGER NOT NULL,
    PRIMARY KEY (channel, epoch, seq), UNIQUE (channel, event_id)) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS journal_sent_on_its_way ON journal_sent (channel, state, epoch, seq) WHERE state < 2;
  CREATE INDEX IF NOT EXISTS journal_sent_taken ON journal_sent (channel, not_after) WHERE state = 2;
  CREATE TABLE IF NOT EXISTS journal_acknowledged (
    channel TEXT NOT NULL, epoch INTEGER NOT NULL, floor INTEGER NOT NULL,
    PRIMARY KEY (channel, epoch)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS journal_kept (
    channel TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL, since INTEGER NOT NULL,
    PRIMARY KEY (channel, epoch, seq)) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS journal_kept_since ON journal_kept (channel, since, epoch, seq);
  CREATE TABLE IF NOT EXISTS journal_bytes (
    channel TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL, envelope TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (channel, epoch, seq)) STRICT;
  CREATE TABLE IF NOT EXISTS journal_ledger (
    channel TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL, digest TEXT NOT NULL, prev TEXT NOT NULL,
    msg_id TEXT NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL, state TEXT NOT NULL, code TEXT NOT NULL,
    not_after INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (channel, epoch, seq)) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS journal_ledger_unfinished ON journal_ledger (channel, epoch, seq) WHERE state = 'received';
  CREATE TABLE IF NOT EXISTS journal_set_aside (
    channel TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL, role TEXT NOT NULL, bytes INTEGER NOT NULL,
    PRIMARY KEY (channel, epoch, seq)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS journal_quarantined (
    channel TEXT NOT NULL, fingerprint TEXT NOT NULL, item TEXT NOT NULL,
    PRIMARY KEY (channel, fingerprint)) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS journal_quarantined_item ON journal_quarantined (channel, item);
  CREATE TABLE IF NOT EXISTS journal_dispute (
    channel TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL,
    PRIMARY KEY (channel, epoch, seq)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS journal_attempt (
    channel TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL, failed INTEGER NOT NULL,
    PRIMARY KEY (channel, epoch, seq)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS journal_waiting (
    channel TEXT NOT NULL, name TEXT NOT NULL, since INTEGER NOT NULL,
    PRIMARY KEY (channel, name)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS journal_waiver (
    channel TEXT NOT NULL, item TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL, statement TEXT NOT NULL,
    envelope TEXT NOT NULL, body TEXT NOT NULL, reason TEXT NOT NULL, label TEXT, spent INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (channel, item)) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX IF NOT EXISTS journal_waiver_open ON journal_waiver (channel, epoch, seq) WHERE spent = 0;
  CREATE TABLE IF NOT EXISTS journal_purge (
    digest TEXT PRIMARY KEY NOT NULL, reason TEXT NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS journal_purge_find (
    digest TEXT NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (digest, kind, value)) STRICT, WITHOUT ROWID;
`

export function createJournalTables(db: Database.Database): void {
  db.transaction(() => {
    const before = hasTable(db, 'journal_sent') && !hasTable(db, 'journal_kept')
    if (before) db.exec(migration_columns)
    if (hasTable(db, 'journal_ledger') && !hasColumn(db, 'journal_ledger', 'not_after')) db.exec(migration_ends)
    db.exec(schema)
    if (before) db.exec(migration_rows)
  }).immediate()
}

function hasTable(db: Database.Database, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined
}

function hasColumn(db: Database.Database, table: string, column: string): boolean {
  return db.prepare('SELECT 1 FROM pragma_table_info(?) WHERE name = ?').get(table, column) !== undefined
}

/** For a journal of version 0.1.0. Its messages have no time of expiry; none was granted more than a year. */
const migration_columns = `
  ALTER TABLE journal_channel ADD COLUMN inventory_at INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE journal_sent ADD COLUMN not_after INTEGER NOT NULL DEFAULT 0;
  UPDATE journal_sent SET not_after = at + 31536000000;
`
/** Only messages that wait can expire; none was granted more than a year. */
const migration_ends = `
  ALTER TABLE journal_ledger ADD COLUMN not_after INTEGER NOT NULL DEFAULT 0;
  UPDATE journal_ledger SET not_after = at + 31536000000 WHERE state = 'received';
`
const migration_rows = `
  INSERT INTO journal_kept SELECT channel, epoch, seq, at FROM journal_sent WHERE state = 2;
  INSERT INTO journal_kept SELECT channel, epoch, seq, at FROM journal_ledger WHERE state = 'applied';
`
