// The drafts of workflows in arguments of calls, the hints on them, and the hints as text.
import { expect, test } from 'vitest'
import { parseSchedule } from '../../../adapters/host/schedule/cron.ts'
import { describeHints, listCallHints } from '../../../daemon/roles/gateway/guide/workflow/hint-text.ts'
import { listHints } from '../../../daemon/roles/gateway/guide/workflow/hints.ts'
import { findInterval } from '../../../daemon/roles/gateway/guide/workflow/schedule-interval.ts'
import { dagTask } from '../../../daemon/shared/assembled-dag/assembled-dag.ts'

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

test('hints on 200 tasks that each follow all before them take less than 5 ms', () => {
  const operators = ['ingest_database', 'join', 'cast', 'validate', 'filter', 'write', 'notify', 'test_call']
  const params = { file: 'a.parquet', rules: [{ on_failure: 'count' }] }
  const tasks = Array.from({ length: 200 }, (_, at) => {
    const after = Array.from({ length: at }, (_each, other) => `t${other}`)
    return dagTask.parse({ name: `t${at}`, operator: operators[at % operators.length], params, after })
  })
  const times = Array.from({ length: 100 }, () => {
    const begun = performance.now()
    expect(listHints({ tasks }, { interval_s: 60 }).length).toBeGreaterThan(0)
    return performance.now() - begun
  })
  expect(Math.min(...times)).toBeLessThan(5)
})
