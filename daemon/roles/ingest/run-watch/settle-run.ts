// Keeps the metrics, the counts and the signal of a failure of a run that is over at another scheduler.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { WorkflowRun, WorkflowTask } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { noteFailure } from '../failure-report/note-failure.ts'
import { lineageSinksPart } from '../lineage/sink.ts'
import { collectionOfObject } from '../managed-dag/collections.ts'
import type { ManagedDag } from '../managed-dag/model.ts'
import { runTotal } from '../metrics.ts'
import { runMetrics } from '../run-metric/model.ts'
import { recordWatched } from '../run-metric/record-metrics.ts'
import { runWatches, type StoredRunWatch, type StoredWatchEnd } from './model.ts'
import { endWatch } from './rules.ts'

export type SeenRunEnd = {
  readonly object: Doc<ManagedDag>
  readonly run: WorkflowRun
  readonly tasks: readonly WorkflowTask[]
}

/** Each part is durable before the watch ends, and made once, however often this runs. */
export async function settleRun(call: Call, watch: Doc<StoredRunWatch>, end: SeenRunEnd): Promise<void> {
  const { object, run, tasks } = end
  const record = await recordWatched(call, watch, end)
  const { is_stopped } = (await call.store(runWatches).find(watch.id))?.value ?? watch.value
  if (!is_stopped) await noteFailure(call, object, { id: record, run, tasks })
  const hasSinks = call.part(lineageSinksPart).length > 0
  const ended = describeEnd(end, call.nowIso())
  const { answer: wasWatched } = await call.store(runWatches).update(watch.id, ({ value }) => {
    if (value.over) return { answer: false }
    const next = endWatch(value, 'completed', call.nowIso())
    return { next: hasSinks ? { ...next, ended, unreported: 1 } : next, answer: true }
  })
  if (wasWatched) {
    if (watch.value.seen !== 'running' && run.start_date !== null) call.count(runTotal, { state: 'running' })
    call.count(runTotal, { state: run.state })
  }
  // An object that was deleted meanwhile removed its records before this one was there.
  const now = await call.store(collectionOfObject(object.id)).find(object.id)
  if (now?.value.created_at !== object.value.created_at) await call.store(runMetrics).remove(record)
}

/** Airflow gives times to tasks that were never tried. */
function describeEnd({ run, tasks }: SeenRunEnd, now: string): StoredWatchEnd {
  const { state, start_date, end_date } = run
  const described = tasks.map(({ task_id: name, try_number: tries, state: ended, lineage, ...times }) => {
    const isTried = ended === 'success' || ended === 'failed'
    return {
      ...{ name, tries },
      ...(ended && { state: ended }),
      ...(isTried && times.start_date !== null && { started_at: toUtc(times.start_date) }),
      ...(isTried && times.end_date !== null && { ended_at: toUtc(times.end_date) }),
      ...(lineage && { lineage }),
    }
  })
  const started = start_date === null ? {} : { started_at: toUtc(start_date) }
  return { state, ...started, ended_at: toUtc(end_date ?? now), tasks: described }
}

function toUtc(instant: string): string {
  return new Date(instant).toISOString()
}
