// The journal's tables: numbers and digests stay for ever, so they are kept small and apart from the messages' bytes.
import type Database from 'better-sqlite3'

/** `state` of `journal_sent` is a number, so that an index holds the few that are still on their way. */
export const sentStates = ['SPOOLED', 'PUBLISHED', 'PICKED_UP'] as const

/** Bytes are dropped when the carrier has taken them; they live in the channel's folder `sent` from then on. */
const schema = `
  CREATE TABLE IF NOT EXISTS journal_channel (
    channel TEXT PRIMARY KEY NOT NULL, peer TEXT NOT NULL, direction TEXT NOT NULL, state TEXT NOT NULL,
    epoch INTEGER NOT NULL, detail TEXT NOT NULL, inventory INTEGER NOT NULL DEFAULT 0,
    sent INTEGER NOT NULL DEFAULT 0, received INTEGER NOT NULL DEFAULT 0, duplicates INTEGER NOT NULL DEFAULT 0) STRICT;
  CREATE TABLE IF NOT EXISTS journal_run (
    channel TEXT NOT NULL, epoch INTEGER NOT NULL, floor INTEGER NOT NULL, highest INTEGER NOT NULL,
    beyond INTEGER NOT NULL, PRIMARY KEY (channel, epoch)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS journal_sent (
    channel TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL, event_id TEXT NOT NULL, msg_id TEXT NOT NULL,
    kind TEXT NOT NULL, digest TEXT NOT NULL, at INTEGER NOT NULL, state INTEGER NOT NULL,
    PRIMARY KEY (channel, epoch, seq), UNIQUE (channel, event_id)) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS journal_sent_on_its_way ON journal_sent (channel, state, epoch, seq) WHERE state < 2;
  CREATE TABLE IF NOT EXISTS journal_bytes (
    channel TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL, envelope TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (channel, epoch, seq)) STRICT;
  CREATE TABLE IF NOT EXISTS journal_ledger (
    channel TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL, digest TEXT NOT NULL, prev TEXT NOT NULL,
    msg_id TEXT NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL, state TEXT NOT NULL, code TEXT NOT NULL,
    PRIMARY KEY (channel, epoch, seq)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS journal_attempt (
    channel TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL, failed INTEGER NOT NULL,
    PRIMARY KEY (channel, epoch, seq)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS journal_waiting (
    channel TEXT NOT NULL, name TEXT NOT NULL, since INTEGER NOT NULL,
    PRIMARY KEY (channel, name)) STRICT, WITHOUT ROWID;
`

export function createJournalTables(db: Database.Database): void {
  db.transaction(() => db.exec(schema)).immediate()
}
