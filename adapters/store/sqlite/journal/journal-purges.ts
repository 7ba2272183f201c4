// Orders to remove a body: kept for ever, so that the same bytes never stay again; and the bytes that wait here, dropped.
import type Database from 'better-sqlite3'
import { sha384 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import type { Journal } from '../../../../daemon/kernel/messaging/journal.ts'
import type { PurgeFinds, PurgeOrder, SentBody } from '../../../../daemon/kernel/messaging/purge-records.ts'
import { scrubFile } from '../scrub-file.ts'
import type { SqliteFile } from '../sqlite-file.ts'
import type { JournalAudit } from './journal.ts'
import { sentStates } from './journal-tables.ts'

export type PurgeJournal = Pick<
  Journal,
  'orderPurge' | 'purgeOrders' | 'purgeFinds' | 'addPurgeFinds' | 'bytesFitting' | 'purgeSent' | 'scrub'
>

/** Bodies that are read and hashed at a time: 4 MiB each at most, and nothing else runs meanwhile. */
const bodies_per_read = 32

const findKinds = ['places', 'msg_ids', 'sessions'] as const satisfies readonly (keyof PurgeFinds)[]

export function purgeJournal(file: SqliteFile, audit: JournalAudit): PurgeJournal {
  const statements = preparePurges(file.db)
  return {
    orderPurge: ({ digest, reason, at }, events) =>
      file.write((db) => {
        if (statements.order.get(digest)) return
        audit.appendInside(db, events)
        statements.insert.run(digest, reason, at)
      }),
    purgeOrders: async () => file.read(() => statements.orders.all()),
    purgeFinds: async (digest) =>
      file.read(() => {
        const of = (kind: string) => statements.finds.all(digest, kind)
        return { places: of('places'), msg_ids: of('msg_ids'), sessions: of('sessions') }
      }),
    addPurgeFinds: (digest, finds) =>
      file.write(() => {
        for (const kind of findKinds) for (const value of finds[kind]) statements.find.run(digest, kind, value)
      }),
    bytesFitting: async (digest, after) =>
      file.read(() => {
        const rows = statements.bodies.all(after, bodies_per_read)
        const found = rows.flatMap((row) => matchBody(row, digest))
        const last = rows.at(-1)
        return { found, ...(last && rows.length === bodies_per_read ? { next: last.place } : {}) }
      }),
    purgeSent: (channel, numbers) =>
      file.write(() => {
        for (const { epoch, seq } of numbers) {
          statements.dropBytes.run(channel, epoch, seq)
          statements.mark.run(channel, epoch, seq)
        }
      }),
    scrub: async () => file.read(scrubFile),
  }
}

type BodyRow = Omit<SentBody, 'body'> & { readonly place: number; readonly digest: string; readonly body: string }

function matchBody({ channel, epoch, seq, msg_id, digest, body: text }: BodyRow, wanted: string): SentBody[] {
  const body = sha384(text)
  return wanted === digest || wanted === body ? [{ channel, epoch, seq, msg_id, body }] : []
}

function preparePurges(db: Database.Database) {
  const [acknowledged, purged] = [sentStates.indexOf('ACKNOWLEDGED'), sentStates.indexOf('PURGED')]
  return {
    order: db.prepare<[string]>('SELECT 1 FROM journal_purge WHERE digest = ?'),
    orders: db.prepare<[], PurgeOrder>('SELECT digest, reason, at FROM journal_purge ORDER BY at, digest'),
    insert: db.prepare('INSERT INTO journal_purge VALUES (?, ?, ?)'),
    finds: db
      .prepare<[string, string], string>('SELECT value FROM journal_purge_find WHERE digest = ? AND kind = ?')
      .pluck(),
    find: db.prepare('INSERT OR IGNORE INTO journal_purge_find VALUES (?, ?, ?)'),
    bodies: db.prepare<[number, number], BodyRow>(
      `SELECT b.rowid AS place, b.channel, b.epoch, b.seq, s.msg_id, s.digest, b.body FROM journal_bytes b
       JOIN journal_sent s ON s.channel = b.channel AND s.epoch = b.epoch AND s.seq = b.seq
       WHERE b.rowid > ? ORDER BY b.rowid LIMIT ?`,
    ),
    dropBytes: db.prepare('DELETE FROM journal_bytes WHERE channel = ? AND epoch = ? AND seq = ?'),
    mark: db.prepare(
      `UPDATE journal_sent SET state = ${purged}
       WHERE channel = ? AND epoch = ? AND seq = ? AND state <> ${acknowledged}`,
    ),
  }
}
