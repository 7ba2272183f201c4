// The incoming half of the journal: one permanent entry per number, and missing numbers found without a full count.
import type Database from 'better-sqlite3'
import type { Gap, Journal, ReceiveProgress } from '../../../../daemon/kernel/messaging/journal.ts'
import type { ArrivalOutcome, LedgerEntry, MessageArrival } from '../../../../daemon/kernel/messaging/ledger.ts'
import type { NameRange } from '../../../../daemon/kernel/store/name-range.ts'
import type { SqliteFile } from '../sqlite-file.ts'
import type { JournalAudit } from './journal.ts'

export type ArrivalJournal = Pick<
  Journal,
  | 'advance'
  | 'entry'
  | 'entries'
  | 'skipped'
  | 'progress'
  | 'gaps'
  | 'receive'
  | 'recordOutcomes'
  | 'countDuplicates'
  | 'countFailure'
  | 'clearFailures'
  | 'noteIncomplete'
>

/** Columns of a `LedgerEntry`. */
export const entryColumns = 'epoch, seq, digest, prev, msg_id, kind, at, not_after, state, code'

/** States of messages whose files lie in `work`. */
export const waitingStates: ReadonlySet<string> = new Set(['received', 'set_aside'])

export type ArrivalRun = { floor: number; highest: number; beyond: number }

export function arrivalJournal(file: SqliteFile, audit: JournalAudit): ArrivalJournal {
  const statements = prepareArrivals(file.db)
  const progressOf = (channel: string, epoch: number): ReceiveProgress => {
    const run = statements.run.get(channel, epoch)
    return { floor: run?.floor ?? 0, highest: run?.highest ?? 0, arrived: run?.beyond ?? 0 }
  }
  return {
    advance: (channel, epoch, events) =>
      file.write((db) => {
        if (epoch <= (statements.epoch.get(channel) ?? epoch)) return
        audit.appendInside(db, events)
        statements.advance.run(epoch, channel)
      }),
    entry: async (channel, epoch, seq) => file.read(() => statements.entry.get(channel, epoch, seq)),
    entries: async (channel, numbers) =>
      file.read(() => numbers.flatMap(({ epoch, seq }) => statements.entry.get(channel, epoch, seq) ?? [])),
    skipped: async (channel, numbers) =>
      file.read(() => numbers.filter(({ epoch, seq }) => statements.state.get(channel, epoch, seq) === 'skipped')),
    progress: async (channel, epoch) => file.read(() => progressOf(channel, epoch)),
    gaps: async (channel, epoch, limit) =>
      file.read(() => {
        const { floor, highest } = progressOf(channel, epoch)
        return findGaps(floor, highest, statements.beyond.iterate(channel, epoch, floor), limit)
      }),
    receive: (channel, arrivals) => file.write(() => recordArrivals(statements, channel, arrivals)),
    recordOutcomes: (channel, settlements) =>
      file.write((db) => recordOutcomes(statements, channel, settlements, audit, db)),
    countDuplicates: (channel, count) =>
      file.write(() => {
        statements.countDuplicates.run(count, channel)
      }),
    countFailure: (channel, epoch, seq) => file.write(() => statements.fail.get(channel, epoch, seq) ?? 1),
    clearFailures: (channel, epoch, seq) =>
      file.write(() => {
        statements.forgive.run(channel, epoch, seq)
      }),
    noteIncomplete: (channel, names, now, stretch = {}) =>
      file.write(() => reconcileIncomplete(statements, channel, names, now, stretch)),
  }
}

type ArrivalStatements = ReturnType<typeof prepareArrivals>

function prepareArrivals(db: Database.Database) {
  const at = 'channel = ? AND epoch = ? AND seq = ?'
  return {
    entry: db.prepare<[string, number, number], LedgerEntry>(
      `SELECT ${entryColumns} FROM journal_ledger WHERE ${at} AND state <> 'skipped'`,
    ),
    epoch: db.prepare<[string], number>('SELECT epoch FROM journal_channel WHERE channel = ?').pluck(),
    advance: db.prepare('UPDATE journal_channel SET epoch = ?, inventory = 0 WHERE channel = ?'),
    state: db.prepare<[string, number, number], string>(`SELECT state FROM journal_ledger WHERE ${at}`).pluck(),
    insert: db.prepare("INSERT OR REPLACE INTO journal_ledger VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'received', '', ?)"),
    found: db.prepare(`UPDATE journal_ledger SET state = 'received' WHERE ${at}`),
    forgetSetAside: db.prepare(`DELETE FROM journal_set_aside WHERE ${at}`),
    end: db.prepare(`UPDATE journal_ledger SET state = ?, code = ? WHERE ${at}`),
    keep: db.prepare(
      `INSERT OR IGNORE INTO journal_kept SELECT channel, epoch, seq, at FROM journal_ledger WHERE ${at}`,
    ),
    run: db.prepare<[string, number], ArrivalRun>(
      'SELECT floor, highest, beyond FROM journal_run WHERE channel = ? AND epoch = ?',
    ),
    putRun: db.prepare('INSERT OR REPLACE INTO journal_run VALUES (?, ?, ?, ?, ?)'),
    beyond: db
      .prepare<[string, number, number], number>(
        "SELECT seq FROM journal_ledger WHERE channel = ? AND epoch = ? AND seq > ? AND state <> 'lost' ORDER BY seq",
      )
      .pluck(),
    countReceived: db.prepare('UPDATE journal_channel SET received = received + ? WHERE channel = ?'),
    countDuplicates: db.prepare('UPDATE journal_channel SET duplicates = duplicates + ? WHERE channel = ?'),
    fail: db
      .prepare<[string, number, number], number>(
        `INSERT INTO journal_attempt VALUES (?, ?, ?, 1)
         ON CONFLICT DO UPDATE SET failed = failed + 1 RETURNING failed`,
      )
      .pluck(),
    hasFailed: db.prepare<[string], number>('SELECT 1 FROM journal_attempt WHERE channel = ? LIMIT 1').pluck(),
    forgive: db.prepare(`DELETE FROM journal_attempt WHERE ${at}`),
    waiting: db.prepare<[string, string, string | Buffer], { name: string; since: number }>(
      'SELECT name, since FROM journal_waiting WHERE channel = ? AND name > ? AND name <= ?',
    ),
    wait: db.prepare('INSERT INTO journal_waiting VALUES (?, ?, ?)'),
    unwait: db.prepare('DELETE FROM journal_waiting WHERE channel = ? AND name = ?'),
  }
}

