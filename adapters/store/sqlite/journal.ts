// The carriers' journal on a SQLite file: local to the site, whatever the document store is.
import type { AuditEvent } from '../../../daemon/kernel/audit.ts'
import type { Channel, Journal } from '../../../daemon/kernel/journal.ts'
import type { SqliteFile } from './file.ts'
import { arrivalJournal } from './journal-arrivals.ts'
import { sentJournal } from './journal-sent.ts'
import { createJournalTables } from './journal-tables.ts'

/** Appends to the audit chain of the same file, inside the running transaction. */
export type AppendAudit = (events: readonly AuditEvent[]) => void

export function sqliteJournal(file: SqliteFile, audit: AppendAudit): Journal {
  createJournalTables(file.db)
  const columns = 'channel, peer, direction, state, epoch, detail, inventory, sent, received, duplicates'
  const all = file.db.prepare<[], Channel>(`SELECT ${columns} FROM journal_channel ORDER BY channel`)
  const one = file.db.prepare<[string], Channel>(`SELECT ${columns} FROM journal_channel WHERE channel = ?`)
  const insert = file.db.prepare(
    `INSERT OR IGNORE INTO journal_channel (channel, peer, direction, state, epoch, detail)
     VALUES (?, ?, ?, 'enrolling', ?, '')`,
  )
  const setState = file.db.prepare('UPDATE journal_channel SET state = ?, detail = ? WHERE channel = ?')
  return {
    channels: async () => file.read(() => all.all()),
    introduce: ({ channel, peer, direction, epoch }) =>
      file.write(() => {
        insert.run(channel, peer, direction, epoch)
        return one.get(channel) as Channel
      }),
    setState: (channel, state, detail, events = []) =>
      file.write(() => {
        setState.run(state, detail, channel)
        audit(events)
      }),
    ...sentJournal(file),
    ...arrivalJournal(file, audit),
  }
}
