// Which requests of workers make a task due, and what each try ends with.
import { expect, test } from 'vitest'
import { newJob } from '../../../kernel/job/rules.ts'
import type { AssembledDag } from '../../../shared/assembled-dag/assembled-dag.ts'
import type { StoredDagRun } from '../runner/model.ts'
import { beginTask, completeTask } from '../runner/rules.ts'
import type { SiteTaskRequest } from './model.ts'
import { failRequest, findEnd, findRequestedTask, type SiteTaskFailure, takeRequest } from './rules.ts'

const at = '2026-03-02T12:00:00.000Z'
const digest = (of: string) => of.repeat(64)
const task = (name: string, after: string[] = []) => {
  return { name, operator: 'notify', params: {}, after, retries: 1, retry_delay_s: 1, time_limit_s: 9 }
}
const dag: AssembledDag = { format: 1, dag_id: 'd', tasks: [task('land'), task('read'), task('send', ['land'])] }
const label = { policy: 'SITE', level: 'SECRET', categories: [], originator: 'a' }
const begun: StoredDagRun = {
  ...{ tenant_id: 'a', label, created_by: 'ann', created_at: at, updated_at: at, pipeline: 'pl_1', dag_id: 'd' },
  ...{ dag_run_id: 'r', dag, dag_digest: digest('a'), conf: {}, state: 'running', part_of: 'airflow' },
  tasks: dag.tasks.map(({ name }) => ({ name, tries: 0, failures: 0 })),
  ...newJob(undefined, undefined),
}
const dataset = (name: string) => {
  return { dataset: name, rows: 1, rejects: 0, bytes: 1, digest: digest('d') }
}
const requestOf = (name: string, attempt = 1, more: Partial<SiteTaskRequest> = {}): SiteTaskRequest => {
  const known = { format: 1 as const, pipeline: 'pl_1', dag_run_id: 'r', run: 'pl_1.r.1', dag_digest: digest('a') }
  return { ...known, task: name, attempt, inputs: [], ...more }
}
const terms = {
  ...{ folder: 'run-1', started: 1, live: undefined, now_ms: 1, at },
  isSiteTask: ({ name }: { name: string }) => name !== 'land',
  isPassed: ({ name }: { name: string }) => name === 'read',
}
type TakeResult = ReturnType<typeof takeRequest>
const reasonOf = (taken: TakeResult) => ('is_final' in taken ? taken : undefined)
const runOf = (taken: TakeResult) => {
  if ('is_final' in taken) throw new Error(taken.reason)
  return taken
}
const nextOf = (run: StoredDagRun) => findRequestedTask(run, () => false)?.name
const failed = (run: StoredDagRun, name: string, failure: SiteTaskFailure) => failRequest(run, task(name), failure, at)

test('a request makes its task due, with the datasets of the tasks before it, and nothing else is', () => {
  expect(nextOf(begun)).toBeUndefined()
  const run = runOf(takeRequest(begun, requestOf('send', 1, { inputs: [dataset('run-1/land')] }), terms))
  expect([nextOf(run), run.worker_folder, run.job.state]).toEqual(['send', 'run-1', 'queued'])
  expect(run.tasks[0]).toMatchObject({ state: 'success', dataset: { dataset: 'run-1/land' } })
  expect(takeRequest(run, requestOf('send'), terms)).toBe(run)
})

test('a task that a worker can perform, a foreign dataset, and an earlier try are refused for good', () => {
  const foreign = requestOf('send', 1, { inputs: [dataset('run-2/land')] })
  const other = requestOf('send', 1, { inputs: [dataset('run-1/read')] })
  const later = runOf(takeRequest(begun, requestOf('send', 2), terms))
  const refused = [
    takeRequest(begun, requestOf('land'), terms),
    takeRequest(begun, foreign, terms),
    takeRequest(begun, other, terms),
    takeRequest(later, requestOf('send'), terms),
  ]
  expect(refused.map((each) => reasonOf(each)?.is_final)).toEqual([true, true, true, true])
})

test('the DAG is the one of the trigger or the live one; another is one that Airflow has not read yet', () => {
  const request = requestOf('more', 1, { dag_digest: digest('b') })
  expect(reasonOf(takeRequest(begun, request, terms))).toMatchObject({ is_final: false })
  const live = { dag: { ...dag, tasks: [...dag.tasks, task('more')] }, dag_digest: digest('b') }
  expect(nextOf(runOf(takeRequest(begun, request, { ...terms, live })))).toBe('more')
})

test('a try that failed is reported, and the next one begins again while the scheduler has tries', () => {
  const first = failed(runOf(takeRequest(begun, requestOf('send'), terms)), 'send', { reason: 'x', is_final: false })
  expect([nextOf(first), findEnd(first, requestOf('send'), 'run-1')]).toEqual([
    undefined,
    { reason: 'x', is_final: false },
  ])
  expect(first.tasks[2]?.state).toBe('up_for_retry')
  const second = runOf(takeRequest(first, requestOf('send', 2), terms))
  expect([nextOf(second), findEnd(second, requestOf('send', 2), 'run-1')]).toEqual(['send', undefined])
  const last = failed(second, 'send', { reason: 'y', is_final: false })
  expect(last.tasks[2]?.state).toBe('failed')
  expect(nextOf(runOf(takeRequest(last, requestOf('send', 3), terms)))).toBe('send')
})

test('what may have been passed by another run is not begun again', () => {
  const run = failed(runOf(takeRequest(begun, requestOf('read'), terms)), 'read', { reason: 'x', is_final: true })
  expect(reasonOf(takeRequest(run, requestOf('read', 2), terms))).toMatchObject({ is_final: true })
})

test('a try that goes on, or has succeeded, ends for a later request too', () => {
  const going = beginTask(runOf(takeRequest(begun, requestOf('send'), terms)), 'send', at)
  const again = runOf(takeRequest(going, requestOf('send', 2), terms))
  expect(again.tasks[2]).toMatchObject({ state: 'running', tries: 1 })
  const done = completeTask(again, 'send', { dataset: { ...dataset('run-1/send'), inputs: [] } }, at)
  expect(findEnd(done, requestOf('send', 2), 'run-1')).toMatchObject({ state: 'success' })
  expect(nextOf(runOf(takeRequest(done, requestOf('send', 3), terms)))).toBeUndefined()
})

test('a run that was cleared begins again in its new folder', () => {
  const done = completeTask(runOf(takeRequest(begun, requestOf('send'), terms)), 'send', {}, at)
  const cleared = { ...terms, folder: 'run-2', started: 2 }
  const run = runOf(takeRequest(done, requestOf('send'), cleared))
  expect([nextOf(run), run.requests?.length]).toEqual(['send', 1])
  // A worker may still wait for a task of the run before.
  expect(reasonOf(takeRequest(run, requestOf('send', 2), terms))).toMatchObject({ is_final: true })
})
