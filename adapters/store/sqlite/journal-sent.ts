// The outgoing half of the journal: each message gets the next number of its channel, once, with the bytes it goes out as.
import type Database from 'better-sqlite3'
import type { Journal, Sealed, SentState } from '../../../daemon/kernel/journal.ts'
import type { SqliteFile } from './file.ts'
import { sentStates } from './journal-tables.ts'

type SentRow = Omit<Sealed, 'envelope' | 'body'>
export type SentJournal = Pick<Journal, 'sent' | 'head' | 'append' | 'outbox' | 'numbers' | 'get' | 'mark'>

const columns = 's.epoch, s.seq, s.event_id, s.msg_id, s.kind, s.digest, s.at'
const withBytes = `SELECT ${columns}, b.envelope, b.body FROM journal_sent s
  JOIN journal_bytes b ON b.channel = s.channel AND b.epoch = s.epoch AND b.seq = s.seq`

export function sentJournal(file: SqliteFile): SentJournal {
  const statements = prepareSent(file.db)
  const headOf = (channel: string) => {
    const epoch = statements.epoch.get(channel) ?? 1
    const last = statements.last.get(channel, epoch)
    return { epoch, seq: last?.seq ?? 0, digest: last?.digest }
  }
  return {
    sent: async (channel, event_id) => file.read(() => statements.byEvent.get(channel, event_id)),
    head: async (channel) => file.read(() => headOf(channel)),
    append: (channel, messages) =>
      file.write(() => {
        const head = headOf(channel)
        const isNext = (message: Sealed, index: number) =>
          message.epoch === head.epoch && message.seq === head.seq + 1 + index
        if (!messages.every(isNext)) return 'behind'
        for (const message of messages) insert(statements, channel, message)
        statements.count.run(messages.length, channel)
        return 'appended'
      }),
    outbox: async (channel, state, limit) =>
      file.read(() => statements.outbox.all(channel, sentStates.indexOf(state), limit)),
    numbers: async (channel, state) => file.read(() => statements.numbers.all(channel, sentStates.indexOf(state))),
    get: async (channel, epoch, seq) => file.read(() => statements.one.get(channel, epoch, seq)),
    mark: (channel, numbers, state) =>
      file.write(() => {
        for (const { epoch, seq } of numbers) mark(statements, channel, epoch, seq, state)
      }),
  }
}

type Statements = ReturnType<typeof prepareSent>

function prepareSent(db: Database.Database) {
  return {
    epoch: db.prepare<[string], number>('SELECT epoch FROM journal_channel WHERE channel = ?').pluck(),
    last: db.prepare<[string, number], { seq: number; digest: string }>(
      'SELECT seq, digest FROM journal_sent WHERE channel = ? AND epoch = ? ORDER BY seq DESC LIMIT 1',
    ),
    byEvent: db.prepare<[string, string], SentRow>(
      `SELECT ${columns} FROM journal_sent s WHERE s.channel = ? AND s.event_id = ?`,
    ),
    insertRow: db.prepare('INSERT INTO journal_sent VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)'),
    insertBytes: db.prepare('INSERT INTO journal_bytes VALUES (?, ?, ?, ?, ?)'),
    count: db.prepare('UPDATE journal_channel SET sent = sent + ? WHERE channel = ?'),
    outbox: db.prepare<[string, number, number], Sealed>(
      `${withBytes} WHERE s.channel = ? AND s.state = ? AND s.state < 2 ORDER BY s.epoch, s.seq LIMIT ?`,
    ),
    numbers: db.prepare<[string, number], { epoch: number; seq: number }>(
      'SELECT epoch, seq FROM journal_sent WHERE channel = ? AND state = ? ORDER BY epoch, seq',
    ),
    one: db.prepare<[string, number, number], Sealed>(`${withBytes} WHERE s.channel = ? AND s.epoch = ? AND s.seq = ?`),
    mark: db.prepare('UPDATE journal_sent SET state = ? WHERE channel = ? AND epoch = ? AND seq = ? AND state < ?'),
    dropBytes: db.prepare('DELETE FROM journal_bytes WHERE channel = ? AND epoch = ? AND seq = ?'),
  }
}

function insert(statements: Statements, channel: string, message: Sealed): void {
  const { epoch, seq, event_id, msg_id, kind, digest, at, envelope, body } = message
  statements.insertRow.run(channel, epoch, seq, event_id, msg_id, kind, digest, at)
  statements.insertBytes.run(channel, epoch, seq, envelope, body)
}

function mark(statements: Statements, channel: string, epoch: number, seq: number, state: SentState): void {
  const step = sentStates.indexOf(state)
  statements.mark.run(step, channel, epoch, seq, step)
  if (state === 'PICKED_UP') statements.dropBytes.run(channel, epoch, seq)
}
