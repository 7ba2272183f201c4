// Watches a run from before its trigger until its end: for schedulers that report none to the site.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { permits } from '../../../kernel/identity/identity.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import { newJob } from '../../../kernel/job/rules.ts'
import type { Label } from '../../../kernel/label/label.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { RunTrigger, WorkflowRun, WorkflowTask } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { collectionOfObject } from '../managed-dag/collections.ts'
import { runTotal } from '../metrics.ts'
import { beginPartialRun, removePartialRun } from '../partial-run/begin-partial-run.ts'
import { faultPointPart } from '../parts.ts'
import { runDocumentId } from '../runner/model.ts'
import { runWatches, type StoredRunWatch } from './model.ts'
import { first_look_ms, lookNow, markStopped, unmarkStopped, watchAgain } from './rules.ts'
import { settleRun } from './settle-run.ts'

type WatchedDag = {
  readonly uid: string
  readonly dag_id: string
  readonly tenant_id: string
  readonly label: Label
  readonly dag_digest: string
}

/** Of a run that the scheduler lists before it deletes it. */
type ListedRun = { readonly run: WorkflowRun; readonly tasks: readonly WorkflowTask[] }

export const runWatch = {
  /** Durable when it resolves, so that the end of a run is seen whose trigger was the last act of the process. */
  async begin(call: Call, dag: WatchedDag, trigger: RunTrigger): Promise<undefined | Refusal> {
    const { dag_run_id } = trigger
    const id = runDocumentId(dag.uid, dag_run_id)
    const principal = await call.delegation().store({ collection: runWatches.name, id })
    if (isRefusal(principal)) return principal
    const { uid: pipeline, dag_id, tenant_id, label, dag_digest } = dag
    const at = call.nowIso()
    const watch: StoredRunWatch = {
      ...{ tenant_id, label, created_by: call.caller.subject, created_at: at, updated_at: at },
      ...{ pipeline, dag_id, dag_run_id, dag_digest, triggered_at: at },
      ...(permits(call.caller.permissions, 'ingest:read') ? {} : { begun_by: 'ingest:dispatch' as const }),
      ...newJob(principal, call.now() + first_look_ms),
    }
    const created = await call.store(runWatches).create(id, watch)
    const doc = created === 'exists' ? await beginAgain(call, id, watch) : created
    const isNew = doc.value.created_at === at
    if (isNew) call.count(runTotal, { state: 'queued' })
    announceJob(call, runWatches, doc)
    const refused = await beginPartialRun(call, doc, trigger, isNew)
    call.part(faultPointPart)('ingest-run-watched')
    return refused
  },

  /** Before a person stops a run. */
  async stop(call: Call, dag: WatchedDag, dag_run_id: string): Promise<boolean> {
    let isFirst = false
    const doc = await changeWatch(call, dag, dag_run_id, (watch) => {
      isFirst = !watch.is_stopped
      return markStopped(watch, call.nowIso())
    })
    return doc !== undefined && isFirst
  },

  /** The run was not stopped: its failure raises a signal. */
  async goOn(call: Call, dag: WatchedDag, dag_run_id: string): Promise<void> {
    await changeWatch(call, dag, dag_run_id, (watch) => unmarkStopped(watch, call.nowIso()))
  },

  /** A run whose state was changed is looked at soon. */
  async look(call: Call, dag: WatchedDag, dag_run_id: string): Promise<void> {
    const doc = await changeWatch(call, dag, dag_run_id, (watch) => lookNow(watch, call.now()))
    if (doc) announceJob(call, runWatches, doc)
  },

  /** Before a run that is over is deleted: its metrics stay, and its failure is signalled. */
  async settle(call: Call, { uid }: WatchedDag, { run, tasks }: ListedRun): Promise<void> {
    if (run.state !== 'success' && run.state !== 'failed') return
    const watch = await call.store(runWatches).find(runDocumentId(uid, run.dag_run_id))
    const object = watch && (await call.store(collectionOfObject(uid)).find(uid))
    if (watch && object) await settleRun(call, watch, { object, run, tasks })
  },
}

/** Undefined for a run that is not watched, or not any more. */
async function changeWatch(
  call: Call,
  { uid }: WatchedDag,
  dag_run_id: string,
  rule: (watch: StoredRunWatch) => StoredRunWatch,
): Promise<Doc<StoredRunWatch> | undefined> {
  const id = runDocumentId(uid, dag_run_id)
  if (!(await call.store(runWatches).find(id))) return undefined
  return (await call.store(runWatches).update(id, ({ value }) => ({ next: rule(value), answer: undefined }))).doc
}

async function beginAgain(call: Call, id: string, watch: StoredRunWatch): Promise<Doc<StoredRunWatch>> {
  const rule = ({ value }: Doc<StoredRunWatch>) => ({ next: watchAgain(value, watch), answer: undefined })
  return (await call.store(runWatches).update(id, rule)).doc
}

/** Of an object that is deleted. */
export async function removeWatches(call: Call, pipeline: string): Promise<void> {
  for await (const { id } of iterateDocuments(call.store(runWatches), { filter: { pipeline }, fresh: true })) {
    await removePartialRun(call, id)
    await call.store(runWatches).remove(id)
  }
}

/** Removes what is over, and was reported: the record of metrics and the signal are all that stays. */
export async function removeEndedWatches(call: Call): Promise<void> {
  const ended = { filter: { over: 1 }, fresh: true, page_size: 100 }
  for await (const { id, value, version } of iterateDocuments(call.store(runWatches), ended)) {
    if (call.signal.aborted) return
    await removePartialRun(call, id)
    if (value.unreported) continue
    await call
      .store(runWatches)
      .remove(id, undefined, version)
      .catch((error: unknown) => {
        // Removed with its object, or begun again for another run of the name.
        if (!isRefusal(error) || (error.code !== 'not_found' && error.code !== 'conflict')) throw error
      })
  }
}
