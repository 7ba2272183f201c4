// Table rows of sessions, roles, pipelines and channels: their text, and the cells that are highlighted.
import { expect, test } from 'vitest'
import type { ApiObject } from '../client/client.ts'
import type { PaneCell } from './cells.ts'
import { buildDetail } from './detail.ts'
import { buildPaneTable } from './tables.ts'
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

const service = {
  ...{ name: 'maps', state: 'live', url: 'http://maps.example', expires_at: '2026-05-03T10:00:00.000Z' },
  tools: { accepted: 4, offered: 3, list: 'read', breaker: 'open_for_callers' },
}

test('a service shows how many of its tools are offered, and the state of its breaker', () => {
  expect(row('services', service)).toMatchObject({
    ...{ SERVICE: { text: 'maps' }, STATE: { text: 'live', tone: 'good' }, TOOLS: { text: '3/4', tone: 'warn' } },
    ...{ LIST: { text: 'read', tone: 'good' }, BREAKER: { text: 'open_for_callers', tone: 'warn' } },
  })
  const spared = { ...service, tools: { ...service.tools, breaker: 'open' } }
  expect(row('services', spared).BREAKER).toEqual({ text: 'open', tone: 'bad' })
  expect(row('services', { ...service, tools: undefined })).toMatchObject({ TOOLS: { text: '-' }, LIST: { text: '-' } })
  expect(row('services', service, 160).URL?.text).toBe('http://maps.example')
  const all = buildDetail('services', service, undefined, 80).map(({ label, text }) => `${label}|${text}`)
  expect(all).toEqual(
    expect.arrayContaining(['offered|3 of 4 accepted tools and resources', 'breaker|open_for_callers']),
  )
  expect(all.at(-1)).toBe('command|platform gateway show maps')
})

test('a tool that is held stands out', () => {
  const tool = { offered_as: 'maps__route', service: 'maps', state: 'held', permission: 'gateway:call' }
  expect(row('tools', tool)).toMatchObject({ TOOL: { text: 'maps__route' }, STATE: { text: 'held', tone: 'bad' } })
  expect(row('tools', { ...tool, state: 'disabled' }).STATE?.tone).toBe('warn')
})

const usage = {
  ...{ subject: 'ann', kind: 'tool', target: 'maps__route', calls: 60, refused: 2, left: 0 },
  quotas: [{ guardrail: 'pace', window_s: 60, limit: 60, used: 62, left: 0, resets_at: '2026-05-03T10:00:00.000Z' }],
}

test('a caller shows its calls, and a quota that is used up', () => {
  expect(row('quotas', usage, 120)).toEqual({
    ...{ CALLER: { text: 'ann' }, TARGET: { text: 'maps__route' }, CALLS: { text: '60' } },
    ...{ REFUSED: { text: '2', tone: 'warn' }, LEFT: { text: '0', tone: 'bad' } },
    QUOTAS: { text: 'pace 62 of 60 a minute', tone: 'faint' },
  })
  expect(row('quotas', { ...usage, quotas: [], left: undefined }, 120)).toMatchObject({ LEFT: { text: '-' } })
  const all = buildDetail('quotas', usage, undefined, 100).map(({ label, text }) => `${label}|${text}`)
  expect(all).toContain('quota|pace: 62 of 60 calls in 60 s, 0 left until 2026-05-03 10:00:00')
})

test('a decision names its guardrail, and the command for its caller where a shell reads it as one word', () => {
  const decision = { seq: 7, at: '2026-05-03T10:00:00.000Z', guardrail: 'pace', reason: 'rate', subject: 'ann' }
  expect(row('decisions', decision)).toMatchObject({ GUARDRAIL: { text: 'pace' }, REASON: { text: 'rate' } })
  const commandOf = (subject: string) => buildDetail('decisions', { ...decision, subject }, undefined, 80).at(-1)?.text
  expect(commandOf('ann')).toBe('platform gateway decisions --subject ann')
  for (const subject of ['$(reboot)', '--url', "a'b", 'a b', '-rf'])
    expect(commandOf(subject)).toBe('platform gateway decisions')
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

test('rows of guidance say what awaits a decision, and name the command that shows it', () => {
  const held = { kind: 'held', name: 'proposal_1', artifact_id: 'artifact_1', state: 'held', type: 'PromptShim' }
  expect(row('guidance', { ...held, score: 0.25 })).toMatchObject({
    ...{ GUIDANCE: { text: 'proposal_1' }, STATE: { text: 'held', tone: 'bad' }, SCORE: { text: '0.2500' } },
  })
  const commandOf = (item: ApiObject) => buildDetail('guidance', item, undefined, 80).at(-1)?.text
  expect(commandOf(held)).toBe('platform guide show artifact_1')
  expect(commandOf({ kind: 'artifact', name: 'artifact_2', state: 'active' })).toBe('platform guide show artifact_2')
  expect(commandOf({ kind: 'scope', name: 'l3:maps', state: 'ok' })).toBe('platform guide preview --scope l3:maps')
  expect(commandOf({ kind: 'artifact', name: '$(reboot)', state: 'active' })).toBe('platform guide stats')
  expect(commandOf({ kind: 'curator', name: 'curator', state: 'paused' })).toBe('platform guide stats')
})
