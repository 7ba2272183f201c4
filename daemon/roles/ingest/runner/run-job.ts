// A run of the embedded scheduler as a job: each step is one try of one task, in the name of the principal of the run.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { type JobCall, jobKind } from '../../../kernel/job/job.ts'
import { completeStep, releaseJob, waitForEvent } from '../../../kernel/job/rules.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import { openTaskConnection } from '../connection/task-connection.ts'
import { findHttpSource } from '../http-source/find-http-source.ts'
import { findHttpTarget } from '../http-target/find-http-target.ts'
import { collectionOfObject } from '../managed-dag/collections.ts'
import { runTotal } from '../metrics.ts'
import { catalogVersion } from '../operator/catalog-version.ts'
import { carried_conf_name, carriedFile } from '../operator/ingest-landing-zone.ts'
import { failRequest } from '../partial-run/rules.ts'
import { faultPointPart, type TaskOutcome, type TaskWork, taskPerformerPart } from '../parts.ts'
import { holdCursor, releaseCursor } from '../read-cursor/hold-cursor.ts'
import { findRequest, performRequest, triedFor_ms } from '../requested-task/requested-task.ts'
import type { RequestedTaskOutcome, TaskRequest } from '../requested-task/task-request.ts'
import { settings } from '../settings.ts'
import { announceEnd, site_tasks_worker } from './announce-end.ts'
import { dagRuns, runFolderName, type StoredDagRun } from './model.ts'
import { nextTaskOf } from './next-task.ts'
import {
  awaitRequested,
  beginTask,
  completeTask,
  endRun,
  failRun,
  failTry,
  isTaskBegun,
  lookDelay_ms,
  noteRequested,
  retryDelay_ms,
  waitForCursor,
} from './rules.ts'
import { writeTaskLog } from './task-log.ts'

const minute_ms = 60_000
/** Time of a step beside that of the try: to write its results. */
const margin_ms = minute_ms

export const runJob = jobKind<StoredDagRun>({
  name: 'dag-run',
  collection: dagRuns,
  allow: 'ingest:run',
  allowOf: ({ begun_by }) => begun_by ?? 'ingest:run',
  limits(call) {
    const { workers, runs_at_once, runs_at_once_per_tenant } = call.settings(settings)
    return { at_once: workers * runs_at_once, at_once_per_tenant: workers * runs_at_once_per_tenant }
  },
  stepLimit_ms: (_call, run) => (nextTaskOf(run)?.time_limit_s ?? 0) * 1_000 + margin_ms,
  waits: { first_ms: 1_000, longest_ms: minute_ms },
  step: performNextTask,
  fail: (run, { failure, at }) => failRun(run, failure, at),
  onFailed: announceFailure,
})

function announceFailure(call: Call, { value }: Pick<Doc<StoredDagRun>, 'value'>): void {
  if (value.part_of) call.wake(site_tasks_worker)
  else announceEnd(call, 'failed')
}

async function performNextTask(call: JobCall, doc: Doc<StoredDagRun>): Promise<undefined> {
  const { pipeline: uid } = doc.value
  const manager = await call.service.store(collectionOfObject(uid)).find(uid)
  if (!manager) {
    const failure = { code: 'not_found', reason: 'the object that manages its DAG was deleted' }
    await change(call, doc.id, (run) => failRun(run, failure, call.nowIso()))
    announceFailure(call, doc)
    return undefined
  }
  // The scheduler of a whole run begins none of its tasks meanwhile.
  if (manager.value.is_paused && !doc.value.part_of) {
    await change(call, doc.id, (run) => waitForEvent(run, call.now()))
    return undefined
  }
  const task = nextTaskOf(doc.value)
  if (!task && doc.value.part_of) {
    await change(call, doc.id, (run) => waitForEvent(run, call.now()))
    return undefined
  }
  if (!task) {
    const ended = await change(call, doc.id, (run) => endRun(run, call.nowIso()))
    call.part(faultPointPart)('ingest-run-ended')
    announceEnd(call, ended.state)
    return undefined
  }
  return await performTask(call, doc, task)
}

async function performTask(call: JobCall, doc: Doc<StoredDagRun>, task: DagTask): Promise<undefined> {
  const request = findRequest(task)
  if (request) return await requestTask(call, doc, task, request)
  const connection = await openTaskConnection(call, task, doc.value.label)
  const cursor = isRefusal(connection) ? undefined : await holdCursor(call, doc, task, connection)
  if (cursor === 'busy') {
    await change(call, doc.id, (run) => waitForCursor(run, call.now()))
    return undefined
  }
  const begun = await beginTry(call, doc, task)
  const outcome = isRefusal(connection)
    ? failFor(connection)
    : await performTry(call, { ...doc, value: begun }, task, {
        ...(connection && { connection }),
        ...(cursor && { cursor: cursor.work }),
      })
  call.part(faultPointPart)('ingest-task-performed')
  await releaseCursor(call, doc.value.pipeline, cursor, outcome)
  return await endTry(call, { ...doc, value: begun }, task, outcome)
}