/** Each epoch's run is read and written once for all arrivals. */
function recordArrivals(
  statements: ArrivalStatements,
  channel: string,
  arrivals: readonly MessageArrival[],
): LedgerEntry[] {
  const runs = new Map<number, ArrivalRun>()
  const entries = arrivals.map((arrival): LedgerEntry => {
    const { epoch, seq, digest, prev, msg_id, kind, at, not_after } = arrival
    const known = statements.entry.get(channel, epoch, seq)
    if (known && (known.state !== 'lost' || known.digest !== digest)) return known
    const wasSkipped = statements.state.get(channel, epoch, seq) === 'skipped'
    if (known) statements.found.run(channel, epoch, seq)
    else statements.insert.run(channel, epoch, seq, digest, prev, msg_id, kind, at, not_after)
    // The number counts as arrived since it was skipped.
    if (wasSkipped) return { ...arrival, state: 'received', code: '' }
    const run = runs.get(epoch) ?? statements.run.get(channel, epoch) ?? { floor: 0, highest: 0, beyond: 0 }
    runs.set(
      epoch,
      advanceRun(run, seq, (next) => (statements.state.get(channel, epoch, next) ?? 'lost') !== 'lost'),
    )
    return { ...(known ?? arrival), state: 'received', code: '' }
  })
  for (const [epoch, { floor, highest, beyond }] of runs) {
    statements.putRun.run(channel, epoch, floor, highest, beyond)
  }
  return entries
}

/** The floor rises over what had arrived beyond it; each entry is passed once in its life, so the cost stays flat. */
export function advanceRun(run: ArrivalRun, seq: number, hasArrived: (seq: number) => boolean): ArrivalRun {
  const highest = Math.max(run.highest, seq)
  let { floor, beyond } = run
  if (seq !== floor + 1) return { floor, highest, beyond: beyond + 1 }
  floor = seq
  while (beyond > 0 && hasArrived(floor + 1)) {
    floor += 1
    beyond -= 1
  }
  return { floor, highest, beyond }
}

function recordOutcomes(
  statements: ArrivalStatements,
  channel: string,
  settlements: readonly ArrivalOutcome[],
  audit: JournalAudit,
  db: Database.Database,
): void {
  const isOpen = ({ epoch, seq }: ArrivalOutcome) =>
    waitingStates.has(statements.state.get(channel, epoch, seq) ?? 'lost')
  const open = settlements.filter(isOpen)
  // First, since an event that is not of its schema must throw before anything is written.
  audit.appendInside(
    db,
    open.flatMap(({ audit = [] }) => audit),
  )
  if (statements.hasFailed.get(channel) !== undefined) {
    for (const { epoch, seq } of settlements) statements.forgive.run(channel, epoch, seq)
  }
  for (const { epoch, seq, state, code } of open) {
    statements.end.run(state, code, channel, epoch, seq)
    statements.forgetSetAside.run(channel, epoch, seq)
    if (state === 'applied') statements.keep.run(channel, epoch, seq)
  }
  const applied = open.filter(({ state }) => state === 'applied').length
  if (applied > 0) statements.countReceived.run(applied, channel)
}

/** `arrived`: the numbers beyond the floor, lowest first. The highest itself may be lost. */
function findGaps(floor: number, highest: number, arrived: Iterable<number>, limit: number): Gap[] {
  const gaps: Gap[] = []
  let previous = floor
  for (const seq of arrived) {
    if (seq > previous + 1) gaps.push({ first: previous + 1, last: seq - 1 })
    if (gaps.length >= limit) break
    previous = seq
  }
  if (highest > previous && gaps.length < limit) gaps.push({ first: previous + 1, last: highest })
  return gaps
}

/** Bytes come after every text. */
const after_all_names = Buffer.alloc(0)

function reconcileIncomplete(
  statements: ArrivalStatements,
  channel: string,
  names: readonly string[],
  now: number,
  { after = '', upto }: NameRange,
) {
  const wanted = new Set(names)
  const known = new Map<string, number>()
  for (const { name, since } of statements.waiting.all(channel, after, upto ?? after_all_names)) {
    if (wanted.has(name)) known.set(name, since)
    else statements.unwait.run(channel, name)
  }
  for (const name of wanted) {
    if (known.has(name)) continue
    statements.wait.run(channel, name, now)
    known.set(name, now)
  }
  return known
}
