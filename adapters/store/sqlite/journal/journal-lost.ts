// Received messages that a power cut destroyed, or that no room was left for: known by digest, and missing until resent.
import type Database from 'better-sqlite3'
import type { Journal, MessageNumber } from '../../../../daemon/kernel/messaging/journal.ts'
import type { LedgerEntry } from '../../../../daemon/kernel/messaging/ledger.ts'
import type { SqliteFile } from '../sqlite-file.ts'
import type { JournalAudit } from './journal.ts'
import { entryColumns, waitingStates } from './journal-arrivals.ts'

export type LostJournal = Pick<Journal, 'unfinished' | 'markLost'>

export function lostJournal(file: SqliteFile, audit: JournalAudit): LostJournal {
  const statements = prepareLost(file.db)
  return {
    unfinished: async (channel) => file.read(() => statements.unfinished.all(channel)),
    markLost: (channel, numbers, events) =>
      file.write((db) => {
        const open = numbers.filter(({ epoch, seq }) =>
          waitingStates.has(statements.state.get(channel, epoch, seq) ?? 'lost'),
        )
        if (open.length === 0) return
        audit.appendInside(db, events)
        for (const { epoch, seq } of open) {
          statements.lose.run(channel, epoch, seq)
          statements.forgetSetAside.run(channel, epoch, seq)
        }
        for (const epoch of new Set(open.map((each) => each.epoch))) lowerFloor(statements, channel, epoch, open)
      }),
  }
}

function prepareLost(db: Database.Database) {
  const at = 'channel = ? AND epoch = ? AND seq = ?'
  return {
    unfinished: db.prepare<[string], LedgerEntry>(
      `SELECT ${entryColumns} FROM journal_ledger AS l WHERE channel = ? AND state = 'received' AND NOT EXISTS
       (SELECT 1 FROM journal_waiver AS w WHERE w.channel = l.channel AND w.epoch = l.epoch AND w.seq = l.seq AND spent = 0)
       ORDER BY epoch, seq`,
    ),
    state: db.prepare<[string, number, number], string>(`SELECT state FROM journal_ledger WHERE ${at}`).pluck(),
    forgetSetAside: db.prepare(`DELETE FROM journal_set_aside WHERE ${at}`),
    lose: db.prepare(`UPDATE journal_ledger SET state = 'lost' WHERE ${at}`),
    floor: db
      .prepare<[string, number], number>('SELECT floor FROM journal_run WHERE channel = ? AND epoch = ?')
      .pluck(),
    count: db
      .prepare<[string, number, number], number>(
        "SELECT count(*) FROM journal_ledger WHERE channel = ? AND epoch = ? AND seq > ? AND state <> 'lost'",
      )
      .pluck(),
    fallBack: db.prepare('UPDATE journal_run SET floor = ?, beyond = ? WHERE channel = ? AND epoch = ?'),
  }
}

/** Lowers the floor to just below the first lost message and recounts the arrivals above it. */
function lowerFloor(
  statements: ReturnType<typeof prepareLost>,
  channel: string,
  epoch: number,
  lost: readonly MessageNumber[],
): void {
  const first = Math.min(...lost.filter((each) => each.epoch === epoch).map(({ seq }) => seq))
  const floor = Math.min(statements.floor.get(channel, epoch) ?? 0, first - 1)
  statements.fallBack.run(floor, statements.count.get(channel, epoch, floor) ?? 0, channel, epoch)
}
