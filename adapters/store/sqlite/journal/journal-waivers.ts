// Waivers that people signed: entered once, found while open, and kept for the record when used; and dismissals.
import type Database from 'better-sqlite3'
import type { Label } from '../../../../daemon/kernel/label/label.ts'
import type { Journal, Waiver } from '../../../../daemon/kernel/messaging/journal.ts'
import type { ArrivalState } from '../../../../daemon/kernel/messaging/ledger.ts'
import type { SqliteFile } from '../sqlite-file.ts'
import type { JournalAudit } from './journal.ts'

export type WaiverJournal = Pick<Journal, 'waive' | 'waivers' | 'spendWaiver' | 'dismiss'>

export function waiverJournal(file: SqliteFile, audit: JournalAudit): WaiverJournal {
  const statements = prepareWaivers(file.db)
  return {
    waive: (channel, waiver, events) =>
      file.write((db) => {
        const { item, epoch, seq, statement } = waiver
        const known = statements.one.get(channel, item)
        if (known) return known.spent === 0 ? 'waived' : 'ended'
        if (statements.openAt.get(channel, epoch, seq)) return 'taken'
        const ledger = statements.ledger.get(channel, epoch, seq)
        const isSame = ledger?.digest === statement
        if (isSame && (ledger.state === 'applied' || ledger.state === 'refused')) return 'ended'
        audit.appendInside(db, events)
        insertWaiver(statements, channel, waiver)
        statements.forgetItem.run(channel, item)
        if (isSame) statements.reopen.run(channel, epoch, seq)
        statements.forgive.run(channel, epoch, seq)
        return 'waived'
      }),
    waivers: async (channel) => file.read(() => statements.open.all(channel).map(toWaiver)),
    spendWaiver: (channel, item) =>
      file.write(() => {
        statements.spend.run(channel, item)
      }),
    dismiss: (channel, item, events) =>
      file.write((db) => {
        if (statements.one.get(channel, item)?.spent === 0) return 'released'
        audit.appendInside(db, events)
        statements.forgetItem.run(channel, item)
        return 'dismissed'
      }),
  }
}

type WaiverRow = Omit<Waiver, 'label'> & { readonly label: string | null }

function toWaiver({ label, ...waiver }: WaiverRow): Waiver {
  return { ...waiver, ...(label === null ? {} : { label: JSON.parse(label) as Label }) }
}

type WaiverStatements = ReturnType<typeof prepareWaivers>

function prepareWaivers(db: Database.Database) {
  const at = 'channel = ? AND epoch = ? AND seq = ?'
  return {
    one: db.prepare<[string, string], { spent: number }>(
      'SELECT spent FROM journal_waiver WHERE channel = ? AND item = ?',
    ),
    openAt: db.prepare<[string, number, number]>(`SELECT 1 FROM journal_waiver WHERE ${at} AND spent = 0`),
    ledger: db.prepare<[string, number, number], { digest: string; state: ArrivalState }>(
      `SELECT digest, state FROM journal_ledger WHERE ${at}`,
    ),
    insert: db.prepare('INSERT INTO journal_waiver VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)'),
    reopen: db.prepare(`UPDATE journal_ledger SET state = 'received', code = '' WHERE ${at} AND state = 'quarantined'`),
    /** Another quarantine of the released or dismissed message is recorded again. */
    forgetItem: db.prepare('DELETE FROM journal_quarantined WHERE channel = ? AND item = ?'),
    forgive: db.prepare(`DELETE FROM journal_attempt WHERE ${at}`),
    open: db.prepare<[string], WaiverRow>(
      `SELECT item, epoch, seq, statement, envelope, body, reason, label FROM journal_waiver
       WHERE channel = ? AND spent = 0 ORDER BY epoch, seq`,
    ),
    spend: db.prepare('UPDATE journal_waiver SET spent = 1 WHERE channel = ? AND item = ?'),
  }
}

function insertWaiver(statements: WaiverStatements, channel: string, waiver: Waiver): void {
  const { item, epoch, seq, statement, envelope, body, reason, label } = waiver
  const text = label === undefined ? null : JSON.stringify(label)
  statements.insert.run(channel, item, epoch, seq, statement, envelope, body, reason, text)
}
