// Rules of a run: which task is next, and how the end of a task moves the run.
import type { JobFailure } from '../../../kernel/job/job-fields.ts'
import { completeStep, endJob, isJobIdle, releaseJob, waitForEvent } from '../../../kernel/job/rules.ts'
import type { DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import { orderTasks } from '../../../shared/assembled-dag/task-order.ts'
import type { RunTask, StoredDagRun } from './model.ts'

/** Finds the task that the next step performs; undefined once none is left. One that may wait for another role holds up no other. */
export function findNextTask(
  { dag, tasks }: Pick<StoredDagRun, 'dag' | 'tasks'>,
  mayWait: (task: DagTask) => boolean,
): DagTask | undefined {
  const stateOf = new Map(tasks.map(({ name, state }) => [name, state]))
  const ready = dag.tasks.filter(
    ({ name, after }) => !isTaskOver(stateOf.get(name)) && after.every((other) => stateOf.get(other) === 'success'),
  )
  return ready.find((task) => !mayWait(task)) ?? ready[0]
}

export function isTaskOver(state: RunTask['state']): boolean {
  return state === 'success' || state === 'failed' || state === 'upstream_failed' || state === 'skipped'
}

/** Whether a try of it goes on: one of another role outlives a step of the job, and a process. */
export function isTaskBegun({ tasks }: Pick<StoredDagRun, 'tasks'>, { name }: DagTask): boolean {
  return tasks.some((task) => task.name === name && task.state === 'running')
}

export function beginTask(run: StoredDagRun, name: string, at: string): StoredDagRun {
  const begun = changeTask(run, name, ({ tries, ...task }) => {
    return { ...task, state: 'running', tries: tries + 1, started_at: at, ended_at: undefined }
  })
  return { ...begun, state: 'running', started_at: run.started_at ?? at, updated_at: at }
}

export function completeTask(
  run: StoredDagRun,
  name: string,
  made: Pick<RunTask, 'dataset' | 'written' | 'requested' | 'catalog_version'>,
  at: string,
): StoredDagRun {
  const done = changeTask(run, name, (task) => {
    return { ...task, state: 'success', ended_at: at, ...made }
  })
  return { ...done, updated_at: at }
}

/** Leaves a failed try for another, or fails the task with all that wait for it. */
export function failTry(run: StoredDagRun, { name, retries }: DagTask, at: string): StoredDagRun {
  const failures = 1 + (run.tasks.find((task) => task.name === name)?.failures ?? 0)
  const state = failures <= retries ? 'up_for_retry' : 'failed'
  const failed = changeTask(run, name, (task) => ({ ...task, state, failures, ended_at: at }))
  return { ...failed, tasks: state === 'failed' ? failWaiting(failed) : failed.tasks, updated_at: at }
}

/** Keeps what another role makes of a task. */
export function noteRequested(run: StoredDagRun, name: string, requested: RunTask['requested']): StoredDagRun {
  return requested ? changeTask(run, name, (task) => ({ ...task, requested })) : run
}

/** Waits for the end of what another role makes of a task; `next_ms`: the time of the next look. */
export function awaitRequested(
  run: StoredDagRun,
  name: string,
  requested: RunTask['requested'],
  next_ms: number,
): StoredDagRun {
  return releaseJob(completeStep(noteRequested(run, name, requested)), next_ms)
}

const [shortest_look_ms, longest_look_ms] = [1_000, 30_000]

/** The wait before the next look: a tenth of the time that it takes so far. */
export function lookDelay_ms(tried_ms: number): number {
  return Math.min(longest_look_ms, Math.max(shortest_look_ms, tried_ms / 10))
}

const day_ms = 86_400_000

/** The wait before the try after `failures` failed ones, in milliseconds. */
export function retryDelay_ms({ retry_delay_s }: Pick<DagTask, 'retry_delay_s'>, failures: number): number {
  return Math.min(day_ms, retry_delay_s * 1_000 * 2 ** (failures - 1))
}

const cursor_wait_ms = 30_000

/** Waits for the end of the run that has the cursor, which wakes it; looks again by itself, since that process may die. */
export function waitForCursor(run: StoredDagRun, now_ms: number): StoredDagRun {
  const waiting = waitForEvent(run, now_ms)
  return isJobIdle(waiting) ? { ...waiting, job_due_ts: now_ms + cursor_wait_ms } : waiting
}

/** Fails the tasks that wait for a failed one. */
function failWaiting({ dag, tasks }: StoredDagRun): RunTask[] {
  const failed = new Set(tasks.filter(({ state }) => state === 'failed').map(({ name }) => name))
  for (const { name, after } of orderTasks(dag.tasks)) if (after.some((other) => failed.has(other))) failed.add(name)
  return tasks.map((task) =>
    failed.has(task.name) && task.state !== 'failed' ? { ...task, state: 'upstream_failed' } : task,
  )
}

/** Ends a run of which no task is left. */
export function endRun(run: StoredDagRun, at: string): StoredDagRun {
  const isWhole = run.tasks.every(({ state }) => state === 'success')
  if (isWhole) return endJob(run, 'completed', { state: 'success', ...endAt(at) })
  return endJob(run, 'failed', { state: 'failed', ...endAt(at), unsignalled: 1 })
}

/** Ends a run early, for a reason that no task has. */
export function failRun(run: StoredDagRun, failure: JobFailure, at: string): StoredDagRun {
  const signal = run.part_of ? {} : { unsignalled: 1 as const }
  return endJob(run, 'failed', { ...endEarly(run, at), ...signal, reason: failure.reason }, failure)
}

/** Ends a run at the request of a person, who needs no signal of it. */
export function stopRun(run: StoredDagRun, at: string): StoredDagRun {
  return endJob(run, 'cancelled', { ...endEarly(run, at), reason: 'it was stopped' })
}

/** A task that runs has failed, and one that waits is skipped. */
function endEarly({ tasks, part_of }: StoredDagRun, at: string) {
  const ended = tasks.map((task): RunTask => {
    if (isTaskOver(task.state)) return task
    return task.state === 'running' ? { ...task, state: 'failed', ended_at: at } : { ...task, state: 'skipped' }
  })
  // Of a run of another scheduler the whole is measured.
  const times = part_of ? { ended_at: at, updated_at: at } : endAt(at)
  return { state: 'failed' as const, ...times, tasks: ended }
}

/** Its metrics are recorded, and its lineage is reported, after it. */
function endAt(at: string) {
  return { ended_at: at, updated_at: at, unmeasured: 1 as const, unreported: 1 as const }
}

function changeTask(run: StoredDagRun, name: string, change: (task: RunTask) => RunTask): StoredDagRun {
  return { ...run, tasks: run.tasks.map((task) => (task.name === name ? change(task) : task)) }
}
