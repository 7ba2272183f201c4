// The watch of a run as a job: each step looks at the run once, in the name of the principal that triggered it.
import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { type JobCall, jobKind } from '../../../kernel/job/job.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { collectionOfObject } from '../managed-dag/collections.ts'
import { runTotal } from '../metrics.ts'
import { runWatches, type StoredRunWatch } from './model.ts'
import { endWatch, failWatch, first_look_ms, isLongMissing, lookAgain, missForNow, missRun } from './rules.ts'
import { settleRun } from './settle-run.ts'

const minute_ms = 60_000

export const watchJob = jobKind<StoredRunWatch>({
  name: 'run-watch',
  collection: runWatches,
  allow: 'ingest:read',
  allowOf: ({ begun_by }) => begun_by ?? 'ingest:read',
  limits: () => ({ at_once: 8, at_once_per_tenant: 4 }),
  stepLimit_ms: () => 4 * minute_ms,
  waits: { first_ms: first_look_ms, longest_ms: 5 * minute_ms },
  step: lookAtRun,
  fail: (watch, { failure, at, now_ms }) => failWatch(watch, failure, { at, now_ms }),
  onFailed: (call, { id, value: { over, job } }) => {
    if (over) call.log.warn('ingest.run.unwatched', { trace_id: call.trace.trace_id, run: id, ...job.failure })
  },
})

async function lookAtRun(call: JobCall, doc: Doc<StoredRunWatch>): Promise<Refusal | undefined> {
  const { pipeline, dag_id, dag_run_id } = doc.value
  const change = async (rule: (watch: StoredRunWatch) => StoredRunWatch) =>
    await call.store(runWatches).update(doc.id, ({ value }) => ({ next: rule(value), answer: undefined }))
  const object = await call.service.store(collectionOfObject(pipeline)).find(pipeline)
  if (!object) {
    await change((watch) => endWatch(watch, 'cancelled', call.nowIso()))
    return undefined
  }
  if (!(await call.store(collectionOfObject(pipeline)).find(pipeline)))
    return refuse('forbidden', `${call.caller.subject} may no longer see ${pipeline}, whose run this is`)
  const scheduler = call.part(workflowSchedulerPart).actFor(call)
  const ref = { dag_id, pipeline }
  const time = { now_ms: call.now(), at: call.nowIso() }
  const run = await scheduler.findRun(ref, dag_run_id).catch((error: unknown) => {
    // Airflow refuses every token while it cannot read the keys of the site.
    const isPassing = isRefusal(error) && error.code === 'forbidden' && !isLongMissing(doc.value, time)
    if (!isPassing) throw error
    return 'denied' as const
  })
  if (run === 'denied') {
    await change((watch) => missForNow(watch, time))
    return undefined
  }
  if (!run) {
    const { doc: missed } = await change((watch) => missRun(watch, time))
    if (missed.value.over) call.log.info('ingest.run.missing', { trace_id: call.trace.trace_id, run: doc.id })
    return undefined
  }
  if (run.state === 'queued' || run.state === 'running') {
    await change((watch) => lookAgain(watch, run.state, time))
    if (run.state === 'running' && doc.value.seen !== 'running') call.count(runTotal, { state: 'running' })
    return undefined
  }
  const tasks = await scheduler.listTasks(ref, dag_run_id)
  if (isRefusal(tasks)) return tasks
  await settleRun(call.service, doc, { object, run, tasks })
  return undefined
}
