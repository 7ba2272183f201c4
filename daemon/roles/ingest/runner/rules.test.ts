// The rules of a run: the next task, tries, and what a failure or a stop leaves.
import { expect, test } from 'vitest'
import { newJob } from '../../../kernel/job/rules.ts'
import { type DagTask, dagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import type { StoredDagRun } from './model.ts'
import { beginTask, completeTask, endRun, failRun, failTry, findNextTask, retryDelay_ms, stopRun } from './rules.ts'

const at = '2026-03-02T12:00:00.000Z'
const taskOf = (name: string, after: string[] = [], retries = 1): DagTask =>
  dagTask.parse({ name, operator: 'ingest_file', after, retries })

function runOf(...tasks: DagTask[]): StoredDagRun {
  return {
    ...{ tenant_id: 'alpha', label: { policy: 'SITE', level: 'SECRET', categories: [], originator: 'alpha' } },
    ...{
      created_by: 'ann',
      created_at: at,
      updated_at: at,
      pipeline: 'pl_1',
      dag_id: 'people',
      dag_run_id: 'manual__1',
    },
    ...{ dag: { format: 1, dag_id: 'people', tasks }, dag_digest: '0'.repeat(64), conf: {}, state: 'queued' },
    tasks: tasks.map(({ name }) => ({ name, tries: 0, failures: 0 })),
    ...newJob(undefined, 0),
  }
}

const states = ({ tasks }: StoredDagRun) => tasks.map(({ name, state }) => `${name} ${state}`)
const nextOf = (run: StoredDagRun) => findNextTask(run, ({ operator }) => operator === 'notify')
const succeed = (run: StoredDagRun, name: string) => completeTask(beginTask(run, name, at), name, {}, at)

test('tasks follow those that they wait for, whatever the order of the document', () => {
  let run = runOf(taskOf('c', ['a', 'b']), taskOf('b', ['a']), taskOf('a'))
  for (const name of ['a', 'b', 'c']) {
    expect(nextOf(run)?.name).toBe(name)
    run = succeed(run, name)
  }
  expect(nextOf(run)).toBeUndefined()
  const ended = endRun(run, at)
  expect(ended).toMatchObject({ state: 'success', ended_at: at, job: { state: 'completed' } })
  expect(ended).not.toHaveProperty('unsignalled')
})

test('a task that may wait for another role comes after all others that are ready, also once it has begun', () => {
  const [notice, after] = [{ ...taskOf('notice'), operator: 'notify' }, taskOf('after', ['notice'])]
  let run = runOf(notice, after, taskOf('a'), taskOf('b', ['a']))
  for (const name of ['a', 'b']) {
    expect(nextOf(run)?.name).toBe(name)
    expect(nextOf(beginTask(run, 'notice', at))?.name).toBe(name)
    run = succeed(run, name)
  }
  expect(nextOf(run)?.name).toBe('notice')
  expect(nextOf(succeed(run, 'notice'))?.name).toBe('after')
})

test('a task whose process ended in a try is the next one again', () => {
  const begun = beginTask(runOf(taskOf('a')), 'a', at)
  expect(nextOf(begun)?.name).toBe('a')
  expect(beginTask(begun, 'a', at).tasks).toMatchObject([{ state: 'running', tries: 2 }])
})

test('a failed try is repeated as often as the task says; then all that wait for it fail, and no other', () => {
  const [a, b, c] = [taskOf('a'), taskOf('b', ['a']), taskOf('c')]
  const once = failTry(beginTask(runOf(a, b, c), 'a', at), a, at)
  expect(states(once)).toEqual(['a up_for_retry', 'b undefined', 'c undefined'])
  expect(nextOf(once)?.name).toBe('a')
  const twice = failTry(beginTask(once, 'a', at), a, at)
  expect(states(twice)).toEqual(['a failed', 'b upstream_failed', 'c undefined'])
  expect(nextOf(twice)?.name).toBe('c')
  expect(endRun(succeed(twice, 'c'), at)).toMatchObject({ state: 'failed', unsignalled: 1, job: { state: 'failed' } })
})

test('a stop keeps what is done, and leaves out what has not begun; an ended run stays as it is', () => {
  const run = beginTask(succeed(runOf(taskOf('a'), taskOf('b'), taskOf('c')), 'a'), 'b', at)
  const stopped = stopRun(run, at)
  expect(states(stopped)).toEqual(['a success', 'b failed', 'c skipped'])
  expect(stopped).toMatchObject({ state: 'failed', job: { state: 'cancelled' } })
  expect(stopped).not.toHaveProperty('unsignalled')
  expect(stopRun(stopped, '2026-03-03T12:00:00.000Z')).toBe(stopped)
})

test('a run that may not go on keeps what is done, and has the reason', () => {
  const run = beginTask(succeed(runOf(taskOf('a'), taskOf('b')), 'a'), 'b', at)
  const failed = failRun(run, { code: 'forbidden', reason: 'ann is revoked' }, at)
  expect(states(failed)).toEqual(['a success', 'b failed'])
  expect(failed).toMatchObject({ state: 'failed', reason: 'ann is revoked', unsignalled: 1, job: { state: 'failed' } })
})

test('the wait before a try doubles with each failure, to a day', () => {
  expect([1, 2, 3, 10].map((failures) => retryDelay_ms({ retry_delay_s: 30 }, failures) / 1_000)).toEqual([
    30, 60, 120, 15_360,
  ])
  expect(retryDelay_ms({ retry_delay_s: 3_600 }, 10)).toBe(86_400_000)
})
