// Messages that wait for a role, numbers that a person gave up, and the record of each item in quarantine.
import type Database from 'better-sqlite3'
import type { Journal, MessageNumber } from '../../../../daemon/kernel/messaging/journal.ts'
import type { SetAsideMessage } from '../../../../daemon/kernel/messaging/ledger.ts'
import type { SqliteFile } from '../sqlite-file.ts'
import type { JournalAudit } from './journal.ts'
import { type ArrivalRun, advanceRun, entryColumns } from './journal-arrivals.ts'

export type WaitingJournal = Pick<Journal, 'setAside' | 'recordSetAside' | 'skip' | 'recordQuarantined'>

export function waitingJournal(file: SqliteFile, audit: JournalAudit): WaitingJournal {
  const statements = prepareWaiting(file.db)
  return {
    setAside: async (channel) => file.read(() => statements.setAside.all(channel)),
    recordSetAside: (channel, messages) =>
      file.write((db) => {
        const open = messages.filter(({ epoch, seq }) => statements.state.get(channel, epoch, seq) === 'received')
        audit.appendInside(
          db,
          open.flatMap((each) => each.audit),
        )
        for (const { epoch, seq, role, bytes } of open) {
          statements.putAside.run(channel, epoch, seq)
          statements.insert.run(channel, epoch, seq, role, bytes)
          statements.forgive.run(channel, epoch, seq)
        }
      }),
    skip: (channel, numbers, at, events) =>
      file.write((db) => {
        const missing = numbers.filter((number) => isMissing(statements, channel, number))
        if (missing.length === 0) return 0
        audit.appendInside(db, events)
        for (const { epoch, seq } of missing) skipNumber(statements, channel, epoch, seq, at)
        return missing.length
      }),
    recordQuarantined: (channel, records) =>
      file.write((db) => {
        const ids = records.map(({ fingerprint, item }) => {
          const known = statements.item.get(channel, fingerprint)
          if (known === undefined) statements.noteItem.run(channel, fingerprint, item)
          return { item: known ?? item, is_new: known === undefined }
        })
        const added = records.flatMap((each, index) => (ids[index]?.is_new && each.audit ? [each.audit] : []))
        audit.appendInside(db, added)
        return ids
      }),
  }
}

type WaitingStatements = ReturnType<typeof prepareWaiting>

function prepareWaiting(db: Database.Database) {
  const at = 'channel = ? AND epoch = ? AND seq = ?'
  return {
    setAside: db.prepare<[string], SetAsideMessage>(
      `SELECT ${entryColumns}, role, bytes FROM journal_set_aside NATURAL JOIN journal_ledger
       WHERE channel = ? ORDER BY epoch, seq`,
    ),
    state: db.prepare<[string, number, number], string>(`SELECT state FROM journal_ledger WHERE ${at}`).pluck(),
    putAside: db.prepare(`UPDATE journal_ledger SET state = 'set_aside' WHERE ${at}`),
    insert: db.prepare('INSERT OR REPLACE INTO journal_set_aside VALUES (?, ?, ?, ?, ?)'),
    forgive: db.prepare(`DELETE FROM journal_attempt WHERE ${at}`),
    skip: db.prepare(
      `INSERT INTO journal_ledger VALUES (?, ?, ?, '', '', '', '', ?, 'skipped', '', 0)
       ON CONFLICT DO UPDATE SET state = 'skipped'`,
    ),
    run: db.prepare<[string, number], ArrivalRun>(
      'SELECT floor, highest, beyond FROM journal_run WHERE channel = ? AND epoch = ?',
    ),
    putRun: db.prepare('INSERT OR REPLACE INTO journal_run VALUES (?, ?, ?, ?, ?)'),
    item: db
      .prepare<[string, string], string>('SELECT item FROM journal_quarantined WHERE channel = ? AND fingerprint = ?')
      .pluck(),
    noteItem: db.prepare('INSERT INTO journal_quarantined VALUES (?, ?, ?)'),
  }
}

/** Below the highest number that arrived: nobody knows of more. */
function isMissing(statements: WaitingStatements, channel: string, { epoch, seq }: MessageNumber): boolean {
  if (seq > (statements.run.get(channel, epoch)?.highest ?? 0)) return false
  return (statements.state.get(channel, epoch, seq) ?? 'lost') === 'lost'
}

function skipNumber(statements: WaitingStatements, channel: string, epoch: number, seq: number, at: number): void {
  statements.skip.run(channel, epoch, seq, at)
  const run = statements.run.get(channel, epoch) ?? { floor: 0, highest: 0, beyond: 0 }
  const hasArrived = (next: number) => (statements.state.get(channel, epoch, next) ?? 'lost') !== 'lost'
  const { floor, highest, beyond } = advanceRun(run, seq, hasArrived)
  statements.putRun.run(channel, epoch, floor, highest, beyond)
}