/** A try of a task of another role outlives a step, and a process. */
async function requestTask(
  call: JobCall,
  doc: Doc<StoredDagRun>,
  task: DagTask,
  request: TaskRequest,
): Promise<undefined> {
  const begun = isTaskBegun(doc.value, task) ? doc.value : await beginTry(call, doc, task)
  const outcome = await performRequest(call, request, { id: doc.id, run: begun, task })
  if ('waits' in outcome) {
    const next_look = call.now() + lookDelay_ms(triedFor_ms(call, begun, task.name))
    await change(call, doc.id, (run) => awaitRequested(run, task.name, outcome.requested, next_look))
    return undefined
  }
  call.part(faultPointPart)('ingest-task-performed')
  return await endTry(call, { ...doc, value: begun }, task, outcome)
}

async function beginTry(call: JobCall, { id, value }: Doc<StoredDagRun>, { name }: DagTask): Promise<StoredDagRun> {
  if (value.state === 'queued') call.count(runTotal, { state: 'running' })
  const begun = await change(call, id, (run) => beginTask(run, name, call.nowIso()))
  call.part(faultPointPart)('ingest-task-begun')
  return begun
}

async function endTry(
  call: JobCall,
  { id, value }: Doc<StoredDagRun>,
  task: DagTask,
  outcome: TaskOutcome | RequestedTaskOutcome,
): Promise<undefined> {
  const pass = call.part(faultPointPart)
  await writeTaskLog(call, id, value, task.name, outcome.log)
  pass('ingest-task-logged')
  await change(call, id, (run) => {
    // Its scheduler has begun it again meanwhile, in another folder: there the task is due.
    return run.worker_folder === value.worker_folder ? moveRun(run, task, outcome, call) : completeStep(run)
  })
  pass('ingest-task-ended')
  if (value.part_of) call.wake(site_tasks_worker)
  return undefined
}

async function performTry(
  call: JobCall,
  run: Doc<StoredDagRun>,
  task: DagTask,
  opened: Pick<TaskWork, 'connection' | 'cursor'>,
): Promise<TaskOutcome> {
  const { tenant_id, pipeline, tasks, label, conf } = run.value
  const datasetOf = new Map(tasks.map(({ name, dataset }) => [name, dataset]))
  const inputs = task.after.flatMap((name) => datasetOf.get(name) ?? [])
  const http_source = findHttpSource(call, task, { tenant_id, label })
  if (isRefusal(http_source)) return failFor(http_source)
  const http_target = findHttpTarget(call, task, { tenant_id, label })
  if (isRefusal(http_target)) return failFor(http_target)
  if (http_target) await recordRequest(call, run, task, http_target.name)
  const carried = carriedFile.safeParse(conf[carried_conf_name]).data
  const work = {
    ...{ tenant_id, pipeline, run: runFolderName(run), task, inputs, ...opened },
    ...(http_source && { http_source }),
    ...(http_target && { http_target }),
    ...(carried && { carried }),
  }
  return await call.part(taskPerformerPart).perform(work, call.signal)
}

/** Before it is sent: what became of it is in the run. */
async function recordRequest(call: JobCall, run: Doc<StoredDagRun>, task: DagTask, target: string): Promise<void> {
  const detail = { target, operator: task.operator, task: task.name }
  await call.record([call.audited('ingest.http-target.request', run.id, detail, run.value.label)])
}

function failFor({ message }: Refusal): TaskOutcome {
  return { log: `${message}\n`, failure: { reason: message, isFinal: true } }
}

/** A failed try is followed by another after a while; the rest of the run waits for it. */
function moveRun(
  run: StoredDagRun,
  task: DagTask,
  outcome: TaskOutcome | RequestedTaskOutcome,
  call: JobCall,
): StoredDagRun {
  const at = call.nowIso()
  if (!('failure' in outcome)) return completeStep(completeTask(run, task.name, madeBy(outcome), at))
  const noted = 'requested' in outcome ? noteRequested(run, task.name, outcome.requested) : run
  if (run.part_of) {
    const { reason, isFinal: is_final } = outcome.failure
    return failRequest(noted, task, { reason, is_final }, at)
  }
  const failed = failTry(noted, outcome.failure.isFinal ? { ...task, retries: 0 } : task, at)
  const { state, failures = 1 } = failed.tasks.find(({ name }) => name === task.name) ?? {}
  if (state !== 'up_for_retry') return completeStep(failed)
  return releaseJob(completeStep(failed), call.now() + retryDelay_ms(task, failures))
}

function madeBy(outcome: Exclude<TaskOutcome | RequestedTaskOutcome, { readonly failure: unknown }>) {
  // A cursor is in the description of its dataset.
  const { log: _log, cursor: _cursor, ...made } = { cursor: undefined, ...outcome }
  return { ...made, catalog_version: catalogVersion() }
}

async function change(call: JobCall, id: string, rule: (run: StoredDagRun) => StoredDagRun): Promise<StoredDagRun> {
  const { doc } = await call.store(dagRuns).update(id, ({ value }) => ({ next: rule(value), answer: undefined }))
  return doc.value
}
