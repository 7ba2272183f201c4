// The outgoing half of the journal: each message gets the next number of its channel, once, with the bytes it goes out as.
import type Database from 'better-sqlite3'
import type { Journal, MessageNumber, SealedMessage, SentState } from '../../../../daemon/kernel/messaging/journal.ts'
import type { SqliteFile } from '../sqlite-file.ts'
import type { JournalAudit } from './journal.ts'
import { sentStates } from './journal-tables.ts'

type SentRow = Omit<SealedMessage, 'envelope' | 'body'>
export type SentJournal = Pick<
  Journal,
  | 'findSent'
  | 'head'
  | 'append'
  | 'backlog'
  | 'outbox'
  | 'numbers'
  | 'get'
  | 'mark'
  | 'assume'
  | 'digests'
  | 'openEpoch'
>

const columns = 's.epoch, s.seq, s.event_id, s.msg_id, s.kind, s.digest, s.at, s.not_after'
const select_with_bytes = `SELECT ${columns}, b.envelope, b.body FROM journal_sent s
  JOIN journal_bytes b ON b.channel = s.channel AND b.epoch = s.epoch AND b.seq = s.seq`

export function sentJournal(file: SqliteFile, audit: JournalAudit): SentJournal {
  const statements = prepareSent(file.db)
  const headOf = (channel: string) => {
    const epoch = statements.epoch.get(channel) ?? 1
    const last = statements.last.get(channel, epoch)
    return { epoch, seq: last?.seq ?? 0, digest: last?.digest }
  }
  return {
    findSent: async (channel, event_id) => file.read(() => statements.byEvent.get(channel, event_id)),
    head: async (channel) => file.read(() => headOf(channel)),
    append: (channel, messages) =>
      file.write(() => {
        const head = headOf(channel)
        const isNext = (message: SealedMessage, index: number) =>
          message.epoch === head.epoch && message.seq === head.seq + 1 + index
        if (!messages.every(isNext)) return 'behind'
        insertMessages(statements, channel, messages)
        return 'appended'
      }),
    openEpoch: (channel, first, events) =>
      file.write((db) => {
        if (first.epoch <= headOf(channel).epoch || first.seq !== 1) return 'behind'
        audit.appendInside(db, events)
        statements.open.run(first.epoch, channel)
        insertMessages(statements, channel, [first])
        return 'opened'
      }),
    backlog: async (channel) =>
      file.read(() => {
        const count = (state: SentState) => statements.countIn.get(channel, sentStates.indexOf(state)) ?? 0
        // Published messages have lower numbers than unpublished ones.
        const first = statements.first.get(channel, 1) ?? statements.first.get(channel, 0)
        const oldest = first ?? statements.firstWaiting.get(channel) ?? undefined
        return { spooled: count('SPOOLED'), published: count('PUBLISHED'), ...(oldest === undefined ? {} : { oldest }) }
      }),
    outbox: async (channel, state, limit) =>
      file.read(() => statements.outbox.all(channel, sentStates.indexOf(state), limit)),
    numbers: async (channel, state) => file.read(() => statements.numbers.all(channel, sentStates.indexOf(state))),
    get: async (channel, epoch, seq) => file.read(() => statements.one.get(channel, epoch, seq)),
    digests: async (channel, limit) =>
      file.read(() => statements.digests.all(channel, headOf(channel).epoch, limit).reverse()),
    mark: (channel, numbers, state, at) =>
      file.write(() => {
        for (const number of numbers) markState(statements, channel, number, state, at)
      }),
    assume: (channel, now, limit) => file.write(() => statements.assume.run(channel, now, limit).changes),
  }
}

type SentStatements = ReturnType<typeof prepareSent>

