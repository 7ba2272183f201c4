// A journal written by version 0.1.0 is taken over with all that it holds.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteAudit } from '../../adapters/store/sqlite/audit/audit.ts'
import { sqliteJournal } from '../../adapters/store/sqlite/journal/journal.ts'
import { sqliteFile } from '../../adapters/store/sqlite/sqlite-file.ts'

const tables = `
  CREATE TABLE journal_channel (
    channel TEXT PRIMARY KEY NOT NULL, peer TEXT NOT NULL, direction TEXT NOT NULL, state TEXT NOT NULL,
    epoch INTEGER NOT NULL, detail TEXT NOT NULL, inventory INTEGER NOT NULL DEFAULT 0,
    sent INTEGER NOT NULL DEFAULT 0, received INTEGER NOT NULL DEFAULT 0, duplicates INTEGER NOT NULL DEFAULT 0) STRICT;
  CREATE TABLE journal_sent (
    channel TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL, event_id TEXT NOT NULL, msg_id TEXT NOT NULL,
    kind TEXT NOT NULL, digest TEXT NOT NULL, at INTEGER NOT NULL, state INTEGER NOT NULL,
    PRIMARY KEY (channel, epoch, seq), UNIQUE (channel, event_id)) STRICT, WITHOUT ROWID;
  CREATE TABLE journal_ledger (
    channel TEXT NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL, digest TEXT NOT NULL, prev TEXT NOT NULL,
    msg_id TEXT NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL, state TEXT NOT NULL, code TEXT NOT NULL,
    PRIMARY KEY (channel, epoch, seq)) STRICT, WITHOUT ROWID;
  INSERT INTO journal_channel VALUES ('x/a/b', 'b', 'out', 'open', 1, '', 0, 2, 0, 0);
  INSERT INTO journal_channel VALUES ('x/b/a', 'b', 'in', 'open', 1, '', 0, 0, 1, 0);
  INSERT INTO journal_sent VALUES ('x/a/b', 1, 1, 'e1', 'm1', 'result', 'd1', 1000, 2);
  INSERT INTO journal_sent VALUES ('x/a/b', 1, 2, 'e2', 'm2', 'result', 'd2', 1000, 1);
  INSERT INTO journal_ledger VALUES ('x/b/a', 1, 1, 'd1', 'd0', 'm1', 'result', 3000, 'applied', '');
  INSERT INTO journal_ledger VALUES ('x/b/a', 1, 2, 'd2', 'd1', 'm2', 'result', 3000, 'refused', 'invalid');
`
const year_ms = 365 * 86_400_000

test('numbers, states and files of an older journal are as they were', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'journal-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const _start of ['first', 'second']) {
    const file = sqliteFile({ file: path.join(folder, 'site.db'), addonDir: folder })
    if (_start === 'first') file.db.exec(tables)
    const journal = sqliteJournal(file, sqliteAudit(file, 'test@here'))
    expect(await journal.channels()).toMatchObject([{ sent: 2, inventory_at: 0 }, { received: 1 }])
    expect(await journal.sentRun('x/a/b', 1, 1, 9, 9)).toMatchObject([
      { seq: 1, digest: 'd1', state: 'PICKED_UP', taken: 1_000 },
      { seq: 2, digest: 'd2', state: 'PUBLISHED' },
    ])
    expect(await journal.retained('x/b/a', 9_000, 9)).toEqual([{ epoch: 1, seq: 1 }])
    expect(await journal.assume('x/a/b', year_ms + 1_000, 9)).toBe(0)
    await file.close()
  }
})
