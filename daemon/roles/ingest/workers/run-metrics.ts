// Records the metrics of runs that are over, soon after their end and again after failures.
import { isRefusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { collectionOfObject } from '../managed-dag/collections.ts'
import { runMetrics } from '../run-metric/model.ts'
import { recordMetrics } from '../run-metric/record-metrics.ts'
import { removeEndedWatches } from '../run-watch/watch-run.ts'
import { metrics_worker } from '../runner/announce-end.ts'
import { dagRuns, type StoredDagRun } from '../runner/model.ts'

export const runMetricsWorker: Worker = { name: metrics_worker, when: { every_ms: 5_000 }, run }

async function run(call: Call): Promise<void> {
  const unmeasured = { filter: { unmeasured: 1 }, fresh: true, page_size: 100 }
  for await (const doc of iterateDocuments(call.store(dagRuns), unmeasured)) {
    if (call.signal.aborted) return
    await settle(call, doc).catch((error: unknown) => {
      // One that fails must not hold up those after it.
      call.log.error('ingest.run.unmeasured', { trace_id: call.trace.trace_id, run: doc.id, error: String(error) })
    })
  }
  await removeEndedWatches(call)
}

/** The record is durable before the run is marked: a crash in between finds the record there. */
async function settle(call: Call, doc: Doc<StoredDagRun>): Promise<void> {
  const uid = doc.value.pipeline
  const objects = call.store(collectionOfObject(uid))
  const object = await objects.find(uid)
  const record = object && (await recordMetrics(call, doc, object))
  await markMeasured(call, doc.id)
  // An object that was deleted meanwhile removed its records before this one was there.
  if (record !== undefined && (await objects.find(uid))?.value.created_at !== object?.value.created_at)
    await call.store(runMetrics).remove(record)
}

/** A run that was deleted meanwhile is measured too. */
async function markMeasured(call: Call, run: string): Promise<void> {
  const rule = ({ value: { unmeasured: _unmeasured, ...next } }: Doc<StoredDagRun>) => ({ next, answer: undefined })
  await call
    .store(dagRuns)
    .update(run, rule)
    .catch((error: unknown) => {
      if (!isRefusal(error) || error.code !== 'not_found') throw error
    })
}