function prepareSent(db: Database.Database) {
  return {
    epoch: db.prepare<[string], number>('SELECT epoch FROM journal_channel WHERE channel = ?').pluck(),
    last: db.prepare<[string, number], { seq: number; digest: string }>(
      'SELECT seq, digest FROM journal_sent WHERE channel = ? AND epoch = ? ORDER BY seq DESC LIMIT 1',
    ),
    byEvent: db.prepare<[string, string], SentRow>(
      `SELECT ${columns} FROM journal_sent s WHERE s.channel = ? AND s.event_id = ?`,
    ),
    insertRow: db.prepare('INSERT INTO journal_sent VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)'),
    insertBytes: db.prepare('INSERT INTO journal_bytes VALUES (?, ?, ?, ?, ?)'),
    count: db.prepare('UPDATE journal_channel SET sent = sent + ? WHERE channel = ?'),
    inventory: db.prepare('UPDATE journal_channel SET inventory = ?, inventory_at = ? WHERE channel = ?'),
    open: db.prepare("UPDATE journal_channel SET epoch = ?, state = 'open', detail = '' WHERE channel = ?"),
    digests: db
      .prepare<[string, number, number], string>(
        'SELECT digest FROM journal_sent WHERE channel = ? AND epoch = ? ORDER BY seq DESC LIMIT ?',
      )
      .pluck(),
    countIn: db
      .prepare<[string, number], number>(
        'SELECT count(*) FROM journal_sent WHERE channel = ? AND state = ? AND state < 2',
      )
      .pluck(),
    first: db
      .prepare<[string, number], number>(
        'SELECT at FROM journal_sent WHERE channel = ? AND state = ? AND state < 2 ORDER BY epoch, seq LIMIT 1',
      )
      .pluck(),
    firstWaiting: db
      .prepare<[string], number | null>('SELECT min(since) FROM journal_waiting WHERE channel = ?')
      .pluck(),
    outbox: db.prepare<[string, number, number], SealedMessage>(
      `${select_with_bytes} WHERE s.channel = ? AND s.state = ? AND s.state < 2 ORDER BY s.epoch, s.seq LIMIT ?`,
    ),
    numbers: db.prepare<[string, number], { epoch: number; seq: number }>(
      'SELECT epoch, seq FROM journal_sent WHERE channel = ? AND state = ? ORDER BY epoch, seq',
    ),
    one: db.prepare<[string, number, number], SealedMessage>(
      `${select_with_bytes} WHERE s.channel = ? AND s.epoch = ? AND s.seq = ?`,
    ),
    mark: db.prepare('UPDATE journal_sent SET state = ? WHERE channel = ? AND epoch = ? AND seq = ? AND state < ?'),
    dropBytes: db.prepare('DELETE FROM journal_bytes WHERE channel = ? AND epoch = ? AND seq = ?'),
    keep: db.prepare('INSERT OR IGNORE INTO journal_kept VALUES (?, ?, ?, ?)'),
    assume: db.prepare(
      `UPDATE journal_sent SET state = 3 WHERE (channel, epoch, seq) IN
       (SELECT channel, epoch, seq FROM journal_sent WHERE channel = ? AND state = 2 AND not_after < ? LIMIT ?)`,
    ),
  }
}

function insertMessages(statements: SentStatements, channel: string, messages: readonly SealedMessage[]): void {
  for (const { epoch, seq, event_id, msg_id, kind, digest, at, not_after, envelope, body } of messages) {
    statements.insertRow.run(channel, epoch, seq, event_id, msg_id, kind, digest, at, not_after)
    statements.insertBytes.run(channel, epoch, seq, envelope, body)
    if (kind === 'inventory') statements.inventory.run(seq, at, channel)
  }
  statements.count.run(messages.length, channel)
}

function markState(
  statements: SentStatements,
  channel: string,
  { epoch, seq }: MessageNumber,
  state: SentState,
  at: number,
): void {
  const step = sentStates.indexOf(state)
  const { changes } = statements.mark.run(step, channel, epoch, seq, step)
  if (state !== 'PICKED_UP' || changes === 0) return
  statements.dropBytes.run(channel, epoch, seq)
  statements.keep.run(channel, epoch, seq, at)
}
