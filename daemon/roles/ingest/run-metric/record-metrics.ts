// Records the metrics of a run that is over: once, however often it is done.
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { ManagedDag } from '../managed-dag/model.ts'
import type { StoredDagRun } from '../runner/model.ts'
import { runMetrics, type StoredRunMetric } from './model.ts'
import { measureRun } from './rules.ts'

/**
 * Creates the record of a run of an object; returns its id, which is of the run and of the time of its trigger: a run that was
 * deleted may have had the same name. Undefined for a run that is not over.
 */
export async function recordMetrics(
  call: Call,
  { id, value: run }: Doc<StoredDagRun>,
  { id: object, value: { label } }: Doc<ManagedDag>,
): Promise<string | undefined> {
  const metric = measureRun(run)
  if (!metric) return undefined
  const at = call.nowIso()
  const value: StoredRunMetric = {
    ...{ tenant_id: run.tenant_id, label, created_by: run.created_by, created_at: at, updated_at: at },
    ...{ ...metric, object, end_ts: Date.parse(metric.end_date) },
  }
  const record = `${id}.${Date.parse(run.created_at)}`
  await call.store(runMetrics).create(record, value)
  return record
}

/** Removes the records of an object, which may be many: a request that ends before is repeated, and goes on. */
export async function removeMetrics(call: Call, object: string): Promise<void> {
  for await (const { id } of iterateDocuments(call.store(runMetrics), { filter: { object }, fresh: true }))
    await call.store(runMetrics).remove(id)
}
