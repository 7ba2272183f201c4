// Records the metrics of a run that is over: once, however often it is done.
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { WorkflowRun, WorkflowTask } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import type { ManagedDag } from '../managed-dag/model.ts'
import type { StoredRunWatch } from '../run-watch/model.ts'
import type { StoredDagRun } from '../runner/model.ts'
import { type RunMetric, runMetrics, type StoredRunMetric } from './model.ts'
import { measureRun, measureWatched } from './rules.ts'

/**
 * Creates the record of a run of an object; returns its id, which is of the run and of the time of its trigger: a run that was
 * deleted may have had the same name. Undefined for a run that is not over.
 */
export async function recordMetrics(
  call: Call,
  run: Doc<StoredDagRun>,
  object: Doc<ManagedDag>,
): Promise<string | undefined> {
  const metric = measureRun(run.value)
  return metric && (await createRecord(call, run, object, metric))
}

/** The same for a run that is over at another scheduler. */
export async function recordWatched(
  call: Call,
  watch: Doc<StoredRunWatch>,
  { object, run, tasks }: { object: Doc<ManagedDag>; run: WorkflowRun; tasks: readonly WorkflowTask[] },
): Promise<string> {
  const metric = measureWatched(run, tasks, { queued_at: watch.value.triggered_at, now: call.nowIso() })
  if (!metric) throw new Error(`the run ${watch.id} is ${run.state}, and not over`)
  return await createRecord(call, watch, object, metric)
}

async function createRecord(
  call: Call,
  { id, value: of }: Doc<Pick<StoredDagRun, 'tenant_id' | 'created_by' | 'created_at'>>,
  { id: object, value: { label } }: Doc<ManagedDag>,
  metric: RunMetric,
): Promise<string> {
  const at = call.nowIso()
  const value: StoredRunMetric = {
    ...{ tenant_id: of.tenant_id, label, created_by: of.created_by, created_at: at, updated_at: at },
    ...{ ...metric, object, end_ts: Date.parse(metric.end_date) },
  }
  const record = `${id}.${Date.parse(of.created_at)}`
  await call.store(runMetrics).create(record, value)
  return record
}

/** Removes the records of an object, which may be many: a request that ends before is repeated, and goes on. */
export async function removeMetrics(call: Call, object: string): Promise<void> {
  for await (const { id } of iterateDocuments(call.store(runMetrics), { filter: { object }, fresh: true }))
    await call.store(runMetrics).remove(id)
}
