// The carriers' journal on a SQLite file: local to the site, whatever the document store is.
import type { Journal, JournalChannel } from '../../../../daemon/kernel/messaging/journal.ts'
import type { SqliteAudit } from '../audit/audit.ts'
import type { SqliteFile } from '../sqlite-file.ts'
import { arrivalJournal } from './journal-arrivals.ts'
import { inventoryJournal } from './journal-inventories.ts'
import { lostJournal } from './journal-lost.ts'
import { purgeJournal } from './journal-purges.ts'
import { retentionJournal } from './journal-retention.ts'
import { sentJournal } from './journal-sent.ts'
import { createJournalTables } from './journal-tables.ts'
import { waitingJournal } from './journal-waiting.ts'
import { waiverJournal } from './journal-waivers.ts'

/** The audit chain of the same file: a step of the journal and its audit record are in one transaction. */
export type JournalAudit = Pick<SqliteAudit, 'appendInside'>

/** @throws SqliteError when the tables cannot be made. */
export function sqliteJournal(file: SqliteFile, audit: JournalAudit): Journal {
  createJournalTables(file.db)
  const columns = 'channel, peer, direction, state, epoch, detail, inventory, inventory_at, sent, received, duplicates'
  const all = file.db.prepare<[], JournalChannel>(`SELECT ${columns} FROM journal_channel ORDER BY channel`)
  const one = file.db.prepare<[string], JournalChannel>(`SELECT ${columns} FROM journal_channel WHERE channel = ?`)
  const insert = file.db.prepare(
    `INSERT OR IGNORE INTO journal_channel (channel, peer, direction, state, epoch, detail)
     VALUES (?, ?, ?, 'enrolling', ?, '')`,
  )
  const setState = file.db.prepare('UPDATE journal_channel SET state = ?, detail = ? WHERE channel = ?')
  return {
    channels: async () => file.read(() => all.all()),
    registerChannel: ({ channel, peer, direction, epoch }) =>
      file.write(() => {
        insert.run(channel, peer, direction, epoch)
        return one.get(channel) as JournalChannel
      }),
    setState: (channel, state, detail, events = []) =>
      file.write((db) => {
        audit.appendInside(db, events)
        setState.run(state, detail, channel)
      }),
    ...sentJournal(file, audit),
    ...retentionJournal(file),
    ...arrivalJournal(file, audit),
    ...lostJournal(file, audit),
    ...inventoryJournal(file, audit),
    ...waitingJournal(file, audit),
    ...waiverJournal(file, audit),
    ...purgeJournal(file, audit),
  }
}
