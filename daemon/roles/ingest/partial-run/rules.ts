// Rules of the part of a run that the site performs for another scheduler: what a request of a worker changes, and how a try ends.
import { completeStep, isJobOver, wakeJob } from '../../../kernel/job/rules.ts'
import type { AssembledDag, DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import type { RunTask, StoredDagRun } from '../runner/model.ts'
import { isTaskOver } from '../runner/rules.ts'
import type { SiteTaskRequest } from './model.ts'

export type SiteTaskFailure = { readonly reason: string; readonly is_final: boolean }

type DigestedDag = { readonly dag: AssembledDag; readonly dag_digest: string }

export type RequestTerms = {
  /** The folder of the datasets of the run, by the name that the workers give it. */
  readonly folder: string
  /** When the run began there: one that was cleared begins again. */
  readonly started: number
  readonly live: DigestedDag | undefined
  isSiteTask(task: DagTask): boolean
  /** Whether a later run may have read on from where the task began. */
  isPassed(task: DagTask): boolean
  readonly now_ms: number
  readonly at: string
}

/**
 * Takes a request: its task is due, unless this try is known, or the task has succeeded. What the worker names is held against the DAG
 * that the site has. Returns the failure of a request that cannot be met.
 */
export function takeRequest(
  run: StoredDagRun,
  request: SiteTaskRequest,
  terms: RequestTerms,
): StoredDagRun | SiteTaskFailure {
  if (isJobOver(run) || findTry(run, request, terms.folder)) return run
  const newest = run.requests?.find(({ task }) => task === request.task)
  const { worker_start = terms.started } = run
  if (terms.started < worker_start) return fail('the run was cleared, and has begun again')
  const isCleared = terms.started > worker_start
  if (newest && !isCleared && newest.attempt > request.attempt) return fail('a later try of the task goes on')
  const code = findCode(run, request, terms.live)
  if (!code)
    return fail('the site has another version of the DAG than the worker: Airflow reads the new file soon', false)
  const task = code.dag.tasks.find(({ name }) => name === request.task)
  if (!task || !terms.isSiteTask(task)) return fail(`the task ${request.task} is not one that the site performs`)
  const foreign = request.inputs.find(({ dataset }) => !isMadeBefore(dataset, task, terms.folder))
  if (foreign) return fail(`the dataset ${foreign.dataset} is not one of a task before ${task.name} in this run`)
  const known = isCleared ? [] : run.tasks
  const state = known.find(({ name }) => name === task.name)?.state
  if (state === 'failed' && terms.isPassed(task))
    return fail('the task has failed before, and another run may have read on since: trigger another run')
  const due = moveTo(run, code, known, terms)
  const tasks = due.tasks.map((each) => takeInput(each, task, request))
  const others = isCleared ? [] : (run.requests ?? []).filter((each) => each.task !== task.name)
  const requests = [...others, { task: task.name, attempt: request.attempt }]
  return wakeJob({ ...due, tasks, requests, updated_at: terms.at }, terms.now_ms)
}

function fail(reason: string, is_final = true): SiteTaskFailure {
  return { reason, is_final }
}

/** This try, where it was taken before. */
export function findTry(
  { worker_folder, requests = [] }: StoredDagRun,
  { task, attempt }: Pick<SiteTaskRequest, 'task' | 'attempt'>,
  folder: string,
) {
  return worker_folder === folder ? requests.find((each) => each.task === task && each.attempt === attempt) : undefined
}

/** Workers run what Airflow has read: the DAG of the trigger, or one that was deployed since. */
function findCode(
  run: StoredDagRun,
  { dag_digest }: SiteTaskRequest,
  live: DigestedDag | undefined,
): DigestedDag | undefined {
  if (run.dag_digest === dag_digest) return run
  return live?.dag_digest === dag_digest ? live : undefined
}

function isMadeBefore(dataset: string, { after }: DagTask, folder: string): boolean {
  return after.some((name) => dataset === `${folder}/${name}`)
}

/** A cleared run begins again, in another folder. */
function moveTo(
  run: StoredDagRun,
  { dag, dag_digest }: DigestedDag,
  known: readonly RunTask[],
  { folder, started }: RequestTerms,
): StoredDagRun {
  const tasks = dag.tasks.map(({ name }) => known.find((task) => task.name === name) ?? { name, tries: 0, failures: 0 })
  return { ...run, dag, dag_digest, tasks, worker_folder: folder, worker_start: started }
}

function takeInput(task: RunTask, { name, after }: DagTask, { inputs }: SiteTaskRequest): RunTask {
  const dataset = inputs.find((input) => input.dataset.endsWith(`/${task.name}`))
  if (after.includes(task.name) && dataset) return { ...task, state: 'success', dataset: { ...dataset, inputs: [] } }
  if (task.name !== name || task.state === 'success' || task.state === 'running') return task
  const { state: _state, ...waiting } = task
  return waiting
}

/** The task that the next step performs: of those that workers wait for. One that may wait for another role holds up no other. */
export function findRequestedTask(
  { dag, tasks, requests = [] }: StoredDagRun,
  mayWait: (task: DagTask) => boolean,
): DagTask | undefined {
  const stateOf = new Map(tasks.map(({ name, state }) => [name, state]))
  const isWanted = (name: string) => requests.some((each) => each.task === name && !each.failure)
  const due = dag.tasks.filter(({ name }) => isWanted(name) && !isTaskOver(stateOf.get(name)))
  return due.find((task) => !mayWait(task)) ?? due[0]
}

/** The scheduler of the run decides whether another try follows; until the last one the task may still go on. */
export function failRequest(
  run: StoredDagRun,
  { name, retries }: DagTask,
  failure: SiteTaskFailure,
  at: string,
): StoredDagRun {
  const attempt = run.requests?.find(({ task }) => task === name)?.attempt ?? 1
  const state = failure.is_final || attempt > retries ? 'failed' : 'up_for_retry'
  const tasks = run.tasks.map((task): RunTask => {
    return task.name === name ? { ...task, state, failures: task.failures + 1, ended_at: at } : task
  })
  const requests = (run.requests ?? []).map((each) => (each.task === name ? { ...each, failure } : each))
  return completeStep({ ...run, tasks, requests, updated_at: at })
}

/** The end of a try: undefined while it goes on. */
export function findEnd(
  run: StoredDagRun,
  request: SiteTaskRequest,
  folder: string,
): RunTask | SiteTaskFailure | undefined {
  const found = findTry(run, request, folder)
  if (found?.failure) return found.failure
  const task = run.tasks.find(({ name }) => name === request.task)
  if (found && task?.state === 'success') return task
  if (!isJobOver(run)) return undefined
  return fail(run.reason ?? 'the run is over')
}
