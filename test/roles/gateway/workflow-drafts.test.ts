// The drafts of workflows in arguments of calls, the hints on them, and the hints as text.
import { expect, test } from 'vitest'
import { parseSchedule } from '../../../adapters/host/schedule/cron.ts'
import { describeHints, listCallHints } from '../../../daemon/roles/gateway/guide/workflow/hint-text.ts'
import { findInterval } from '../../../daemon/roles/gateway/guide/workflow/schedule-interval.ts'

const deploy = { tool: 'pipeline-service__datapipeline_deploy' }
const content = (tasks: object[]) => JSON.stringify({ format: 1, dag_id: 'd', tasks })
const early = { name: 'n', operator: 'notify', params: { title: 'In' } }
const read = { name: 'in', operator: 'ingest_file', params: { file: 'a.csv' } }
const rulesOf = (input: unknown, name = deploy) => listCallHints(name, input, parseSchedule).map(({ rule }) => rule)

test('hints on the arguments of a call are those of the DAG and its schedule', () => {
  expect(rulesOf({ content: content([read, early]) })).toEqual(['early_signal'])
  expect(rulesOf({ content: content([read]), schedule: '*/15 * * * *' })).toEqual(['time_limit_beyond_schedule'])
  expect(rulesOf({ content: content([read]), schedule: 'now and then' })).toEqual([])
})

test.each([
  [undefined],
  [null],
  ['text'],
  [{}],
  [{ content: 7 }],
  [{ content: 'from airflow import DAG' }],
  [{ content: '{"format":1,"format":1}' }],
  [{ content: 'x'.repeat(300_000) }],
  [{ operators: [{ name: '__proto__' }] }],
])('arguments that have no workflow have no hints: %j', (input) => {
  expect(rulesOf(input)).toEqual([])
  expect(rulesOf(input, { tool: 'pipeline-service__effect_create' })).toEqual([])
})

test('hints as text are at most ten, and none for none', () => {
  const signals = Array.from({ length: 12 }, (_, at) => ({ ...early, name: `n${at}` }))
  const hints = listCallHints(deploy, { content: content([read, ...signals]) }, parseSchedule)
  expect(hints).toHaveLength(12)
  const lines = describeHints(hints).split('\n')
  expect(lines).toHaveLength(12)
  expect(lines.at(-1)).toBe('- and 2 more')
  expect(describeHints([])).toBe('')
})

test.each([
  ['@hourly', 3_600],
  ['*/15 * * * *', 900],
  ['0,20 * * * *', 1_200],
  ['0 3 * * *', 86_400],
  ['0 0,23 * * 1', 82_800],
  ['@monthly', 28 * 86_400],
])('the runs of %s are %d seconds apart where they are the closest', (expression, seconds) => {
  expect(findInterval(parseSchedule, expression)).toBe(seconds)
})
