// Retention of sent messages in the journal: evidence of arrival, and how long files and bytes are kept.
import type Database from 'better-sqlite3'
import type { Journal, SentEntry } from '../../../../daemon/kernel/messaging/journal.ts'
import type { SqliteFile } from '../sqlite-file.ts'
import { sentStates } from './journal-tables.ts'

export type RetentionJournal = Pick<Journal, 'acknowledge' | 'sentRun' | 'retained' | 'dropRetained'>

export function retentionJournal(file: SqliteFile): RetentionJournal {
  const statements = prepareRetention(file.db)
  return {
    acknowledge: (channel, epoch, floor, limit) =>
      file.write(() => {
        const known = statements.acknowledged.get(channel, epoch) ?? 0
        // A waiting message has not left: no claim of a receiver makes it arrive, and the next acknowledgement finds it again.
        const waiting = statements.waiting.get(channel, epoch) ?? Number.POSITIVE_INFINITY
        const last = Math.min(floor, known + limit, waiting - 1, statements.last.get(channel, epoch) ?? 0)
        if (last <= known) return known
        statements.acknowledge.run(channel, epoch, known, last)
        statements.putAcknowledged.run(channel, epoch, last)
        return last
      }),
    sentRun: async (channel, epoch, first, last, limit) =>
      file.read(() => statements.run.all(channel, epoch, first, last, limit).map(toSentEntry)),
    retained: async (channel, before, limit) => file.read(() => statements.kept.all(channel, before, limit)),
    dropRetained: (channel, numbers) =>
      file.write(() => {
        for (const { epoch, seq } of numbers) statements.drop.run(channel, epoch, seq)
      }),
  }
}

type SentEntryRow = Omit<SentEntry, 'state' | 'taken'> & { readonly state: number; readonly taken: number | null }

function toSentEntry({ state, taken, ...entry }: SentEntryRow): SentEntry {
  const name = sentStates[state]
  if (!name) throw new Error(`the journal holds a state ${state} that this version does not know`)
  return { ...entry, state: name, ...(taken === null ? {} : { taken }) }
}

function prepareRetention(db: Database.Database) {
  return {
    acknowledged: db
      .prepare<[string, number], number>('SELECT floor FROM journal_acknowledged WHERE channel = ? AND epoch = ?')
      .pluck(),
    putAcknowledged: db.prepare('INSERT OR REPLACE INTO journal_acknowledged VALUES (?, ?, ?)'),
    last: db
      .prepare<[string, number], number>(
        'SELECT seq FROM journal_sent WHERE channel = ? AND epoch = ? ORDER BY seq DESC LIMIT 1',
      )
      .pluck(),
    waiting: db
      .prepare<[string, number], number>(
        'SELECT seq FROM journal_sent WHERE channel = ? AND state < 2 AND epoch = ? ORDER BY seq LIMIT 1',
      )
      .pluck(),
    acknowledge: db.prepare(
      'UPDATE journal_sent SET state = 4 WHERE channel = ? AND epoch = ? AND seq > ? AND seq <= ?',
    ),
    run: db.prepare<[string, number, number, number, number], SentEntryRow>(
      `SELECT s.epoch, s.seq, s.kind, s.digest, s.state, k.since AS taken FROM journal_sent s
       LEFT JOIN journal_kept k ON k.channel = s.channel AND k.epoch = s.epoch AND k.seq = s.seq
       WHERE s.channel = ? AND s.epoch = ? AND s.seq BETWEEN ? AND ? ORDER BY s.seq LIMIT ?`,
    ),
    kept: db.prepare<[string, number, number], { epoch: number; seq: number }>(
      'SELECT epoch, seq FROM journal_kept WHERE channel = ? AND since < ? ORDER BY since, epoch, seq LIMIT ?',
    ),
    drop: db.prepare('DELETE FROM journal_kept WHERE channel = ? AND epoch = ? AND seq = ?'),
  }
}
