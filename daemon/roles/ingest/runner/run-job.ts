// A run of the embedded scheduler as a job: each step is one try of one task, in the name of the principal of the run.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { type JobCall, jobKind } from '../../../kernel/job/job.ts'
import { completeStep, releaseJob, waitForEvent } from '../../../kernel/job/rules.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import { openTaskConnection } from '../connection/task-connection.ts'
import { findHttpSource } from '../http-source/find-http-source.ts'
import { collectionOfObject } from '../managed-dag/collections.ts'
import { runTotal } from '../metrics.ts'
import { catalogVersion } from '../operator/catalog-version.ts'
import { carried_conf_name, carriedFile } from '../operator/ingest-landing-zone.ts'
import { faultPointPart, type TaskOutcome, taskPerformerPart } from '../parts.ts'
import { findRequest, performRequest } from '../requested-task/requested-task.ts'
import type { RequestOutcome } from '../requested-task/task-request.ts'
import { settings } from '../settings.ts'
import { announceEnd } from './announce-end.ts'
import { dagRuns, type StoredDagRun } from './model.ts'
import { beginTask, completeTask, endRun, failRun, failTry, findNextTask, isTaskBegun, retryDelay_ms } from './rules.ts'
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
    const { runs_at_once, runs_at_once_per_tenant } = call.settings(settings)
    return { at_once: runs_at_once, at_once_per_tenant: runs_at_once_per_tenant }
  },
  stepLimit_ms: (_call, run) => (findNextTask(run)?.time_limit_s ?? 0) * 1_000 + margin_ms,
  waits: { first_ms: 1_000, longest_ms: minute_ms },
  step: performNextTask,
  fail: (run, { failure, at }) => failRun(run, failure, at),
  onFailed: (call) => announceEnd(call, 'failed'),
})

async function performNextTask(call: JobCall, doc: Doc<StoredDagRun>): Promise<undefined> {
  const { pipeline: uid } = doc.value
  const manager = await call.service.store(collectionOfObject(uid)).find(uid)
  if (!manager) {
    const failure = { code: 'not_found', reason: 'the object that manages its DAG was deleted' }
    await change(call, doc.id, (run) => failRun(run, failure, call.nowIso()))
    announceEnd(call, 'failed')
    return undefined
  }
  if (manager.value.is_paused) {
    await change(call, doc.id, (run) => waitForEvent(run, call.now()))
    return undefined
  }
  const task = findNextTask(doc.value)
  if (!task) {
    const ended = await change(call, doc.id, (run) => endRun(run, call.nowIso()))
    call.part(faultPointPart)('ingest-run-ended')
    announceEnd(call, ended.state)
    return undefined
  }
  if (doc.value.state === 'queued') call.count(runTotal, { state: 'running' })
  const request = findRequest(task)
  const begun = request && isTaskBegun(doc.value, task) ? doc.value : await beginTry(call, doc.id, task)
  const pass = call.part(faultPointPart)
  pass('ingest-task-begun')
  const outcome = request
    ? await performRequest(call, request, { id: doc.id, run: begun, task })
    : await performTry(call, doc.id, begun, task)
  pass('ingest-task-performed')
  await writeTaskLog(call, doc.id, begun, task.name, outcome.log)
  pass('ingest-task-logged')
  await change(call, doc.id, (run) => moveRun(run, task, outcome, call))
  pass('ingest-task-ended')
  return undefined
}

async function beginTry(call: JobCall, id: string, { name }: DagTask): Promise<StoredDagRun> {
  return await change(call, id, (run) => beginTask(run, name, call.nowIso()))
}

async function performTry(
  call: JobCall,
  id: string,
  { tenant_id, pipeline, tasks, created_at, label, conf }: StoredDagRun,
  task: DagTask,
): Promise<TaskOutcome> {
  const datasetOf = new Map(tasks.map(({ name, dataset }) => [name, dataset]))
  const inputs = task.after.flatMap((name) => datasetOf.get(name) ?? [])
  // A run that was deleted may have had the id.
  const run = `${id}.${Date.parse(created_at)}`
  const connection = await openTaskConnection(call, task, label)
  if (isRefusal(connection)) return failFor(connection)
  const http_source = findHttpSource(call, task, { tenant_id, label })
  if (isRefusal(http_source)) return failFor(http_source)
  const carried = carriedFile.safeParse(conf[carried_conf_name]).data
  const work = {
    ...{ tenant_id, pipeline, run, task, inputs },
    ...(connection && { connection }),
    ...(http_source && { http_source }),
    ...(carried && { carried }),
  }
  return await call.part(taskPerformerPart).perform(work, call.signal)
}

function failFor({ message }: Refusal): TaskOutcome {
  return { log: `${message}\n`, failure: { reason: message, isFinal: true } }
}

/** A failed try is followed by another after a while; the rest of the run waits for it. */
function moveRun(run: StoredDagRun, task: DagTask, outcome: TaskOutcome | RequestOutcome, call: JobCall): StoredDagRun {
  const at = call.nowIso()
  if (!('failure' in outcome)) return completeStep(completeTask(run, task.name, madeBy(outcome), at))
  const failed = failTry(run, outcome.failure.isFinal ? { ...task, retries: 0 } : task, at)
  const { state, failures = 1 } = failed.tasks.find(({ name }) => name === task.name) ?? {}
  if (state !== 'up_for_retry') return completeStep(failed)
  return releaseJob(completeStep(failed), call.now() + retryDelay_ms(task, failures))
}

function madeBy(outcome: Exclude<TaskOutcome | RequestOutcome, { readonly failure: unknown }>) {
  const { log: _log, ...made } = outcome
  return { ...made, catalog_version: catalogVersion() }
}

async function change(call: JobCall, id: string, rule: (run: StoredDagRun) => StoredDagRun): Promise<StoredDagRun> {
  const { doc } = await call.store(dagRuns).update(id, ({ value }) => ({ next: rule(value), answer: undefined }))
  return doc.value
}
