// Shows that lists and verification see one chain, though its older records are filed and its newest are not yet.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { max_unindexed_records, readIndexedSeq } from '../../adapters/store/sqlite/audit/audit-index.ts'
import type { SqliteFile } from '../../adapters/store/sqlite/sqlite-file.ts'
import type { AuditEvent, AuditLog, AuditQuery } from '../../daemon/kernel/audit/audit-chain.ts'
import { buildEvent } from '../conformance/store-requirement.ts'
import { openSqliteStore } from '../conformance/store-variants.ts'

const newest_count = 40
const events: AuditEvent[] = Array.from({ length: max_unindexed_records + newest_count }, (_, n) =>
  buildEvent({
    at: new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString(),
    target: `t${n % 7}`,
    tenant_id: n % 3 === 0 ? 'alpha' : 'bravo',
    action: n % 2 === 0 ? 'even' : 'odd',
  }),
)

let folder: string
let file: SqliteFile
let audit: AuditLog

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'filing-'))
  const opened = openSqliteStore(folder)
  file = opened.file
  audit = opened.audit
  await audit.append(events.slice(0, max_unindexed_records))
  await audit.append(events.slice(max_unindexed_records))
})
afterAll(async () => {
  await file.close()
  rmSync(folder, { recursive: true, force: true })
})

test('records are filed once enough of them wait', () => {
  expect(readIndexedSeq(file.db)).toBe(max_unindexed_records)
})

const middle = events[max_unindexed_records - 5]?.at ?? ''
const end = events[max_unindexed_records + 5]?.at ?? ''
const queries: Omit<AuditQuery, 'limit' | 'ascending'>[] = [
  {},
  { target: 't3' },
  { tenant_id: 'alpha' },
  { tenant_id: 'bravo', target: 't1', action: 'odd' },
  { subject: 'ann', action: 'even' },
  { since: middle },
  { until: end },
  { since: middle, until: end, tenant_id: 'bravo' },
  { target: 't3', after_seq: max_unindexed_records - 20 },
  { target: 't3', after_seq: max_unindexed_records + 20 },
  { target: 'nothing' },
]

/** The expected list, by looking at every event. */
function listExpected({ limit, ascending = false, after_seq, since, until, ...wanted }: AuditQuery): number[] {
  const seqs = events.flatMap((event, n) => {
    const fits = Object.entries(wanted).every(([field, value]) => Reflect.get(event, field) === value)
    const inTime = (since === undefined || event.at >= since) && (until === undefined || event.at < until)
    const isAfter = after_seq === undefined || (ascending ? n + 1 > after_seq : n + 1 < after_seq)
    return fits && inTime && isAfter ? [n + 1] : []
  })
  return (ascending ? seqs : seqs.reverse()).slice(0, limit)
}

describe.each(queries)('a list of %o', (query) => {
  test.each([
    [3, false],
    [newest_count, false],
    [9_999, false],
    [3, true],
    [9_999, true],
  ])('at most %i, ascending: %s', async (limit, ascending) => {
    const filter = { ...query, limit, ascending }
    expect((await audit.list(filter)).map(({ seq }) => seq)).toEqual(listExpected(filter))
  })
})

describe('verification', () => {
  const seq = 1_000
  test.each([
    ['filed under another target', `UPDATE audit_filed SET target = 'elsewhere' WHERE seq = ${seq}`],
    ['filed under another time', `UPDATE audit_filed SET at = 0 WHERE seq = ${seq}`],
    ['not filed', `DELETE FROM audit_filed WHERE seq = ${seq}`],
  ])('finds a record that is %s', async (_how, sql) => {
    file.db.exec(`CREATE TEMP TABLE kept AS SELECT * FROM audit_filed WHERE seq = ${seq}`)
    file.db.exec(sql)
    expect(await audit.verify()).toMatchObject({ seq, fault: 'altered' })
    file.db.exec('INSERT OR REPLACE INTO audit_filed SELECT * FROM kept; DROP TABLE kept')
    expect(await audit.verify()).toBeUndefined()
  })

  test('finds a record that is filed before its time', async () => {
    const early = max_unindexed_records + 3
    file.db.exec(`INSERT INTO audit_filed SELECT seq, tenant_id, target, at FROM audit WHERE seq = ${early}`)
    expect(await audit.verify()).toMatchObject({ seq: early, fault: 'altered' })
    file.db.exec(`DELETE FROM audit_filed WHERE seq = ${early}`)
  })
})

test('bodies that were not filed yet expire like the others', async () => {
  const before = events[max_unindexed_records + 10]?.at ?? ''
  expect(await audit.expire(before)).toBe(max_unindexed_records + 10)
  expect(await audit.verify()).toBeUndefined()
  expect(
    (await audit.list({ tenant_id: 'alpha', limit: 99 })).every(({ seq }) => seq > max_unindexed_records + 10),
  ).toBe(true)
})
