// Shows that pages, sweeps and expiry seek in an index, so that their cost does not grow with the collection.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildWhere } from '../../adapters/store/sqlite/documents/filter.ts'
import { groupHint, indexHint } from '../../adapters/store/sqlite/documents/listing.ts'
import { labelKeysSql } from '../../adapters/store/sqlite/documents/read-scope.ts'
import { openTable, type SqliteTable } from '../../adapters/store/sqlite/documents/table.ts'
import { type SqliteFile, sqliteFile } from '../../adapters/store/sqlite/sqlite-file.ts'
import type { Filter } from '../../daemon/kernel/store/store.ts'
import { entityRecords } from '../../daemon/roles/resolution/entity-record/model.ts'
import { fusionRuns } from '../../daemon/roles/resolution/fusion-run/model.ts'

let folder: string
let file: SqliteFile
let table: SqliteTable

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'plans-'))
  file = sqliteFile({ file: path.join(folder, 'store.db'), addonDir: folder })
  const orders = [
    ['hue', 'rank'],
    ['hue', 'label_key'],
  ]
  table = openTable(file.db, { name: 'note', indexes: ['rank', 'kind', 'hue'], orders })
})
afterAll(async () => {
  await file.close()
  rmSync(folder, { recursive: true, force: true })
})

function planOf(filter: Filter, order = '', hint = ''): string[] {
  const { sql, bind } = buildWhere(table, filter)
  const query = `EXPLAIN QUERY PLAN SELECT id, body FROM ${table.name} ${hint} WHERE ${sql} ${order} LIMIT 50`
  return file.db
    .prepare<unknown[], { detail: string }>(query)
    .all(...bind)
    .map(({ detail }) => detail)
}

test.each<[string, Filter, string, string]>([
  ['a tenant’s documents by id', { tenant_id: 'a' }, 'id', 'doc_note_by_id (tenant_id=?)'],
  ['a tenant’s documents by field', { tenant_id: 'a' }, 'f_rank DESC, id DESC', 'doc_note_by_f_rank (tenant_id=?)'],
  ['one value of a tenant', { tenant_id: 'a', kind: 'x' }, 'id', 'doc_note_by_f_kind (tenant_id=? AND f_kind=?)'],
  [
    'what some labels let through',
    { tenant_id: 'a', label_key: { in: ['', 'x'] } },
    'id',
    'doc_note_by_id (tenant_id=?)',
  ],
  [
    'the same by field',
    { tenant_id: 'a', label_key: { in: ['', 'x'] } },
    'f_rank DESC, id DESC',
    'doc_note_by_f_rank (tenant_id=?)',
  ],
  [
    'some of many values',
    { tenant_id: 'a', kind: { in: Array.from({ length: 200 }, (_, at) => `x${at}`) } },
    'f_kind ASC, id ASC',
    'doc_note_by_f_kind (tenant_id=? AND f_kind=?)',
  ],
])('%s come in order from an index', (_what, filter, order, index) => {
  expect(planOf(filter, `ORDER BY ${order}`)).toEqual([`SEARCH doc_note USING INDEX ${index}`])
})

test.each<[string, Filter]>([
  ['one value', { tenant_id: 'a', hue: 'x' }],
  ['one value that some labels let through', { tenant_id: 'a', hue: 'x', label_key: { in: ['', 'x'] } }],
  ['one value of every tenant', { hue: 'x' }],
])('%s comes from the index of a declared order, also with a span', (_what, filter) => {
  const hint = indexHint(table, { filter, order: { field: 'rank', direction: 'desc' } })
  for (const span of [{}, { rank: { gte: 1, lt: 9 } }]) {
    const plan = planOf({ ...filter, ...span }, 'ORDER BY f_rank DESC, id DESC', hint)
    expect(plan[0]).toContain('INDEX doc_note_in_hue_and_rank (tenant_id=? AND f_hue=?')
    if ('tenant_id' in filter) expect(plan).toHaveLength(1)
  }
})

test('records of a registry written since, waiting ones and its latest run come from an index of their own', () => {
  const record = openTable(file.db, entityRecords)
  const run = openTable(file.db, fusionRuns)
  const registry = { tenant_id: 'a', lens: 'people' }
  for (const [held, filter, field, index] of [
    [record, { ...registry, written: { gte: 5 } }, 'written', 'lens_and_written'],
    [record, { ...registry, arrived: 'waiting' }, 'arrived', 'lens_and_arrived'],
    [run, { ...registry, state: 'completed' }, 'created_at', 'lens_and_state_and_created_at'],
    [run, { tenant_id: 'a', lens_id: 'x', state: 'completed' }, 'created_at', 'lens_id_and_state_and_created_at'],
  ] as const) {
    const order = { field, direction: 'asc' } as const
    const { sql, bind } = buildWhere(held, filter)
    const query = `SELECT id, body FROM ${held.name} ${indexHint(held, { filter, order })} WHERE ${sql} ORDER BY f_${field}, id`
    const plan = file.db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${query}`).all(...bind)
    expect(plan).toHaveLength(1)
    expect(plan[0]?.detail).toContain(`SEARCH ${held.name} USING INDEX ${held.name}_in_${index} (tenant_id=?`)
  }
})

test('an order is only taken where each of its fields is held to one value', () => {
  const order = { field: 'rank', direction: 'asc' } as const
  expect(indexHint(table, { filter: { hue: { in: ['x', 'y'] } }, order })).toBe('')
  expect(indexHint(table, { filter: { kind: 'x' }, order })).toBe('')
  expect(indexHint(table, { filter: { hue: 'x' } })).toBe('')
})

test.each<[string, Filter, string]>([
  ['a sweep over all tenants', { rank: { lte: 5 } }, 'doc_note_by_f_rank'],
  ['a search of one value in all tenants', { kind: 'x' }, 'doc_note_by_f_kind'],
  ['expiry', { expires_ts: { lte: 5 } }, 'doc_note_by_expiry'],
])('%s reads no other document', (_what, filter, index) => {
  const plan = planOf(filter)
  expect(plan.join('\n')).toContain(`USING INDEX ${index} (`)
  expect(plan.filter((line) => line.startsWith('SCAN doc_'))).toEqual([])
})

test('the labels of a tenant are found by seeking from one to the next', () => {
  const plan = file.db
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${labelKeysSql(table)}`)
    .all('a', 'a')
    .map(({ detail }) => detail)
  const seeks = plan.filter((line) => line.includes('doc_note'))
  expect(seeks).toEqual([
    expect.stringContaining('USING COVERING INDEX doc_note_by_label (tenant_id=?'),
    expect.stringContaining('USING COVERING INDEX doc_note_by_label (tenant_id=? AND label_key>?)'),
  ])
  expect(seeks.filter((line) => line.startsWith('SCAN'))).toEqual([])
})

test('counts by a field that is declared with the label are read from its index alone, also of what some labels let through', () => {
  const filter = { tenant_id: 'a', hue: { gte: 'p', lt: 'q' }, label_key: { in: ['', 'x'] } }
  const { sql, bind } = buildWhere(table, filter)
  const query = `SELECT f_hue, count(*) FROM ${table.name} ${groupHint(table, 'hue')} WHERE ${sql} GROUP BY 1`
  const plan = file.db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${query}`).all(...bind)
  expect(plan.map(({ detail }) => detail)).toEqual([
    'SEARCH doc_note USING COVERING INDEX doc_note_in_hue_and_label_key (tenant_id=? AND f_hue>? AND f_hue<?)',
  ])
  expect(groupHint(table, 'kind')).toBe('')
})
