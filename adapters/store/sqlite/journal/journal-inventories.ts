// The last inventory of each incoming channel, and the numbers under which a sender signed two different messages.
import type Database from 'better-sqlite3'
import type { Journal } from '../../../../daemon/kernel/messaging/journal.ts'
import type { SqliteFile } from '../sqlite-file.ts'
import type { JournalAudit } from './journal.ts'

export type InventoryJournal = Pick<Journal, 'noteInventory' | 'forgetInventory' | 'dispute'>

export function inventoryJournal(file: SqliteFile, audit: JournalAudit): InventoryJournal {
  const statements = prepareInventories(file.db)
  return {
    noteInventory: (channel, { epoch, seq }, at) =>
      file.write(() => {
        statements.note.run(seq, at, channel, epoch, seq)
      }),
    forgetInventory: (channel) =>
      file.write(() => {
        statements.forget.run(channel)
      }),
    dispute: (channel, detail, numbers, events) =>
      file.write((db) => {
        if (numbers.every(({ epoch, seq }) => statements.isDisputed.get(channel, epoch, seq))) return 'known'
        audit.appendInside(db, events)
        statements.freeze.run(detail, channel)
        for (const { epoch, seq } of numbers) statements.dispute.run(channel, epoch, seq)
        return 'frozen'
      }),
  }
}

function prepareInventories(db: Database.Database) {
  return {
    note: db.prepare(
      `UPDATE journal_channel SET inventory = ?, inventory_at = ?
       WHERE channel = ? AND direction = 'in' AND epoch = ? AND inventory < ?`,
    ),
    forget: db.prepare("UPDATE journal_channel SET inventory = 0 WHERE channel = ? AND direction = 'in'"),
    isDisputed: db.prepare<[string, number, number], unknown>(
      'SELECT 1 FROM journal_dispute WHERE channel = ? AND epoch = ? AND seq = ?',
    ),
    dispute: db.prepare('INSERT OR IGNORE INTO journal_dispute VALUES (?, ?, ?)'),
    freeze: db.prepare("UPDATE journal_channel SET state = 'frozen', detail = ? WHERE channel = ?"),
  }
}
