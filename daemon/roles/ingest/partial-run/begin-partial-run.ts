// The part of a run of another scheduler that the site performs: there from before the trigger until the run is over.
import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import { announceJob } from '../../../kernel/job/job.ts'
import { newJob } from '../../../kernel/job/rules.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import type { RunTrigger } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { collectionOfObject } from '../managed-dag/collections.ts'
import type { StoredRunWatch } from '../run-watch/model.ts'
import { dagRuns, type StoredDagRun } from '../runner/model.ts'
import { removeEndedRun } from '../runner/remove-run.ts'
import { stopRun } from '../runner/rules.ts'
import { isSiteTask } from './is-site-task.ts'

/** Keeps the rights of the caller, by which the site performs what its workers hand over. `isNew`: no earlier trigger had this run. */
export async function beginPartialRun(
  call: Call,
  { id, value: watch }: Doc<StoredRunWatch>,
  { conf }: Pick<RunTrigger, 'conf'>,
  isNew: boolean,
): Promise<undefined | Refusal> {
  if (isNew) await removePartialRun(call, id)
  const object = await call.store(collectionOfObject(watch.pipeline)).find(watch.pipeline)
  const { dag, dag_digest } = object?.value ?? {}
  if (!dag || dag_digest === undefined || !dag.tasks.some(isSiteTask)) return undefined
  const principal = await call.delegation().store({ collection: dagRuns.name, id })
  if (isRefusal(principal)) return principal
  const { tenant_id, label, created_by, created_at, updated_at, pipeline, dag_id, dag_run_id, begun_by } = watch
  await call.store(dagRuns).create(id, {
    ...{ tenant_id, label, created_by, created_at, updated_at, pipeline, dag_id, dag_run_id, dag, dag_digest },
    ...(begun_by && { begun_by }),
    ...{ conf: { ...conf } as StoredDagRun['conf'], state: 'running', part_of: 'airflow', started_at: updated_at },
    tasks: dag.tasks.map(({ name }) => ({ name, tries: 0, failures: 0 })),
    ...newJob(principal, undefined),
  })
  return undefined
}

/** Ends what goes on of it, as a stop does. */
export async function removePartialRun(call: Call, id: string): Promise<void> {
  const found = await call.store(dagRuns).find(id)
  if (!found?.value.part_of) return
  try {
    const rule = ({ value }: Doc<StoredDagRun>) => ({ next: stopRun(value, call.nowIso()), answer: undefined })
    const { doc } = await call.store(dagRuns).update(id, rule)
    announceJob(call, dagRuns, doc)
    await removeEndedRun(call, doc)
  } catch (error) {
    // Another process was first.
    if (!isRefusal(error) || error.code !== 'not_found') throw error
  }
}
