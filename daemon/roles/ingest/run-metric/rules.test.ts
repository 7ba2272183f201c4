// Metrics of runs: what counts once, and what of times that a clock moved.
import { expect, test } from 'vitest'
import { newJob } from '../../../kernel/job/rules.ts'
import { dagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import type { RunTask, StoredDagRun } from '../runner/model.ts'
import { measureRun, measureWatched } from './rules.ts'

const label = { policy: 'SITE', level: 'RESTRICTED', categories: [], originator: 'alpha' }

/** Minutes of one hour. */
const at = (minute: number) => `2026-03-02T12:${String(minute).padStart(2, '0')}:00.000Z`

const landed = (rows: number, inputs: number[], rejects = 0) => ({
  ...{ dataset: 'd', rows, rejects, bytes: rows * 10, digest: '0'.repeat(64) },
  inputs: inputs.map((bytes) => ({ name: 'f.csv', bytes, digest: '0'.repeat(64) })),
})

function buildRun(tasks: (RunTask & { after?: string[] })[], more: Partial<StoredDagRun> = {}): StoredDagRun {
  return {
    ...{ tenant_id: 'alpha', label, created_by: 'ann', created_at: at(0), updated_at: at(0), pipeline: 'pl_1' },
    ...newJob(undefined, 0),
    ...{ dag_id: 'd', dag_run_id: 'manual__1', dag_digest: '0'.repeat(64), conf: {}, state: 'success' },
    ...{ started_at: at(2), ended_at: at(5), unmeasured: 1 },
    dag: {
      ...{ format: 1, dag_id: 'd' },
      tasks: tasks.map(({ name, after = [] }) => dagTask.parse({ name, operator: 'op', after })),
    },
    tasks: tasks.map(({ after: _after, ...task }) => task),
    ...more,
  }
}

const task = (name: string, more: Partial<RunTask> & { after?: string[] } = {}) => ({
  ...{ name, state: 'success' as const, tries: 1, failures: 0 },
  ...more,
})

test('rows are those of the datasets that no later task took in, and bytes read those of the first ones', () => {
  const run = buildRun([
    task('a', { dataset: landed(100, [500, 20], 3) }),
    task('b', { dataset: landed(50, [70]) }),
    task('joined', { after: ['a', 'b'], tries: 3, failures: 2, dataset: landed(40, [1_000, 500], 1) }),
    task('notified', { after: ['joined'] }),
  ])
  expect(measureRun(run)).toMatchObject({
    ...{ rows: 40, bytes: 400, rejects: 4, input_bytes: 590, tries: 6, wait_s: 120, duration_s: 180 },
    tasks: { total: 4, success: 4, failed: 0, skipped: 0 },
  })
})

test('a run that failed counts what it landed before, and one that never began took no time', () => {
  const failed = [task('a', { dataset: landed(7, []) }), task('b', { after: ['a'], state: 'failed' })]
  const waiting = task('c', { after: ['b'], state: 'upstream_failed', tries: 0 })
  expect(measureRun(buildRun([...failed, waiting], { state: 'failed' }))).toMatchObject({
    ...{ state: 'failed', rows: 7, tasks: { total: 3, success: 1, failed: 2, skipped: 0 } },
  })
  const { started_at: _started, ...stopped } = buildRun([task('a', { state: 'skipped', tries: 0 })], {
    state: 'failed',
  })
  expect(measureRun(stopped)).toMatchObject({ start_date: null, wait_s: 300, duration_s: 0, tries: 0, rows: 0 })
})

test('a run that is not over has no metrics, and a clock that was put back gives no negative times', () => {
  const { ended_at: _ended, ...active } = buildRun([task('a')], { state: 'running' })
  expect(measureRun(active)).toBeUndefined()
  expect(measureRun(buildRun([task('a')], { started_at: at(9), created_at: at(50) }))).toMatchObject({
    ...{ wait_s: 0, duration_s: 0 },
  })
})

test.each([
  ['manual__run_1', 'manual'],
  ['schedule__20260302T120000Z', 'scheduled'],
  ['deploy__1', 'deployment'],
  ['constructor__1', 'manual'],
  ['', 'manual'],
])('the run %s is %s', (dag_run_id, run_type) => {
  expect(measureRun(buildRun([task('a')], { dag_run_id }))?.run_type).toBe(run_type)
})

test('a run of another scheduler is measured by what its tasks left: a dataset taken in is known by its digest', () => {
  const made = (of: string, rows_out: number, inputs: [string, number][], rejects = 0) => ({
    ...{ dataset: of, digest: of.repeat(64), rows_out, rejects, bytes: rows_out * 10 },
    inputs: inputs.map(([name, bytes]) => ({ name, bytes, digest: name.repeat(64) })),
  })
  const shown = (task_id: string, state: 'success' | 'failed' | null, lineage?: ReturnType<typeof made>) => {
    return { task_id, state, try_number: 1, start_date: null, end_date: null, ...(lineage && { lineage }) }
  }
  const ended = {
    ...{ dag_id: 'd', dag_run_id: 'schedule__1', state: 'failed' as const, conf: {}, logical_date: null },
    ...{ start_date: '2026-03-02T14:02:00+02:00', end_date: null },
  }
  const tasks = [
    shown('first', 'success', made('1', 100, [['a', 500]], 3)),
    shown('other', 'success', made('2', 50, [['b', 70]])),
    shown(
      ...([
        'joined',
        'success',
        made(
          '3',
          40,
          [
            ['1', 1_000],
            ['2', 500],
          ],
          1,
        ),
      ] as const),
    ),
    shown('by_hand', 'failed'),
    shown('after', null),
  ]
  expect(measureWatched(ended, tasks, { queued_at: at(0), now: at(5) })).toEqual({
    ...{ dag_id: 'd', dag_run_id: 'schedule__1', run_type: 'scheduled', state: 'failed', queued_at: at(0) },
    ...{ start_date: at(2), end_date: at(5), wait_s: 120, duration_s: 180, tries: 5 },
    ...{ tasks: { total: 5, success: 3, failed: 1, skipped: 1 } },
    ...{ rows: 40, bytes: 400, rejects: 4, input_bytes: 570 },
  })
  expect(measureWatched({ ...ended, state: 'running' }, tasks, { queued_at: at(0), now: at(5) })).toBeUndefined()
})
