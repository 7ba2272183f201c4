// Table rows of sessions, roles, pipelines and channels: their text, and the cells that are highlighted.
import { expect, test } from 'vitest'
import type { ApiObject } from '../client/client.ts'
import { buildDetail } from './detail.ts'
import { buildPaneTable, type PaneCell } from './tables.ts'
import type { PaneName } from './view.ts'

const row = (pane: PaneName, item: ApiObject, columns = 80): Record<string, PaneCell | undefined> => {
  const table = buildPaneTable(pane, [item], columns)
  return Object.fromEntries(table.columns.map(({ heading }, at) => [heading, table.rows[0]?.cells[at]]))
}

const conflict = {
  id: 'ses_01',
  state: 'IN_CONFLICT',
  reason: 'total_conflict',
  result: { method: 'weighted_average', score: 0.51239, conflict: 0.9 },
  contributors: 2,
  contributions: 3,
  policy: { m: 2, n: 3 },
  undelivered: 1,
  lens_id: 'person',
  lens_version: '1',
  created_at: '2026-05-03T10:00:00.000Z',
  created_by: 'alice',
  history: [
    { seq: 1, at: '2026-05-03T10:00:00.000Z', from: null, to: 'PROPOSED', trigger: 'create', by: 'alice' },
    {
      seq: 2,
      at: '2026-05-03T10:01:00.000Z',
      from: 'PROPOSED',
      to: 'IN_CONFLICT',
      trigger: 'contribution',
      by: 'bob',
      reason: 'total_conflict',
    },
  ],
}

test('a session shows its state, outcome, contributors, and pending answers', () => {
  expect(row('sessions', conflict)).toMatchObject({
    STATE: { text: 'IN_CONFLICT', tone: 'bad' },
    OUTCOME: { text: 'total_conflict' },
    HEARD: { text: '2/3 m2' },
    DUE: { text: '1', tone: 'warn' },
  })
  const { result: _none, reason: _without, ...open } = conflict
  expect(row('sessions', { ...open, state: 'PROPOSED' }).OUTCOME?.text).toBe('-')
})

test('wide terminals see more columns, narrow ones those that matter', () => {
  expect(row('sessions', conflict).CREATED).toBeUndefined()
  expect(row('sessions', conflict, 120).CREATED?.text).toBe('2026-05-03 10:00:00')
  expect(row('sessions', conflict).SCORE).toBeUndefined()
  expect(row('sessions', conflict, 100).SCORE?.text).toBe('0.5124')
})

test('a role that is not well says why before what it needs', () => {
  const needed = [
    { name: 'store', state: 'ok', detail: '', latency_ms: 1 },
    { name: 'site', state: 'down', detail: 'cannot be reached', latency_ms: 2 },
  ]
  expect(row('roles', { name: 'consensus', state: 'degraded', dependencies: needed }).NEEDS).toEqual({
    text: 'site: cannot be reached',
    tone: 'bad',
  })
  expect(row('roles', { name: 'site', state: 'ok', dependencies: needed.slice(0, 1) }).NEEDS?.text).toBe('ok: store')
  expect(row('roles', { name: 'site', state: 'not running', fault: 'no socket' }).NEEDS?.text).toBe('no socket')
})

test('trouble of a channel stands out, its absence does not', () => {
  const channel = { transport: 'filedrop', peer: 'bravo', direction: 'in', state: 'frozen', gaps: 2, quarantined: 0 }
  expect(row('channels', channel)).toMatchObject({ GAPS: { tone: 'bad' }, STATE: { tone: 'bad' } })
  expect(row('channels', channel).REFUSED?.tone).toBeUndefined()
  const silent = { ...channel, state: 'open', stale: true }
  expect(row('channels', silent).STATE).toEqual({ text: 'stale', tone: 'bad' })
  expect(row('channels', { ...silent, stale: false }).STATE).toEqual({ text: 'open', tone: 'good' })
})

test('a denial shows its count, its reason, the request and the caller', () => {
  const denial = { count: 75, reason: 'no_rule', method: 'GET', path: '/x', last_source: '192.0.2.1', at_most_over: 2 }
  expect(row('denials', denial)).toMatchObject({
    ...{ COUNT: { text: '75' }, REASON: { text: 'no_rule' }, METHOD: { text: 'GET' }, PATH: { text: '/x' } },
    'LAST FROM': { text: '192.0.2.1' },
  })
  const all = buildDetail('denials', denial, undefined, 80).map(({ label, text }) => `${label}|${text}`)
  expect(all).toEqual(expect.arrayContaining(['path|/x', 'at most over|2']))
})

test('details tell a session’s history and why it is in conflict, within the width', () => {
  const prose = ['alice and bob are far apart: '.repeat(6)]
  const lines = buildDetail('sessions', conflict, prose, 80)
  const all = lines.map(({ label, text }) => `${label}|${text}`).join('\n')
  expect(all).toContain('history|2026-05-03 10:00:00  PROPOSED  create by alice')
  expect(all).toContain('PROPOSED → IN_CONFLICT (total_conflict)')
  expect(all).toContain('why|alice and bob')
  expect(Math.max(...lines.map(({ text }) => text.length))).toBeLessThanOrEqual(63)
})

test('a pipeline shows its state, and the newest run with the tone of its end', () => {
  const last_run = { dag_run_id: 'deploy__1', state: 'failed', start_date: '2026-05-03T10:00:00.000Z' }
  const pipeline = { uid: 'pl_1', dag_id: 'orders', status: 'active', last_run, schedule: '@daily' }
  expect(row('pipelines', pipeline, 120)).toEqual({
    PIPELINE: { text: 'orders' },
    STATE: { text: 'active', tone: 'good' },
    'LAST RUN': { text: 'failed', tone: 'bad' },
    STARTED: { text: '2026-05-03 10:00:00', tone: 'faint' },
    NEXT: { text: '-' },
    SCHEDULE: { text: '@daily', tone: 'faint' },
  })
  expect(row('pipelines', { ...pipeline, status: 'rejected', last_run: undefined })).toMatchObject({
    STATE: { tone: 'bad' },
    'LAST RUN': { text: '-' },
  })
  const fault = { reason: 'unknown operator', path: 'tasks.0' }
  const shown = buildDetail('pipelines', { ...pipeline, fault }, undefined, 80).map(({ label, text }) => [label, text])
  expect(shown.slice(0, 5)).toEqual([
    ['pipeline', 'orders'],
    ['state', 'active'],
    ['fault', 'tasks.0: unknown operator'],
    ['last run', 'deploy__1'],
    ['ended as', 'failed'],
  ])
})
